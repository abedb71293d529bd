/**
 * The one order of the project: by UTF-16 code unit, which for ASCII keys is byte order, as etcd lists them.
 * Locale-aware comparison would make rendered bytes depend on the machine.
 */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A sorted copy, by the text that `key` gives. Stable. */
export function sortedBy<T>(items: Iterable<T>, key: (item: T) => string): T[] {
  return [...items].sort((a, b) => byText(key(a), key(b)));
}
