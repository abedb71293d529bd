import { readFileSync } from 'node:fs';
import { BirdfeedError } from '../core/errors.ts';

/**
 * The group of `--file-group`, a name or number, as a number; null for null.
 * @throws BF_USAGE for an unknown name
 */
export function groupId(name: string | null): number | null {
  if (name === null) return null;
  const id = findGroup(name);
  if (id !== null) return id;
  const remedy = '--file-group takes a group of this machine (or container), or a number';
  throw new BirdfeedError('BF_USAGE', `unknown group "${name}": ${remedy}`);
}

/** The number of a group by its name, or of one that is given as a number; null when this machine has none of this name. */
export function findGroup(name: string, file = '/etc/group'): number | null {
  return find(name, file);
}

/** As {@link findGroup}, for users. */
export function findUser(name: string, file = '/etc/passwd'): number | null {
  return find(name, file);
}

/** Both files have `name:password:number:`. Read here, since Node has no getgrnam(3). A small image may lack them. */
function find(name: string, file: string): number | null {
  if (/^\d+$/.test(name)) return Number(name);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return null;
  }
  const row = text
    .split('\n')
    .map((line) => line.split(':'))
    .find(([first]) => first === name);
  return row?.[2] === undefined ? null : Number(row[2]);
}
