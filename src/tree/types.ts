/** One key of the tree. A new value is a new Entry object: identity means "unchanged" for everything downstream. */
export interface Entry {
  readonly key: string;
  /** The value as text (UTF-8). Calico's values are JSON; a zero-length value is legal. */
  readonly value: string;
  /** The source's modification revision; 0 where the source has none. */
  readonly revision: number;
}

/** What happened to one key. A put without a real change may be reported; the tree drops it. */
export type Change =
  | { readonly type: 'put'; readonly entry: Entry }
  | { readonly type: 'delete'; readonly key: string };

/**
 * Reading the tree. A prefix ends at a `/` boundary: `/sc/n` covers `/sc/n` and `/sc/n/...`, never `/sc/nnn`.
 * Reading outside what is watched throws BF_INTERNAL, since it would silently see nothing.
 */
export interface TreeView {
  get(key: string): Entry | undefined;
  /** All entries at or below `prefix`, sorted by key. The array is the same object while nothing below changed. */
  range(prefix: string): readonly Entry[];
  /** Grows whenever something at or below `prefix` changes. */
  version(prefix: string): number;
}
