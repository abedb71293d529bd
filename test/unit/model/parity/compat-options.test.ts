import { describe, expect, it } from 'vitest';
import { type CompatOptions, compatOptions } from '../../../../src/model/bgp/options.ts';
import { blockOf, calico, kubernetes, NO_MESH, nodeAt, type Stored, worldOf } from './support.ts';

interface Case {
  readonly values: Stored;
  /** Lines that only Calico's way has, and lines that only birdfeed's has; null where the other way just has none. */
  readonly calico: RegExp | null;
  readonly birdfeed: RegExp | null;
}

const TWO = { ...nodeAt('n1', '10.0.0.1/24', { bgp: { asNumber: 65001 } }), ...nodeAt('n2', '10.0.0.2/24') };
const POOL = calico('IPPool', 'pods', { cidr: '192.168.0.0/16', vxlanMode: 'Always' });
const cluster = (spec: object) => calico('BGPConfiguration', 'default', spec);
const tor = (spec: object) => calico('BGPPeer', 'tor', { peerIP: '192.0.2.1', asNumber: 65009, ...spec });
const web = (spec: object) => ({
  ...kubernetes('Service', 'web', {
    spec: { type: 'ClusterIP', ipFamilies: ['IPv4'], externalTrafficPolicy: 'Local', ...spec },
  }),
  ...kubernetes('EndpointSlice', 'web-1', {
    metadata: { labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ nodeName: 'n1' }],
  }),
});

/** For each option a datastore in which it matters. */
const CASES: Readonly<Record<keyof CompatOptions, Case>> = {
  missingFilterFailsOpen: {
    values: { ...TWO, ...NO_MESH, ...tor({ filters: ['gone'] }) },
    calico: /import filter import_routes4;/,
    birdfeed: /# A BGPFilter of this peer is missing\.\n\s+reject;/,
  },
  missingPasswordOpensSession: {
    values: { ...TWO, ...NO_MESH, ...tor({ password: { secretKeyRef: { name: 's', key: 'k' } } }) },
    calico: /neighbor 192\.0\.2\.1 as 65009;/,
    birdfeed: null,
  },
  serviceClusterIPsUnchecked: {
    values: {
      ...TWO,
      ...cluster({ serviceClusterIPs: [{ cidr: '10.96.0.0/16' }] }),
      ...web({ clusterIP: '10.97.0.1' }),
    },
    calico: /route 10\.97\.0\.1\/32 blackhole;/,
    birdfeed: null,
  },
  meshPeerInheritsOwnAs: {
    values: TWO,
    calico: /neighbor 10\.0\.0\.2 as 65001;/,
    birdfeed: /neighbor 10\.0\.0\.2 as 64512;/,
  },
  pendingDeletionBlackholes: {
    values: { ...TWO, ...blockOf('n1', '192.168.1.0/26', 'pendingDeletion') },
    calico: /route 192\.168\.1\.0\/26 blackhole;/,
    birdfeed: null,
  },
  kernelFilterNeedsSubnet: {
    values: { ...nodeAt('n1', undefined), ...POOL },
    calico: null,
    birdfeed: /VXLAN routes are handled by Felix/,
  },
  priorityWraps: {
    values: TWO,
    calico: null,
    birdfeed: /bgp_local_pref > 2147483647 then \{\n\s+krt_metric = 0;/,
  },
  equalNeverMatchesRange: {
    values: {
      ...TWO,
      ...tor({ filters: ['f'] }),
      ...calico('BGPFilter', 'f', {
        importV4: [
          { action: 'Reject', matchOperator: 'Equal', cidr: '10.0.0.0/8', prefixLength: { min: 16 } },
        ],
      }),
    },
    calico: /if false then reject;/,
    birdfeed: /if net ~ \[ 10\.0\.0\.0\/8\{16,32\} \] then reject;/,
  },
  meshBesideExplicitPeer: {
    values: { ...TWO, ...calico('BGPPeer', 'p', { node: 'n1', peerIP: '10.0.0.2', asNumber: 64512 }) },
    calico: /protocol bgp Mesh_10_0_0_2 /,
    birdfeed: null,
  },
  unaggregatedRangesReachKernel: {
    values: {
      ...TWO,
      ...cluster({
        serviceLoadBalancerIPs: [{ cidr: '10.7.0.0/24' }],
        serviceLoadBalancerAggregation: 'Disabled',
      }),
    },
    calico: null,
    birdfeed: /net ~ \[ 10\.7\.0\.0\/24\+ \] then reject;/,
  },
  serviceBlackholesReachKernel: {
    values: {
      ...TWO,
      ...cluster({ serviceExternalIPs: [{ cidr: '10.8.0.7/32' }] }),
      ...web({ clusterIP: '10.97.0.1', externalIPs: ['10.8.0.7'] }),
    },
    calico: null,
    birdfeed: /net ~ \[ 10\.8\.0\.7\/32\+ \] then reject;/,
  },
  reflectsWithinCluster: {
    values: {
      ...nodeAt('n1', '10.0.0.1/24', { bgp: { routeReflectorClusterID: '244.0.0.1' } }),
      ...nodeAt('n2', '10.0.0.2/24', { bgp: { routeReflectorClusterID: '244.0.0.1' } }),
      ...calico('BGPPeer', 'p', { peerIP: '10.0.0.2', asNumber: 64512 }),
    },
    calico: /rr client;\n {2}rr cluster id 244\.0\.0\.1;/,
    birdfeed: null,
  },
  hostRoutesAtBothEnds: {
    values: {
      ...TWO,
      ...NO_MESH,
      ...calico('BGPPeer', 'p', {
        node: 'n2',
        peerIP: '10.0.0.1',
        asNumber: 65001,
        reachableBy: '10.0.0.254',
      }),
    },
    calico: /route 10\.0\.0\.2\/32 via 10\.0\.0\.254;/,
    birdfeed: null,
  },
  clusterPortHidesOwnPort: {
    values: {
      ...TWO,
      ...cluster({ nodeToNodeMeshEnabled: false, listenPort: 150 }),
      ...calico('BGPConfiguration', 'node.n1', { listenPort: 166 }),
      ...calico('BGPPeer', 'p', { node: 'n2', peerIP: '10.0.0.1:166', asNumber: 65001 }),
    },
    calico: null,
    birdfeed: /neighbor 10\.0\.0\.2 port 150 as 64512;/,
  },
  routerIdUnchecked: {
    values: nodeAt('n1', '127.0.0.7/24'),
    calico: /^router id 127\.0\.0\.7;$/m,
    birdfeed: null,
  },
  longGracefulRestartWait: { values: TWO, calico: null, birdfeed: /^graceful restart wait 30;$/m },
};

describe('the option of a difference', () => {
  const none = compatOptions(false);

  it.each(Object.keys(CASES) as (keyof CompatOptions)[])(
    '%s restores what Calico does, and nothing else',
    (name) => {
      const { values, calico: theirs, birdfeed: ours } = CASES[name];
      const [by, as] = [none, { ...none, [name]: true }].map((compat) =>
        worldOf(values, { compat }).text(),
      ) as [string, string];
      if (theirs !== null) {
        expect(as).toMatch(theirs);
        expect(by).not.toMatch(theirs);
      }
      if (ours !== null) {
        expect(by).toMatch(ours);
        expect(as).not.toMatch(ours);
      }
      // What another option is about stays as it is.
      for (const [other, { values: elsewhere }] of Object.entries(CASES)) {
        if (other === name || SHARED.has(name)) continue;
        const text = (compat: CompatOptions) => worldOf(elsewhere, { compat }).text();
        expect(text({ ...none, [name]: true }), other).toBe(text(none));
      }
    },
  );

  /** These concern every node that there is. */
  const SHARED: ReadonlySet<string> = new Set([
    'meshPeerInheritsOwnAs',
    'priorityWraps',
    'longGracefulRestartWait',
  ]);

  it('exists for all of them, and --calico-compat sets all', () => {
    expect(Object.keys(compatOptions(true)).sort()).toEqual(Object.keys(CASES).sort());
    expect(Object.values(compatOptions(true)).every(Boolean)).toBe(true);
  });
});
