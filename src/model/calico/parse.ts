import { type ParsedKey, parseKey } from '../../datastore/keys.ts';
import { convertBgpConfiguration } from './convert-configuration.ts';
import { convertBgpFilter } from './convert-filter.ts';
import { convertEndpointSlice, convertSecret, convertService } from './convert-kubernetes.ts';
import { convertBlockAffinity, convertEndpointStatus, convertIpPool, convertNode } from './convert-node.ts';
import { convertBgpPeer } from './convert-peer.ts';
import { FieldError } from './fields.ts';
import { quoted } from './result.ts';
import type { StoredValue } from './schemas/all.ts';
import type { Origin, Quarantined, Resource, ResourceKind } from './types.ts';
import { refusal } from './validators.ts';

/** What a stored value turned out to be. `ignored`: valid, but without a meaning here (a block that is being deleted). */
export type Parsed =
  | { readonly outcome: 'resource'; readonly resource: Resource }
  | { readonly outcome: 'quarantined'; readonly quarantined: Quarantined }
  | { readonly outcome: 'ignored' };

const IGNORED: Parsed = { outcome: 'ignored' };

/** Kubernetes allows no more in any name (DNS subdomain); more would not fit next to what names are put into. */
const MAX_NAME_BYTES = 253;

/**
 * A stored value as a resource, or why it cannot be one. Never throws, whatever the text: one bad object must not stop
 * the others. `key` must lie below the prefix of `kind`. `lastGood` marks the resource as a last good version.
 */
export function parseStored(kind: ResourceKind, key: string, text: string, lastGood = false): Parsed {
  const parsedKey = parseKey(key);
  if (parsedKey?.kind === kind) return parseValue(parsedKey, key, text, lastGood);
  return quarantine({ kind, name: key, key }, null, `is not the key of a ${kind}`);
}

/** As {@link parseStored}, for a key that is parsed already. */
export function parseValue(parsedKey: ParsedKey, key: string, text: string, lastGood = false): Parsed {
  const origin: Origin = { kind: parsedKey.kind, name: nameOf(parsedKey), key, lastGood };
  const fault = nameFault(origin.name);
  if (fault !== null) return quarantine(origin, null, fault);
  const json = parseJson(parsedKey.kind, text);
  if (!json.ok) return quarantine(origin, null, json.reason);
  try {
    const resource = convert(parsedKey, json.value, origin);
    return resource === null ? IGNORED : { outcome: 'resource', resource };
  } catch (error) {
    if (error instanceof FieldError) return quarantine(origin, error.field || null, error.reason);
    // A bug of ours; the object is left out and the bug is visible in the status.
    return quarantine(
      origin,
      null,
      `internal error: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function quarantine(origin: Omit<Origin, 'lastGood'>, field: string | null, reason: string): Parsed {
  const { kind, name, key } = origin;
  const message = `${printable(key)}: ${field === null ? '' : `${field}: `}${reason}`;
  return {
    outcome: 'quarantined',
    quarantined: { kind, name, key, field, message, reason: 'invalid', lastGoodUsed: false },
  };
}

/** How users name it: with its namespace where it has one, a block by its network. */
function nameOf(key: ParsedKey): string {
  if (key.kind === 'BlockAffinity') return key.cidr;
  return 'namespace' in key ? `${key.namespace}/${key.name}` : key.name;
}

/** Names become parts of protocol names, function names, comments and messages. */
function nameFault(name: string): string | null {
  if (/[^\x20-\x7e]/.test(name) && /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(name))
    return 'the name has control characters';
  // Only a name that is not ASCII can be longer in bytes than in characters, by at most three times.
  if (name.length * 3 > MAX_NAME_BYTES && Buffer.byteLength(name) > MAX_NAME_BYTES)
    return `the name is longer than ${MAX_NAME_BYTES} bytes`;
  return null;
}

function printable(key: string): string {
  return /^[\x21-\x7e]{1,400}$/.test(key) ? key : quoted(key);
}

type Json = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

function parseJson(kind: ResourceKind, text: string): Json {
  if (text === '') {
    // Calico writes block affinities of zero length, which mean {}.
    return kind === 'BlockAffinity' ? { ok: true, value: {} } : { ok: false, reason: 'the value is empty' };
  }
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    // V8's message quotes the text around the fault, which may be a password; only the position is taken from it.
    const position = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
    const where = position === undefined ? '' : ` (character ${Number(position) + 1} of ${text.length})`;
    return { ok: false, reason: `the value is not JSON${where}` };
  }
}

/** @throws FieldError */
function convert(key: ParsedKey, value: unknown, origin: Origin): Resource | null {
  switch (key.kind) {
    case 'Node':
      return convertNode(accept('Node', key, value), origin);
    case 'BGPConfiguration':
      return convertBgpConfiguration(accept('BGPConfiguration', key, value), origin);
    case 'BGPPeer':
      return convertBgpPeer(accept('BGPPeer', key, value), origin);
    case 'BGPFilter':
      return convertBgpFilter(accept('BGPFilter', key, value), origin);
    case 'IPPool':
      return convertIpPool(accept('IPPool', key, value), origin);
    case 'BlockAffinity':
      return convertBlockAffinity(accept('BlockAffinity', key, value), origin, key);
    case 'Service':
      return convertService(accept('Service', key, value), origin, key);
    case 'EndpointSlice':
      return convertEndpointSlice(accept('EndpointSlice', key, value), origin, key);
    case 'Secret':
      return convertSecret(accept('Secret', key, value), origin, key);
    case 'EndpointStatus':
      return convertEndpointStatus(accept('EndpointStatus', key, value), origin);
  }
}

/** The value, if its schema and its key agree with it. */
function accept<K extends ResourceKind>(kind: K, key: ParsedKey, value: unknown): StoredValue<K> {
  const refused = refusal(kind, value);
  if (refused !== null) throw new FieldError(refused.field, refused.reason);
  checkIdentity(kind, key, value as Identified);
  return value as StoredValue<K>;
}

interface Identified {
  readonly kind?: string | null;
  readonly metadata?: { readonly name?: string | null; readonly namespace?: string | null } | null;
}

/** What a value says about itself must agree with its key: a resource stored under another's key is nobody's intention. */
function checkIdentity(kind: ResourceKind, key: ParsedKey, { kind: stored, metadata }: Identified): void {
  if (!('name' in key) || key.kind === 'EndpointStatus') return;
  if (stored && stored !== kind)
    throw new FieldError('kind', `is ${quoted(stored)}, but the key is that of a ${kind}`);
  if (metadata?.name && metadata.name !== key.name)
    throw new FieldError(
      'metadata.name',
      `is ${quoted(metadata.name)}, but the key names ${quoted(key.name)}`,
    );
  if ('namespace' in key && metadata?.namespace && metadata.namespace !== key.namespace)
    throw new FieldError(
      'metadata.namespace',
      `is ${quoted(metadata.namespace)}, but the key names ${quoted(key.namespace)}`,
    );
}
