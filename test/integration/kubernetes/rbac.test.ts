import { afterAll, beforeAll, expect, it } from 'vitest';
import { blockPrefix, calicoPrefix, kubernetesKey, kubernetesPrefix } from '../../../src/datastore/keys.ts';
import { SIDECAR } from '../../support/kube-api-server.ts';
import {
  type AuditEvent,
  type KubeCluster,
  NEW_GROUP,
  OLD_GROUP,
  type Rule,
  rbacObjects,
  requireCluster,
} from '../../support/kube-cluster.ts';
import { KubeFollower } from '../../support/kube-follower.ts';
import { until } from '../../support/wait.ts';

const required = requireCluster();
let cluster: KubeCluster;
beforeAll(async () => {
  cluster = await required.start({ groups: [OLD_GROUP, NEW_GROUP] });
});
afterAll(() => cluster?.close());

/** `list services`, `get namespaces/kube-system`, `list kube-system:secrets/bgp-secrets`, `get /apis`. */
function granted({ apiGroups = [], resources = [], ...rule }: Rule, namespace: string | undefined): string[] {
  const things = [
    ...(rule.nonResourceURLs ?? []),
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        (rule.resourceNames ?? ['']).map((name) => thing(group, resource, namespace, name)),
      ),
    ),
  ];
  return rule.verbs.flatMap((verb) => things.map((it) => `${verb} ${it}`));
}

function thing(group: string, resource: string, namespace = '', name = ''): string {
  return `${namespace && `${namespace}:`}${resource}${group && `.${group}`}${name && `/${name}`}`;
}

function asked({ verb, requestURI, objectRef }: AuditEvent): string {
  if (objectRef === undefined) return `${verb} ${requestURI.split('?')[0]}`;
  const { apiGroup = '', resource, namespace = '', name = '' } = objectRef;
  // The audit log counts a namespace as being in itself.
  return `${verb} ${thing(apiGroup, resource, resource === 'namespaces' ? '' : namespace, name)}`;
}

it('what birdfeed asks for is just what deploy/kubernetes/rbac.yaml grants', async () => {
  const prefixes = [
    ...(['Node', 'BGPPeer', 'BGPConfiguration', 'BGPFilter', 'IPPool'] as const).map(calicoPrefix),
    blockPrefix('n1'),
    kubernetesPrefix('Service'),
    kubernetesPrefix('EndpointSlice'),
    kubernetesKey('Secret', 'kube-system', 'bgp-secrets'),
  ];
  for (const apiGroup of [null, NEW_GROUP]) {
    const follower = new KubeFollower(
      { access: { kubeconfig: cluster.api.kubeconfig() }, apiGroup },
      prefixes,
    );
    await until(() => follower.all('snapshot').length === prefixes.length, { timeout: 10_000 });
    // Eight resources of one kind each, and blocks with their label and without.
    const watches = () => cluster.audit().filter(({ verb, user }) => verb === 'watch' && isOurs(user));
    await until(() => watches().length >= (apiGroup === null ? 1 : 2) * (prefixes.length + 1));
    expect(follower.all('lost')).toEqual([]);
    await follower.stop();
  }
  const calls = cluster.audit().filter(({ user }) => isOurs(user));
  const grants = rbacObjects().flatMap(({ rules = [], metadata }) =>
    rules.flatMap((rule) => granted(rule, metadata.namespace)),
  );
  expect([...new Set(calls.map(asked))].sort()).toEqual(grants.sort());
});

const isOurs = ({ username }: AuditEvent['user']): boolean => username === SIDECAR.name;

it('with both API groups there, the older one is read', () => {
  const lists = cluster.audit().filter(({ user, verb }) => isOurs(user) && verb === 'list');
  const first = lists.find(({ requestURI }) => requestURI.includes('/bgppeers'));
  expect(first?.requestURI).toContain('/apis/crd.projectcalico.org/v1/bgppeers');
});

it('a Secret that is not named may not be read, and that is said', async () => {
  const secret = kubernetesKey('Secret', 'kube-system', 'another');
  const follower = new KubeFollower(
    { access: { kubeconfig: cluster.api.kubeconfig() }, optional: [secret] },
    [calicoPrefix('Node')],
  );
  await follower.next('snapshot', calicoPrefix('Node'));
  const { error } = await follower.next('lost', secret);
  expect(error.code).toBe('BF_DATASTORE_AUTH');
  expect(error.message).toContain(
    'cannot list resource "secrets" in API group "" in the namespace "kube-system"',
  );
});
