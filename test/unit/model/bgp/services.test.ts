import { describe, expect, it } from 'vitest';
import { compatOptions, type ModelOptions } from '../../../../src/model/bgp/options.ts';
import type { FamilyModel } from '../../../../src/model/bgp/types.ts';
import type { BgpConfigurationResource, ServiceResource } from '../../../../src/model/calico/types.ts';
import { decide, route } from '../../../support/policy-interpreter.ts';
import { type cluster, compute, config, model, node, service, slice } from './support.ts';

const CLUSTER = { serviceClusterIPs: ['10.96.0.0/12'] };
const nodes = [node('a', '10.0.0.1/24', { v6: 'fd00::1/64' }), node('b', '10.0.0.2/24')];
const here = [{ nodeName: 'a', ready: true }];
const elsewhere = [{ nodeName: 'b', ready: true }];

function family(
  ranges: Partial<BgpConfigurationResource>,
  parts: Partial<Parameters<typeof cluster>[0]> = {},
  options: Partial<ModelOptions> = {},
): FamilyModel {
  return model({ nodes, configs: [config(ranges)], ...parts }, 'a', options).ipv4;
}

const advertised = (...args: Parameters<typeof family>) =>
  family(...args).staticRoutes.map(({ prefix }) => prefix);
const reachesKernel = (net: string, ...args: Parameters<typeof family>) => {
  const { kernelFilter, functions } = family(...args);
  return (
    decide(kernelFilter.body, functions, route(net, { source: 'static', interface: '' })).decision ===
    'accept'
  );
};

/** A service with the given fields and endpoints, and what of it is advertised beside the ranges. */
function single(
  ranges: Partial<BgpConfigurationResource>,
  fields: Partial<ServiceResource>,
  endpoints: Parameters<typeof slice>[1] = here,
  options: Partial<ModelOptions> = {},
): readonly string[] {
  const parts = { services: [service('s', fields)], slices: [slice('s', endpoints)] };
  return advertised(ranges, parts, options).filter((prefix) => prefix.endsWith('/32'));
}

describe('service ranges', () => {
  it('are advertised as a whole and kept out of the kernel', () => {
    const ranges = {
      ...CLUSTER,
      serviceExternalIPs: ['203.0.113.0/24'],
      serviceLoadBalancerIPs: ['198.51.100.0/24'],
    };
    expect(advertised(ranges)).toEqual(['10.96.0.0/12', '198.51.100.0/24', '203.0.113.0/24']);
    for (const net of ['10.96.0.0/12', '10.96.0.1/32', '198.51.100.7/32', '203.0.113.0/24'])
      expect(reachesKernel(net, ranges)).toBe(false);
    expect(reachesKernel('10.95.0.0/16', ranges)).toBe(true);
  });

  it('of one address are left to the services that have it, except cluster IPs', () => {
    const ranges = {
      serviceClusterIPs: ['10.96.0.9/32'],
      serviceExternalIPs: ['203.0.113.1/32'],
      serviceLoadBalancerIPs: ['198.51.100.1/32'],
    };
    expect(advertised(ranges)).toEqual(['10.96.0.9/32']);
  });

  it('are not advertised for load balancers without aggregation, and still kept out of the kernel', () => {
    const ranges = {
      serviceLoadBalancerIPs: ['198.51.100.0/24'],
      serviceLoadBalancerAggregation: 'Disabled' as const,
    };
    expect(advertised(ranges)).toEqual([]);
    expect(reachesKernel('198.51.100.7/32', ranges)).toBe(false);
    expect(reachesKernel('198.51.100.7/32', ranges, {}, { compat: compatOptions(true) })).toBe(true);
  });

  it('are not advertised by a node that takes no external load, and still kept out of its kernel', () => {
    const labels = { 'node.kubernetes.io/exclude-from-external-load-balancers': 'true' };
    const parts = { nodes: [node('a', '10.0.0.1/24', { labels })] };
    expect(advertised(CLUSTER, parts)).toEqual([]);
    expect(reachesKernel('10.96.0.1/32', CLUSTER, parts)).toBe(false);
  });

  it('for cluster IPs can be replaced by an option', () => {
    expect(advertised(CLUSTER, {}, { advertiseClusterIPs: '10.100.0.0/16' })).toEqual(['10.100.0.0/16']);
  });

  it('are passed on by route reflectors only, whose clients announce single addresses', () => {
    const ranges = {
      meshEnabled: false,
      serviceLoadBalancerIPs: ['198.51.100.0/24'],
      serviceLoadBalancerAggregation: 'Disabled' as const,
    };
    const passesOn = (clusterId: string | null) => {
      const { functions, filters } = family(ranges, { nodes: [node('a', '10.0.0.1/24', { clusterId })] });
      const body = filters.find(({ name }) => name === 'export_external4')!.body;
      return decide(body, functions, route('198.51.100.7/32')).decision === 'accept';
    };
    expect(passesOn('244.0.0.1')).toBe(true);
    expect(passesOn(null)).toBe(false);
  });

  it('make services worth reading', () => {
    expect(compute({ nodes, configs: [config(CLUSTER)] }).interests.services).toBe(true);
    expect(compute({ nodes, configs: [config()] }).interests.services).toBe(false);
    expect(compute({ nodes }, 'a', { advertiseClusterIPs: '10.100.0.0/16' }).interests.services).toBe(true);
  });
});

describe('a service with traffic policy Local', () => {
  const local = { clusterIPs: ['10.96.0.7'], externalTrafficPolicy: 'Local' } as const;

  it('is advertised from nodes with a ready endpoint, and only from them', () => {
    expect(single(CLUSTER, local)).toEqual(['10.96.0.7/32']);
    expect(single(CLUSTER, local, elsewhere)).toEqual([]);
    expect(single(CLUSTER, local, [{ nodeName: 'a', ready: false }])).toEqual([]);
    expect(single(CLUSTER, local, [])).toEqual([]);
  });

  it('is withdrawn with its last slice, though other slices stay', () => {
    const services = [service('s', local)];
    const kept = {
      services,
      slices: [slice('s', here, { name: 's-1' }), slice('s', elsewhere, { name: 's-2' })],
    };
    expect(advertised(CLUSTER, kept)).toContain('10.96.0.7/32');
    expect(advertised(CLUSTER, { services, slices: [slice('s', elsewhere, { name: 's-2' })] })).not.toContain(
      '10.96.0.7/32',
    );
    expect(advertised(CLUSTER, { services, slices: [] })).not.toContain('10.96.0.7/32');
  });

  it('counts endpoints under the name that Kubernetes has for the node', () => {
    expect(
      single(CLUSTER, local, [{ nodeName: 'k8s-a', ready: true }], { kubernetesNodeName: 'k8s-a' }),
    ).toEqual(['10.96.0.7/32']);
  });

  it('needs an endpoint of one of its families', () => {
    const parts = { services: [service('s', local)], slices: [slice('s', here, { family: 6 })] };
    expect(advertised(CLUSTER, parts)).toEqual(['10.96.0.0/12']);
  });

  it('has its external and load balancer addresses advertised where they are in the ranges', () => {
    const ranges = {
      ...CLUSTER,
      serviceExternalIPs: ['203.0.113.0/24'],
      serviceLoadBalancerIPs: ['198.51.100.0/24'],
    };
    const fields = {
      ...local,
      type: 'LoadBalancer',
      externalIPs: ['203.0.113.5', '8.8.8.8'],
      ingressIPs: ['198.51.100.5', '9.9.9.9'],
    };
    expect(single(ranges, fields)).toEqual(['10.96.0.7/32', '198.51.100.5/32', '203.0.113.5/32']);
  });

  it('has a cluster IP outside the ranges advertised only when Calico is asked for', () => {
    const fields = { ...local, clusterIPs: ['172.20.0.7'] };
    expect(single(CLUSTER, fields)).toEqual([]);
    expect(single(CLUSTER, fields, here, { compat: compatOptions(true) })).toEqual(['172.20.0.7/32']);
  });

  it('is not advertised when it has no cluster IP or no advertised type', () => {
    expect(single(CLUSTER, { ...local, clusterIPs: [] })).toEqual([]);
    expect(single(CLUSTER, { ...local, type: 'ExternalName' })).toEqual([]);
  });

  it('never gets its own blackhole into the kernel', () => {
    const ranges = { serviceExternalIPs: ['203.0.113.5/32'] };
    const parts = {
      services: [service('s', { ...local, externalIPs: ['203.0.113.5'] })],
      slices: [slice('s', here)],
    };
    expect(advertised(ranges, parts)).toEqual(['203.0.113.5/32']);
    expect(reachesKernel('203.0.113.5/32', ranges, parts)).toBe(false);
    expect(reachesKernel('203.0.113.5/32', ranges, parts, { compat: compatOptions(true) })).toBe(true);
  });
});

describe('a service with traffic policy Cluster', () => {
  const anywhere = { clusterIPs: ['10.96.0.7'], externalTrafficPolicy: 'Cluster' } as const;

  it('is covered by the range of all nodes', () => {
    expect(single(CLUSTER, anywhere)).toEqual([]);
  });

  it('is advertised by itself where its address is configured as a single one, endpoints or not', () => {
    const external = { ...anywhere, externalIPs: ['203.0.113.5'] };
    expect(single({ serviceExternalIPs: ['203.0.113.5/32'] }, external, [])).toEqual(['203.0.113.5/32']);
    expect(single({ serviceExternalIPs: ['203.0.113.6/32'] }, external, here)).toEqual([]);
    const balanced = {
      ...anywhere,
      type: 'LoadBalancer',
      loadBalancerIP: '198.51.100.5',
      ingressIPs: ['198.51.100.5'],
    };
    expect(single({ serviceLoadBalancerIPs: ['198.51.100.5/32'] }, balanced, [])).toEqual([
      '198.51.100.5/32',
    ]);
  });

  it('is advertised by itself without aggregation, from everywhere as soon as an endpoint is ready', () => {
    const ranges = {
      serviceLoadBalancerIPs: ['198.51.100.0/24'],
      serviceLoadBalancerAggregation: 'Disabled' as const,
    };
    const balanced = { ...anywhere, type: 'LoadBalancer', ingressIPs: ['198.51.100.5'] };
    expect(single(ranges, balanced, elsewhere)).toEqual(['198.51.100.5/32']);
    expect(single(ranges, balanced, [])).toEqual([]);
  });
});

it('two services that share an address have one route', () => {
  const fields = { clusterIPs: ['10.96.0.7'], externalTrafficPolicy: 'Local' } as const;
  const parts = {
    services: [service('s', fields), service('t', fields)],
    slices: [slice('s', here), slice('t', here, { name: 't-x' })],
  };
  expect(advertised(CLUSTER, parts)).toEqual(['10.96.0.0/12', '10.96.0.7/32']);
});

it('a dual-stack service is advertised in the family of each address', () => {
  const ranges = { serviceClusterIPs: ['10.96.0.0/12', 'fd11::/112'] };
  const fields = {
    clusterIPs: ['10.96.0.7', 'fd11::7'],
    externalTrafficPolicy: 'Local',
    families: [4, 6],
  } as const;
  const { ipv4, ipv6 } = model({
    nodes,
    configs: [config(ranges)],
    services: [service('s', fields)],
    slices: [slice('s', here)],
  });
  expect(ipv4.staticRoutes.map(({ prefix }) => prefix)).toEqual(['10.96.0.0/12', '10.96.0.7/32']);
  expect(ipv6.staticRoutes.map(({ prefix }) => prefix)).toEqual(['fd11::/112', 'fd11::7/128']);
});
