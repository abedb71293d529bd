import { describe, expect, it } from 'vitest';
import {
  acceptOf,
  collectionsFor,
  hostHash,
  listPath,
  watchPath,
} from '../../../../src/datastore/kubernetes/collections.ts';
import { chooseGroup, groupNamed } from '../../../../src/datastore/kubernetes/discovery.ts';

const V1 = 'crd.projectcalico.org/v1';
const V3 = 'projectcalico.org/v3';
const lists = (prefix: string, usePodCidr = false): string[] =>
  collectionsFor(prefix, { usePodCidr }).map((collection) =>
    decodeURIComponent(listPath(collection, V1, { limit: 0 })),
  );

describe('a mount', () => {
  it.each([
    ['/calico/resources/v3/projectcalico.org/nodes', ['/api/v1/nodes']],
    ['/calico/resources/v3/projectcalico.org/nodes/n1', ['/api/v1/nodes?fieldSelector=metadata.name=n1']],
    ['/calico/resources/v3/projectcalico.org/bgppeers', [`/apis/${V1}/bgppeers`]],
    [
      '/calico/resources/v3/projectcalico.org',
      [
        '/api/v1/nodes',
        ...['bgppeers', 'bgpconfigurations', 'bgpfilters', 'ippools'].map(
          (plural) => `/apis/${V1}/${plural}`,
        ),
      ],
    ],
    ['/calico/resources/v3/kubernetes/services', ['/api/v1/services']],
    ['/calico/resources/v3/kubernetes/services/web', ['/api/v1/namespaces/web/services']],
    [
      '/calico/resources/v3/kubernetes/endpointslices',
      ['/apis/discovery.k8s.io/v1/endpointslices?labelSelector=kubernetes.io/service-name'],
    ],
    [
      '/calico/resources/v3/kubernetes/secrets/kube-system/bgp',
      ['/api/v1/namespaces/kube-system/secrets?fieldSelector=metadata.name=bgp'],
    ],
    ['/calico/ipam/v2/host', [`/apis/${V1}/blockaffinities`]],
    [
      '/calico/ipam/v2/host/n1/ipv4',
      [
        `/apis/${V1}/blockaffinities?labelSelector=projectcalico.org/hostname-hash=${hostHash('n1')}`,
        `/apis/${V1}/blockaffinities?labelSelector=!projectcalico.org/hostname-hash`,
      ],
    ],
    // Never all Secrets, and nothing that is not in Kubernetes.
    ['/calico/resources/v3/kubernetes/secrets', []],
    ['/calico/resources/v3/projectcalico.org/nodes/n1/status', []],
    ['/calico/endpoint-status', []],
    ['/myapp', []],
  ])('of %s is read with %j', (prefix, paths) => {
    expect(lists(prefix)).toEqual(paths);
  });

  it('of everything is read kind by kind, without Secrets', () => {
    expect(lists('')).toHaveLength(8);
    expect(lists('').filter((path) => path.includes('secrets'))).toEqual([]);
  });
});

describe('a request', () => {
  const [nodes] = collectionsFor('/calico/resources/v3/projectcalico.org/nodes', { usePodCidr: false });
  const [peers] = collectionsFor('/calico/resources/v3/projectcalico.org/bgppeers', { usePodCidr: false });
  const [whole] = collectionsFor('/calico/resources/v3/projectcalico.org/nodes', { usePodCidr: true });

  it('for Nodes asks for their metadata alone, unless pod CIDRs are wanted', () => {
    expect(acceptOf(nodes!, 'list')).toBe('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1');
    expect(acceptOf(nodes!, 'watch')).toBe('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1');
    expect(acceptOf(whole!, 'list')).toBe('application/json');
    expect(acceptOf(peers!, 'watch')).toBe('application/json');
  });

  it('names the API group in use', () => {
    expect(listPath(peers!, V3, { limit: 500, continue: 'a=b' })).toBe(
      `/apis/${V3}/bgppeers?limit=500&continue=a%3Db`,
    );
    expect(watchPath(peers!, V1, '17', 300)).toBe(
      `/apis/${V1}/bgppeers?watch=true&resourceVersion=17&allowWatchBookmarks=true&timeoutSeconds=300`,
    );
  });
});

describe('the hash in the label of a block', () => {
  it('is SHA3-256 in base 32', () => {
    // printf n1 | openssl dgst -sha3-256 -binary | base32
    expect(hostHash('n1')).toBe('DM7EHBDU4L3ELKRER4A46T6QMKAGARQI4CVWBO26S4I2IDAAW6CA');
  });
});

describe('which API group is read', () => {
  it.each([
    [['crd.projectcalico.org'], V1],
    [['projectcalico.org'], V3],
    [['crd.projectcalico.org', 'projectcalico.org'], V1],
    [[], V1],
  ])('with %j there', (groups, group) => {
    expect(chooseGroup(groups)).toBe(group);
  });

  it.each([
    ['projectcalico.org/v3', V3],
    ['ProjectCalico.org/V3', V3],
    ['crd.projectcalico.org/v1', V1],
    ['something', V1],
  ])('by CALICO_API_GROUP=%s', (text, group) => {
    expect(groupNamed(text)).toBe(group);
  });
});
