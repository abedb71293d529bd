import { sha256 } from '../core/digest.ts';
import { canonicalJson } from './canonical.ts';

/** What reading a file of ours gave. `damaged.value` is whatever JSON there was; undefined if there was none. */
export type SignedRead =
  | { readonly type: 'intact'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly type: 'damaged'; readonly finding: string; readonly value: unknown };

/** Canonical JSON of `value` with a digest of itself, which tells damage from a change of ours. */
export function signedJson(value: object): Uint8Array {
  const body = canonicalJson(value);
  return Buffer.from(`${canonicalJson({ digest: sha256(body), value })}\n`);
}

export function readSignedJson(bytes: Uint8Array): SignedRead {
  const text = Buffer.from(bytes).toString('utf8');
  let outer: unknown;
  try {
    outer = JSON.parse(text);
  } catch {
    return { type: 'damaged', finding: text === '' ? 'is empty' : 'is not JSON', value: undefined };
  }
  if (!isRecord(outer)) return { type: 'damaged', finding: 'holds something else', value: undefined };
  const value = outer['value'];
  if (!isRecord(value) || outer['digest'] !== sha256(canonicalJson(value))) {
    return { type: 'damaged', finding: 'does not match its own digest', value };
  }
  return { type: 'intact', value };
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
