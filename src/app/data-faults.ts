import { BirdfeedError } from '../core/errors.ts';
import type { Generation } from '../generation/types.ts';

/** What a half-written file held before is not to be taken for deleted. */
export function withoutAll(
  { code, message, details }: BirdfeedError,
  current: Generation | null,
): BirdfeedError {
  const rest = current === null ? 'nothing is published' : `generation ${current.number} stays`;
  const remedy = `${rest} until the file can be read or is deleted`;
  return new BirdfeedError(code, `${message}; ${remedy}`, { details });
}

/** What is wrong when the datastore does not have the node: it is mostly the name. */
export function absenceMessage(name: string, known: readonly string[]): string {
  const some = known.slice(0, 5).join(', ');
  const list = known.length === 0 ? 'it has no nodes' : `it has ${some}${known.length > 5 ? ', ...' : ''}`;
  return `node "${name}" is not in the datastore (${list}); set --node-name or NODENAME to the Calico node's name`;
}
