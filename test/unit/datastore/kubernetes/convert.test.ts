import { describe, expect, it } from 'vitest';
import { type ConvertOptions, convertObject } from '../../../../src/datastore/kubernetes/convert.ts';

function convert(object: Readonly<Record<string, unknown>>, options?: ConvertOptions) {
  const result = convertObject(object, options);
  return result.type === 'entry' ? { key: result.key, value: JSON.parse(result.value) } : result;
}

const coreNode = (metadata: object, rest: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata,
  ...rest,
});
const p = (name: string) => `projectcalico.org/${name}`;

describe('a Kubernetes Node', () => {
  it('becomes the Calico Node that its annotations describe', () => {
    const annotations = {
      [p('IPv4Address')]: '10.0.0.1/24',
      [p('IPv6Address')]: 'fd00::1/64',
      [p('ASNumber')]: '64513',
      [p('RouteReflectorClusterID')]: '244.0.0.1',
      [p('IPv4IPIPTunnelAddr')]: '192.168.0.1',
      [p('IPv4WireguardInterfaceAddr')]: '192.168.0.2',
      [p('IPv6WireguardInterfaceAddr')]: 'fd01::2',
      [p('WireguardPublicKey')]: 'abc=',
      'node.alpha.kubernetes.io/ttl': '0',
    };
    const result = convert(
      coreNode(
        { name: 'n1', uid: 'u', resourceVersion: '77', annotations, managedFields: [{}] },
        {
          spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24', 'fd02::/64'] },
          status: { conditions: [{}] },
        },
      ),
    );
    expect(result).toEqual({
      key: '/calico/resources/v3/projectcalico.org/nodes/n1',
      value: {
        kind: 'Node',
        apiVersion: 'projectcalico.org/v3',
        metadata: { name: 'n1', uid: 'u' },
        spec: {
          bgp: {
            ipv4Address: '10.0.0.1/24',
            ipv6Address: 'fd00::1/64',
            ipv4IPIPTunnelAddr: '192.168.0.1',
            asNumber: 64513,
            routeReflectorClusterID: '244.0.0.1',
          },
          wireguard: { interfaceIPv4Address: '192.168.0.2', interfaceIPv6Address: 'fd01::2' },
        },
        status: { wireguardPublicKey: 'abc=', podCIDRs: ['10.1.0.0/24', 'fd02::/64'] },
      },
    });
  });

  it('has its own labels over those of the annotation', () => {
    const annotations = { [p('labels')]: '{"a":"calico","b":"calico"}', [p('annotations')]: '{"x":"y"}' };
    expect(convert(coreNode({ name: 'n', labels: { b: 'k8s', c: 'k8s' }, annotations }))).toMatchObject({
      value: { metadata: { labels: { a: 'calico', b: 'k8s', c: 'k8s' }, annotations: { x: 'y' } } },
    });
  });

  it.each([
    ['IPv4Address', '10.0.0.300/24'],
    ['IPv4Address', 'fd00::1/64'],
    ['IPv6Address', '10.0.0.1/24'],
    ['ASNumber', '4294967296'],
    ['ASNumber', '1.65536'],
    ['ASNumber', '-1'],
    ['RouteReflectorClusterID', 'fd00::1'],
    ['IPv4WireguardInterfaceAddr', 'x'],
    ['labels', '{"a":'],
    ['labels', '[]'],
  ])('counts an invalid %s annotation (%s) as unset', (name, value) => {
    expect(convert(coreNode({ name: 'n', annotations: { [p(name)]: value } }))).toMatchObject({
      value: { metadata: { name: 'n' }, spec: {} },
    });
  });

  it.each([
    ['65000', 65000],
    ['1.10', 65546],
    ['4294967295', 4294967295],
  ])('reads the AS number %s', (text, number) => {
    expect(convert(coreNode({ name: 'n', annotations: { [p('ASNumber')]: text } }))).toMatchObject({
      value: { spec: { bgp: { asNumber: number } } },
    });
  });

  it('takes an address without its network', () => {
    expect(convert(coreNode({ name: 'n', annotations: { [p('IPv4Address')]: '10.0.0.1' } }))).toMatchObject({
      value: { spec: { bgp: { ipv4Address: '10.0.0.1' } } },
    });
  });

  it('has the first address of its pod range as tunnel address with usePodCidr', () => {
    const node = coreNode(
      { name: 'n', annotations: { [p('WireguardPublicKey')]: 'k', [p('IPv4IPIPTunnelAddr')]: '9.9.9.9' } },
      { spec: { podCIDR: '10.1.2.0/24', podCIDRs: ['10.1.2.0/24'] } },
    );
    expect(convert(node, { usePodCidr: true })).toMatchObject({
      value: {
        spec: { bgp: { ipv4IPIPTunnelAddr: '10.1.2.1' }, wireguard: { interfaceIPv4Address: '10.1.2.1' } },
      },
    });
    expect(convert(node)).toMatchObject({ value: { spec: { bgp: { ipv4IPIPTunnelAddr: '9.9.9.9' } } } });
  });

  it('stays the same text over heartbeats', () => {
    const at = (time: string) =>
      convertObject(
        coreNode(
          { name: 'n', resourceVersion: time, labels: { a: 'b' } },
          { status: { conditions: [{ lastHeartbeatTime: time }] } },
        ),
      );
    expect(at('1')).toEqual(at('2'));
  });
});

describe('Calico resources of the Kubernetes API', () => {
  it('lose what the API server keeps for itself', () => {
    const metadata = { name: 'x', resourceVersion: '1', generation: 3, managedFields: [], labels: {} };
    const peer = {
      apiVersion: 'crd.projectcalico.org/v1',
      kind: 'BGPPeer',
      metadata,
      spec: { peerIP: '1.2.3.4' },
    };
    expect(convert(peer)).toEqual({
      key: '/calico/resources/v3/projectcalico.org/bgppeers/x',
      value: {
        kind: 'BGPPeer',
        apiVersion: 'projectcalico.org/v3',
        metadata: { name: 'x' },
        spec: { peerIP: '1.2.3.4' },
      },
    });
  });

  it('have the metadata that the older group hides in an annotation', () => {
    const annotations = { [p('metadata')]: '{"labels":{"a":"b"},"annotations":{"c":"d"}}' };
    expect(
      convert({
        apiVersion: 'crd.projectcalico.org/v1',
        kind: 'IPPool',
        metadata: { name: 'p', annotations },
      }),
    ).toMatchObject({ value: { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: {} } });
  });

  it('keep a spec that is no object for the model to report', () => {
    const peer = {
      apiVersion: 'projectcalico.org/v3',
      kind: 'BGPPeer',
      metadata: { name: 'x' },
      spec: 'oops',
    };
    expect(convert(peer)).toMatchObject({ value: { spec: 'oops' } });
  });

  it('have block affinities under the IPAM key, whether `deleted` is text or not', () => {
    const affinity = (spec: object) => ({
      apiVersion: 'crd.projectcalico.org/v1',
      kind: 'BlockAffinity',
      metadata: { name: 'x' },
      spec: { node: 'n1', cidr: '10.0.0.64/26', state: 'pending', ...spec },
    });
    const key = '/calico/ipam/v2/host/n1/ipv4/block/10.0.0.64-26';
    expect(convert(affinity({ deleted: 'true' }))).toEqual({
      key,
      value: { state: 'pending', deleted: true },
    });
    expect(convert(affinity({ deleted: 'false', type: 'host' }))).toEqual({
      key,
      value: { state: 'pending', deleted: false },
    });
    expect(convert(affinity({ type: 'virtual' }))).toMatchObject({ type: 'ignored' });
    expect(convert(affinity({ node: '' }))).toMatchObject({ type: 'invalid' });
  });
});

describe('Kubernetes objects', () => {
  it('keep their content and drop the copy of themselves that kubectl leaves', () => {
    const annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"a":"secret"}}',
      'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01',
      other: 'x',
    };
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'ns', annotations },
      type: 'Opaque',
      data: { a: 'YQ==' },
    };
    expect(convert(secret)).toEqual({
      key: '/calico/resources/v3/kubernetes/secrets/ns/s',
      value: {
        kind: 'Secret',
        apiVersion: 'v1',
        metadata: { name: 's', namespace: 'ns', annotations: { other: 'x' } },
        type: 'Opaque',
        data: { a: 'YQ==' },
      },
    });
  });

  it('are in namespace default without one, Secrets where they are looked for', () => {
    const object = (kind: string, apiVersion: string) => ({ kind, apiVersion, metadata: { name: 'x' } });
    const keys = [
      convert(object('Service', 'v1')),
      convert(object('EndpointSlice', 'discovery.k8s.io/v1')),
      convert(object('Secret', 'v1')),
      convert(object('Secret', 'v1'), { secretNamespace: 'calico-system' }),
    ].map((result) => ('key' in result ? result.key.split('/').slice(-3).join('/') : result));
    expect(keys).toEqual([
      'services/default/x',
      'endpointslices/default/x',
      'secrets/kube-system/x',
      'secrets/calico-system/x',
    ]);
  });

  it.each([
    ['Pod', 'v1'],
    ['EndpointSlice', 'v1'],
    ['Service', 'serving.knative.dev/v1'],
    ['Node', 'example.com/v1'],
    ['FelixConfiguration', 'projectcalico.org/v3'],
    ['constructor', 'projectcalico.org/v3'],
    ['toString', 'v1'],
  ])('of kind %s in %s are not read', (kind, apiVersion) => {
    expect(convert({ kind, apiVersion, metadata: { name: 'x' } })).toMatchObject({ type: 'ignored' });
  });
});
