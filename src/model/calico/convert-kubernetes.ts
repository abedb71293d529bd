import { isUtf8 } from 'node:buffer';
import { address, each, FieldError } from './fields.ts';
import { familyOf } from './ip.ts';
import type { StoredValue } from './schemas/all.ts';
import type { EndpointSliceResource, Family, Origin, SecretResource, ServiceResource } from './types.ts';
import { extendField } from './validators.ts';

/** Kubernetes objects as they are stored in the key space: those of the API, without server bookkeeping. */
interface Identity {
  readonly namespace: string;
  readonly name: string;
}

type StoredIngress = NonNullable<NonNullable<StoredValue<'Service'>['status']>['loadBalancer']>['ingress'];

const FAMILIES: Readonly<Record<string, Family>> = { IPv4: 4, IPv6: 6 };
/** Links a slice to its Service (Kubernetes API conventions). */
const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

export function convertService(
  stored: StoredValue<'Service'>,
  origin: Origin,
  { namespace, name }: Identity,
): ServiceResource {
  const spec = stored.spec ?? {};
  const single = spec.clusterIP ?? '';
  const many = spec.clusterIPs ?? [];
  const clusterIPs =
    single !== 'None' && many.length > 0
      ? addresses(many, 'spec.clusterIPs')
      : addresses(single === '' ? [] : [single], 'spec.clusterIP');
  const families = (spec.ipFamilies ?? []).flatMap((family) => FAMILIES[family ?? ''] ?? []);
  return {
    origin,
    namespace,
    name,
    type: spec.type || 'ClusterIP',
    clusterIPs,
    externalIPs: addresses(spec.externalIPs, 'spec.externalIPs'),
    loadBalancerIP: address(spec.loadBalancerIP, 'spec.loadBalancerIP'),
    ingressIPs: ingressAddresses(stored.status?.loadBalancer?.ingress),
    externalTrafficPolicy: spec.externalTrafficPolicy || 'Cluster',
    families: families.length > 0 ? families : [...new Set(clusterIPs.map(familyOf))],
  };
}

/** Canonical addresses; a headless service's `None` and empty texts are none. */
function addresses(values: readonly (string | null)[] | null | undefined, field: string): readonly string[] {
  const found = each(values, field, (value, at) => (value === 'None' ? null : address(value, at)));
  return found?.filter((text) => text !== null) ?? [];
}

/** An ingress point may be known by a host name only, which nobody can advertise. */
function ingressAddresses(points: StoredIngress): readonly string[] {
  const field = 'status.loadBalancer.ingress';
  const found = each(points, field, (point, at) => address(point.ip, `${at}.ip`));
  return found?.filter((text) => text !== null) ?? [];
}

export function convertEndpointSlice(
  stored: StoredValue<'EndpointSlice'>,
  origin: Origin,
  { namespace, name }: Identity,
): EndpointSliceResource {
  const labels = stored.metadata?.labels ?? {};
  return {
    origin,
    namespace,
    name,
    service: Object.hasOwn(labels, SERVICE_NAME_LABEL) ? labels[SERVICE_NAME_LABEL]! : null,
    family: Object.hasOwn(FAMILIES, stored.addressType ?? '') ? FAMILIES[stored.addressType!]! : null,
    endpoints: (stored.endpoints ?? []).flatMap((endpoint) =>
      endpoint === null
        ? []
        : // "nil should be interpreted as true" (EndpointConditions).
          { nodeName: endpoint.nodeName || null, ready: endpoint.conditions?.ready ?? true },
    ),
  };
}

/**
 * The values of a Secret that are text. Others (keystores, say) cannot be a BGP password; leaving them out keeps the rest
 * of that Secret usable. Messages name the key of a value, never the value.
 */
export function convertSecret(
  stored: StoredValue<'Secret'>,
  origin: Origin,
  { namespace, name }: Identity,
): SecretResource {
  const values: [string, string][] = [];
  for (const [key, value] of Object.entries(stored.data ?? {})) {
    if (!isBase64(value)) throw new FieldError(extendField('data', key), 'must be base64');
    const text = decode(value);
    if (text !== null) values.push([key, text]);
  }
  values.push(...Object.entries(stored.stringData ?? {}));
  // fromEntries defines properties, where an assignment to `__proto__` would set the prototype.
  return { origin, namespace, name, data: Object.fromEntries(values) };
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

/** Null for what is not UTF-8. */
function decode(base64: string): string | null {
  const bytes = Buffer.from(base64, 'base64');
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}
