import type { Mount } from '../types.ts';

/** A range of etcd keys that is listed and watched as one: `[key, rangeEnd)`, or the one key when there is no end. */
export interface KeyRange {
  /** Index of the mount that it belongs to. */
  readonly mount: number;
  readonly key: Buffer;
  readonly rangeEnd: Buffer | undefined;
}

const NUL = Buffer.from([0]);

/**
 * What of etcd the mounts cover. Two ranges each: the key itself, and all that starts with `prefix/` (up to `prefix0`,
 * `0` being the character after `/`). One range over everything that starts with `prefix` would be simpler, but then a
 * busy sibling, `/sc/nnn` beside `/sc/n`, would wake us. Keys are bytes to etcd: no slash is put in front.
 */
export function rangesOf(mounts: readonly Mount[]): KeyRange[] {
  return mounts.flatMap(({ prefix }, mount) => {
    if (prefix === '') return [{ mount, key: NUL, rangeEnd: NUL }];
    return [
      { mount, key: Buffer.from(prefix), rangeEnd: undefined },
      { mount, key: Buffer.from(`${prefix}/`), rangeEnd: Buffer.from(`${prefix}0`) },
    ];
  });
}
