import { sortedBy } from '../core/order.ts';
import { covers } from '../core/prefix.ts';
import type { Mount } from '../datastore/types.ts';

/**
 * The mounts to open for all that sets and producers ask for: duplicates and what a wider one covers are left out, and
 * a mount is required when anything in it is.
 */
export function unionMounts(mounts: readonly Mount[]): readonly Mount[] {
  const union: Mount[] = [];
  for (const mount of sortedBy(mounts, ({ prefix }) => prefix)) {
    const at = union.findIndex((wider) => covers(wider.prefix, mount.prefix));
    if (at < 0) union.push(mount);
    else if (mount.required && !union[at]!.required) union[at] = { ...union[at]!, required: true };
  }
  return union;
}
