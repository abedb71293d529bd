import { verdictOn } from './state.ts';
import type { Store } from './store.ts';
import type { Generation } from './types.ts';
import { isRefusal } from './verify.ts';

/**
 * The newest generation that came before this one, is whole, and was not refused by this BIRD (any, while `birdVersion` is
 * null): where to go back to. Null when there is none, or when one on the way is damaged.
 */
export function goodAncestor(
  store: Pick<Store, 'state' | 'verify'>,
  { stamp }: Generation,
  birdVersion: string | null,
): Generation | null {
  const { set, nodeName, dialect } = stamp;
  for (let number = stamp.parent; number !== null; ) {
    const found = store.verify(number, { set, nodeName, dialect });
    if (isRefusal(found)) return null;
    if (verdictOn(store.state.value, found.stamp.contentDigest, birdVersion) === undefined) return found;
    number = found.stamp.parent;
  }
  return null;
}
