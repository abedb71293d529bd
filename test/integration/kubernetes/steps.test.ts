import { afterAll, beforeAll, describe, it } from 'vitest';
import { parseKey } from '../../../src/datastore/keys.ts';
import { load } from '../../support/kube/load.mjs';
import { type KubeCluster, requireCluster } from '../../support/kube-cluster.ts';
import { type Stored, secretWith } from '../../unit/model/parity/support.ts';
import { BIRD2 } from '../app/support.ts';
import { play, SCENARIOS, type Stage } from '../model/scenarios/run.ts';

const required = requireCluster();
let cluster: KubeCluster;
beforeAll(async () => {
  cluster = await required.start();
});
afterAll(() => cluster?.close());

const API_VERSIONS: Readonly<Record<string, string>> = { EndpointSlice: 'discovery.k8s.io/v1' };

/** A value of the key space as the resource that somebody would write. The API server may refuse it, which fails the test. */
function resourceAt(key: string, value: object): object {
  const at = parseKey(key);
  if (at === null || at.kind === 'EndpointStatus') throw new Error(`${key} is not in Kubernetes`);
  if (at.kind === 'BlockAffinity') {
    const { kind, node, cidr } = at;
    const name = `${node}-${cidr.replaceAll(/[.:/]/g, '-')}`;
    return { kind, apiVersion: 'projectcalico.org/v3', metadata: { name }, spec: { node, cidr, ...value } };
  }
  if (!('namespace' in at)) return value;
  const { kind, namespace, name } = at;
  const metadata = 'metadata' in value ? value.metadata : {};
  return {
    apiVersion: API_VERSIONS[kind] ?? 'v1',
    kind,
    ...value,
    metadata: { ...(metadata as object), namespace, name },
  };
}

/** Everything as objects of the API server, Secrets too. As somebody who may read any Secret. */
function kubernetesStage(): Stage {
  let stored: Stored = {};
  const write = async (values: Stored): Promise<void> => {
    stored = { ...stored, ...values };
    const resources = Object.entries(stored).flatMap(([key, value]) =>
      value === undefined ? [] : [resourceAt(key, value as object)],
    );
    await load(cluster.api.client, resources);
  };
  return {
    args: ['--datastore', 'kubernetes', '--kubeconfig', cluster.api.adminKubeconfig],
    clear: () => load(cluster.api.client, []),
    write,
    writeSecrets: async (secrets) => {
      for (const [name, data] of Object.entries(secrets)) {
        const [[key, value] = ['', {}]] = Object.entries(secretWith(name, data ?? {}));
        await write({ [key]: data === null ? undefined : value });
      }
    },
  };
}

describe('steps under a running birdfeed, from Kubernetes', () => {
  it.each(SCENARIOS)(
    '$name: each ends in what it should, and in the bytes of a fresh rendering',
    (scenario) => play(scenario, BIRD2, kubernetesStage()),
  );
});
