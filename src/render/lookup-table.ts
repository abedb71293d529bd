/** What a template wants to know that is neither in the tree nor in the template: the time, DNS, whether a file is there. */
export type LookupRequest =
  | { readonly kind: 'time' }
  | { readonly kind: 'address'; readonly host: string }
  | { readonly kind: 'service'; readonly service: string; readonly protocol: string; readonly domain: string }
  | { readonly kind: 'file'; readonly path: string };

/** An SRV record, with Go's names. */
export interface ServiceRecord {
  readonly Target: string;
  readonly Port: number;
  readonly Priority: number;
  readonly Weight: number;
}

export type LookupValue = number | boolean | readonly string[] | readonly ServiceRecord[];

/**
 * Answers, frozen for as long as the same object is used: the same tree, templates and table give the same bytes. Keys are
 * those of `lookupKey`.
 */
export type LookupTable = ReadonlyMap<string, LookupValue>;

export const NO_LOOKUPS: LookupTable = new Map();

export function lookupKey(request: LookupRequest): string {
  switch (request.kind) {
    case 'time':
      return 'time';
    case 'address':
      return `address ${request.host}`;
    case 'service':
      return `service _${request.service}._${request.protocol}.${request.domain}`;
    case 'file':
      return `file ${request.path}`;
  }
}

/** Answers from a table during one rendering, and remembers what was asked. */
export interface LookupScope {
  answer<T extends LookupValue>(request: LookupRequest, meanwhile: T): T;
  /** Everything asked, by key. */
  readonly asked: ReadonlyMap<string, LookupRequest>;
  /** Asked and not in the table: the text rendered meanwhile is of no use. */
  readonly unresolved: readonly LookupRequest[];
}

export function createLookupScope(table: LookupTable): LookupScope {
  const asked = new Map<string, LookupRequest>();
  const unresolved: LookupRequest[] = [];
  return {
    asked,
    unresolved,
    answer<T extends LookupValue>(request: LookupRequest, meanwhile: T): T {
      const key = lookupKey(request);
      const value = table.get(key);
      if (!asked.has(key)) {
        asked.set(key, request);
        if (value === undefined) unresolved.push(request);
      }
      return value === undefined ? meanwhile : (value as T);
    },
  };
}
