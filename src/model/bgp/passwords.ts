import { NOT_IN_BIRD_STRING } from '../../core/bird-text.ts';
import type { Cluster, SecretKeyRef } from '../calico/types.ts';

/** Why a session that should have a password cannot have it. */
export type PasswordFault = 'password-missing' | 'password-invalid';

export type Password =
  | { readonly value: string | null; readonly fault: null; readonly detail: null }
  /** `detail` says what to mend and never holds the password. */
  | { readonly value: null; readonly fault: PasswordFault; readonly detail: string };

/** TCP MD5 keys of more than 80 bytes are refused by the kernel when the session starts, not when BIRD reads the file. */
const MAX_PASSWORD_BYTES = 80;

const NONE: Password = { value: null, fault: null, detail: null };

/** The password that a resource refers to, fit to stand in a BIRD string, which has no escapes. */
export function resolvePassword(cluster: Cluster, ref: SecretKeyRef | null, namespace: string): Password {
  if (ref === null) return NONE;
  const name = `${namespace}/${ref.name}`;
  const secret = cluster.secrets.get(name);
  if (secret === undefined)
    return fault('password-missing', `Secret ${name} does not exist or cannot be read`);
  const value = Object.hasOwn(secret.data, ref.key) ? secret.data[ref.key] : undefined;
  if (value === undefined)
    return fault('password-missing', `Secret ${name} has no key ${JSON.stringify(ref.key)}`);
  const wrong = whatIsWrong(value);
  if (wrong === null) return { value, fault: null, detail: null };
  return fault(
    'password-invalid',
    `the password in Secret ${name}, key ${JSON.stringify(ref.key)}, ${wrong}`,
  );
}

function fault(id: PasswordFault, detail: string): Password {
  return { value: null, fault: id, detail };
}

function whatIsWrong(value: string): string | null {
  if (value === '') return 'is empty';
  if (/[\r\n]$/.test(value)) return 'ends with a line break (made with "echo" instead of "printf"?)';
  if (value.includes('"')) return 'holds a double quote, which BIRD cannot express';
  if (NOT_IN_BIRD_STRING.test(value)) return 'holds a control character';
  if (Buffer.byteLength(value) > MAX_PASSWORD_BYTES) return `is longer than ${MAX_PASSWORD_BYTES} bytes`;
  return null;
}
