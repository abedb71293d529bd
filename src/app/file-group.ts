import { readFileSync } from 'node:fs';
import { BirdfeedError } from '../core/errors.ts';

/**
 * A group's number from a name or number; null for null. Reads /etc/group itself, since Node has no getgrnam(3).
 * @throws BF_USAGE for an unknown name
 */
export function groupId(name: string | null, file = '/etc/group'): number | null {
  return lookUp(
    name,
    file,
    'group',
    '--file-group takes a group of this machine (or container), or a number',
  );
}

/** A user's number from a name or number; null for null. */
export function userId(name: string | null, file = '/etc/passwd'): number | null {
  return lookUp(name, file, 'user', 'use a user of this machine (or container), or a number');
}

function lookUp(name: string | null, file: string, what: string, remedy: string): number | null {
  if (name === null) return null;
  if (/^\d+$/.test(name)) return Number(name);
  const row = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([first]) => first === name);
  if (row?.[2] === undefined) throw new BirdfeedError('BF_USAGE', `unknown ${what} "${name}": ${remedy}`);
  return Number(row[2]);
}
