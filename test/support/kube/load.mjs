#!/usr/bin/env node
// Makes an API server hold exactly the Calico and Kubernetes resources of some YAML files, for tests of configurations
// against the real thing. Never point it at a cluster that is in use: what is not in the files is deleted.
//
//   node test/support/kube/load.mjs --kubeconfig FILE [--group crd.projectcalico.org/v1] [--crds] INPUT...
//
// INPUT is a YAML file or a folder of them, in the form that `calicoctl get -o yaml` and `kubectl get -o yaml` have.
// --crds creates the custom resource definitions first.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { KubeClient } from './client.mjs';
import { collections, definitions, GROUPS, toKubernetes } from './objects.mjs';

/** Creates the definitions of a group and waits until the API server serves them. */
export async function createDefinitions(client, group) {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await Promise.all(
    definitions(group).map((definition) =>
      client.post(path, definition).catch((error) => {
        if (error.status !== 409) throw error;
      }),
    ),
  );
  const wanted = collections(group).filter((collection) => collection.startsWith(`/apis/${group}/`));
  for (let left = 200; ; left -= 1) {
    const answers = await Promise.all(
      wanted.map((collection) =>
        client.get(collection).then(
          () => true,
          (error) => (left === 0 ? Promise.reject(error) : false),
        ),
      ),
    );
    if (answers.every(Boolean)) return;
    await sleep(50);
  }
}

/** Makes the API server hold these resources, and nothing else of the kinds that birdfeed reads. */
export async function load(client, resources, group = GROUPS[0]) {
  const wanted = new Map();
  for (const resource of resources) {
    const target = toKubernetes(resource, group);
    if (target !== null) wanted.set(`${target.path}/${target.object.metadata.name}`, target);
  }
  const existing = await list(client, group);
  const gone = [...existing.keys()].filter((path) => !wanted.has(path));
  await inTurns(gone, (path) => client.delete(path));
  await inTurns([...wanted], ([path, target]) => write(client, path, target, existing.get(path)));
}

/** Path → object of all that is there, except what the API server makes for itself. */
async function list(client, group) {
  const lists = await Promise.all(
    collections(group).map(async (collection) => {
      const { items } = await client.get(collection);
      return (items ?? []).map((object) => [pathOf(collection, object), object]);
    }),
  );
  return new Map(
    lists
      .flat()
      .filter(([path]) => !/\/namespaces\/default\/(services|endpointslices)\/kubernetes$/.test(path)),
  );
}

function pathOf(collection, { metadata: { namespace, name } }) {
  const at = collection.lastIndexOf('/');
  const within = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `${collection.slice(0, at)}${within}${collection.slice(at)}/${name}`;
}

async function write(client, path, { path: collection, object }, before) {
  const written =
    before === undefined
      ? await client.post(collection, object)
      : await client.put(path, replacing(before, object));
  // A Service's addresses from a load balancer are in its status, which is written by itself.
  if (object.kind !== 'Service' || object.status === undefined) return;
  await client.put(`${path}/status`, { ...written, status: object.status });
}

function replacing(before, object) {
  const { resourceVersion } = before.metadata;
  const kept =
    object.kind === 'Service' ? { clusterIP: before.spec.clusterIP, clusterIPs: before.spec.clusterIPs } : {};
  return {
    ...object,
    metadata: { ...object.metadata, resourceVersion },
    ...(object.spec === undefined ? {} : { spec: { ...kept, ...object.spec } }),
  };
}

async function inTurns(items, work) {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** The resources in a file or folder. YAML as Go reads it for Calico: `yes` is true. */
export function readResources(input) {
  const files = statSync(input).isDirectory()
    ? readdirSync(input, { recursive: true }).map((name) => join(input, name))
    : [input];
  return files
    .filter((file) => /\.(ya?ml|json)$/.test(file))
    .sort()
    .flatMap((file) => documents(readFileSync(file, 'utf8')))
    .filter((resource) => resource?.kind !== undefined);
}

function documents(text) {
  const all = parseAllDocuments(text, { version: '1.1', stringKeys: true, customTags: withoutTimes });
  return all.flatMap((document) => {
    const value = document.toJS();
    return Array.isArray(value?.items) ? value.items : [value];
  });
}

/** `65000:10` is a community, not a time of day. */
function withoutTimes(tags) {
  return tags.filter(
    (tag) => typeof tag === 'string' || (tag.format !== 'TIME' && !tag.tag.endsWith(':timestamp')),
  );
}

async function main() {
  const { values, positionals } = parseArgs({
    options: {
      kubeconfig: { type: 'string' },
      group: { type: 'string', default: GROUPS[0] },
      crds: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  if (values.kubeconfig === undefined) throw new Error('--kubeconfig FILE is needed');
  const client = KubeClient.fromKubeconfig(values.kubeconfig);
  try {
    if (values.crds) await createDefinitions(client, values.group);
    await load(client, positionals.flatMap(readResources), values.group);
  } finally {
    client.close();
  }
}

if (process.argv[1] === import.meta.filename) {
  await main().catch((error) => {
    console.error(`load: ${error.message}`);
    process.exitCode = 1;
  });
}
