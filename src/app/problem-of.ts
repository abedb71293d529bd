import type { BirdfeedError } from '../core/errors.ts';
import type { Problem } from '../model/types.ts';

/** An error about files or data, as one of the problems that the status lists. */
export function problemOf(
  id: 'source-invalid' | 'configuration-invalid',
  { message, details }: BirdfeedError,
): Problem {
  const { file, field } = details;
  return {
    severity: 'error',
    id,
    subject: typeof file === 'string' ? file : 'datastore',
    field: typeof field === 'string' ? field : null,
    message,
  };
}
