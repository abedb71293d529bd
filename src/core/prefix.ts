/**
 * The normal form of a key prefix: no trailing slash, and the root (`/` or nothing) is the empty text. A leading
 * slash is never invented, since etcd keys may do without one.
 */
export function normalPrefix(prefix: string): string {
  let end = prefix.length;
  while (end > 0 && prefix.charCodeAt(end - 1) === SLASH) end -= 1;
  return prefix.slice(0, end);
}

/** Whether `key` is `prefix` or lies below `prefix/`. `prefix` is in normal form. */
export function covers(prefix: string, key: string): boolean {
  if (prefix === '') return true;
  if (!key.startsWith(prefix)) return false;
  return key.length === prefix.length || key.charCodeAt(prefix.length) === SLASH;
}

/**
 * Calls `visit` with every prefix that covers `key`, shortest first: the root, each part that ends before a slash, the
 * key itself. Looking these up in a map costs the depth of the key, however many prefixes are known.
 */
export function forEachPrefixOf(key: string, visit: (prefix: string) => void): void {
  visit('');
  for (let at = key.indexOf('/', 1); at !== -1; at = key.indexOf('/', at + 1)) visit(key.slice(0, at));
  if (key !== '') visit(key);
}

const SLASH = 47;
