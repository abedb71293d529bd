import { blockKey, calicoKey, isCalicoKind, isKeySegment, isKubernetesKind, kubernetesKey } from '../keys.ts';
import { calicoNode, type NodeOptions } from './node.ts';
import { compact, isObject, type JsonObject, objectAt, textAt, textMembers } from './shape.ts';

/** What an object becomes in the key space. Reasons are sentence parts: "has no name". */
export type Conversion =
  | { readonly type: 'entry'; readonly key: string; readonly value: string }
  /** Nothing that is read: an unknown kind, a virtual block affinity. */
  | { readonly type: 'ignored'; readonly reason: string }
  | { readonly type: 'invalid'; readonly reason: string };

export interface ConvertOptions extends NodeOptions {
  /** Namespace of a Secret that names none. Default `kube-system`, where Calico looks for BGP passwords. */
  readonly secretNamespace?: string;
}

type Converter = (object: JsonObject, options: ConvertOptions) => Conversion;

/**
 * An object as the Kubernetes API or a file has it, with `kind` and `apiVersion`, as the entry of the key space that
 * Calico would write to etcd. Pure. Knows `projectcalico.org/v3` and `crd.projectcalico.org/v1` resources and
 * BlockAffinities, core/v1 Node, Service and Secret, and discovery.k8s.io EndpointSlice. What the API server adds for
 * itself (managedFields, resourceVersion, ...) is dropped, so that equal meaning gives equal text.
 */
export function convertObject(object: JsonObject, options: ConvertOptions = {}): Conversion {
  const kind = textAt(object, 'kind');
  const apiVersion = textAt(object, 'apiVersion');
  if (apiVersion === '') return invalid('has a kind but no apiVersion');
  const name = textAt(objectAt(object, 'metadata'), 'name');
  const convert = converterOf(kind, groupOf(apiVersion));
  if (convert === undefined)
    return { type: 'ignored', reason: `is of kind ${kind} (${apiVersion}), which is not read` };
  if (!isKeySegment(name))
    return invalid(name === '' ? 'has no metadata.name' : 'has a slash in metadata.name');
  return convert(object, options);
}

function converterOf(kind: string, group: string): Converter | undefined {
  if (group === 'projectcalico.org' || group === 'crd.projectcalico.org') {
    if (kind === 'BlockAffinity') return fromBlockAffinity;
    return isCalicoKind(kind) ? fromCalicoResource : undefined;
  }
  if (group === '' && kind === 'Node') return fromKubernetesNode;
  const isRead =
    kind === 'EndpointSlice' ? group === 'discovery.k8s.io' : group === '' && isKubernetesKind(kind);
  return isRead ? fromKubernetesObject : undefined;
}

/** `discovery.k8s.io/v1` → `discovery.k8s.io`; the core group is the empty text. */
function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}

function fromKubernetesNode(object: JsonObject, options: ConvertOptions): Conversion {
  const node = calicoNode(object, options);
  return entry(calicoKey('Node', textAt(objectAt(node, 'metadata'), 'name')), node);
}

function fromCalicoResource(object: JsonObject): Conversion {
  const kind = textAt(object, 'kind');
  if (!isCalicoKind(kind)) return invalid(`is of the unknown kind ${kind}`);
  const metadata = calicoMetadata(objectAt(object, 'metadata'));
  return entry(calicoKey(kind, textAt(metadata, 'name')), {
    kind,
    apiVersion: 'projectcalico.org/v3',
    metadata,
    // `spec:` with nothing after it is an empty spec; anything else that is no object is the model's to report.
    spec: object['spec'] ?? {},
    ...compact({ status: object['status'] }),
  });
}

/** In the older API group the true labels and annotations travel as JSON in one annotation. */
function calicoMetadata(metadata: JsonObject): JsonObject {
  const { 'projectcalico.org/metadata': stored, ...annotations } = textMembers(metadata['annotations']);
  return storedMetadata({ ...metadata, annotations, ...parsedObject(stored) });
}

function parsedObject(json: string | undefined): JsonObject {
  try {
    const value: unknown = JSON.parse(json ?? '{}');
    if (!isObject(value)) return {};
    return compact({ labels: value['labels'], annotations: value['annotations'] });
  } catch {
    return {};
  }
}

function fromBlockAffinity(object: JsonObject): Conversion {
  const spec = objectAt(object, 'spec');
  const node = textAt(spec, 'node');
  const type = textAt(spec, 'type');
  if (type !== '' && type !== 'host') return { type: 'ignored', reason: `is an affinity of type ${type}` };
  if (!isKeySegment(node)) return invalid('has no usable spec.node');
  const key = blockKey(node, textAt(spec, 'cidr'));
  if (key === null) return invalid('has no network in spec.cidr');
  // `deleted` is text in the older API group.
  const deleted = spec['deleted'] === true || spec['deleted'] === 'true';
  return entry(key, { state: textAt(spec, 'state'), deleted });
}

function fromKubernetesObject(object: JsonObject, options: ConvertOptions): Conversion {
  const kind = textAt(object, 'kind');
  if (!isKubernetesKind(kind)) return invalid(`is of the unknown kind ${kind}`);
  const given = objectAt(object, 'metadata');
  const fallback = kind === 'Secret' ? (options.secretNamespace ?? 'kube-system') : 'default';
  const namespace = textAt(given, 'namespace') || fallback;
  if (!isKeySegment(namespace)) return invalid('has a slash in metadata.namespace');
  const metadata = storedMetadata({ ...given, namespace });
  const { kind: _kind, apiVersion, metadata: _metadata, stringData, ...rest } = object;
  const content = kind === 'Secret' ? { ...rest, data: secretData(rest['data'], stringData) } : rest;
  return entry(kubernetesKey(kind, namespace, textAt(metadata, 'name')), {
    kind,
    apiVersion,
    metadata,
    ...content,
  });
}

/** `stringData` is what `data` holds in base64, and wins, as in the API server. */
function secretData(data: unknown, stringData: unknown): Record<string, string> {
  const encoded = Object.entries(textMembers(stringData)).map(([name, text]): [string, string] => [
    name,
    Buffer.from(text, 'utf8').toString('base64'),
  ]);
  return { ...textMembers(data), ...Object.fromEntries(encoded) };
}

/** Written by tools for themselves; the first repeats the whole object, which for a Secret means its passwords. */
const BOOKKEEPING = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'endpoints.kubernetes.io/last-change-trigger-time',
]);

function storedMetadata(metadata: JsonObject): JsonObject {
  const annotations = Object.entries(textMembers(metadata['annotations']));
  return compact({
    name: metadata['name'],
    namespace: metadata['namespace'],
    uid: metadata['uid'],
    creationTimestamp: metadata['creationTimestamp'],
    labels: textMembers(metadata['labels']),
    annotations: Object.fromEntries(annotations.filter(([name]) => !BOOKKEEPING.has(name))),
  });
}

function entry(key: string, value: JsonObject): Conversion {
  return { type: 'entry', key, value: JSON.stringify(value) };
}

function invalid(reason: string): Conversion {
  return { type: 'invalid', reason };
}
