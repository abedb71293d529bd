import type { StampInput } from '../../../src/generation/types.ts';
import type { Census, SessionSummary } from '../../../src/model/types.ts';

export function stampInput(change: Partial<StampInput> = {}): StampInput {
  return {
    set: 'default',
    nodeName: 'n1',
    dialect: 'bird2',
    contentDigest: 'c0ffee',
    templatesDigest: 'decade',
    renderTime: null,
    mounts: [{ prefix: '/calico', kind: 'etcd', datastoreId: '7a', revision: 41 }],
    sessions: [session('Mesh_10_0_0_2'), session('Mesh_10_0_0_3')],
    census: { counts: { Node: 3 }, address4: '10.0.0.1', address6: null },
    ...change,
  };
}

export function session(name: string): SessionSummary {
  return { name, address: '10.0.0.2', family: 4, asNumber: 64512, type: 'mesh', hardDigest: 'ab' };
}

export function census(kinds: Record<string, readonly string[]>, change: Partial<Census> = {}): Census {
  return { nodeName: 'n1', nodePresent: true, address4: '10.0.0.1', address6: null, kinds, ...change };
}

/** `n1` … `nCOUNT`. */
export function names(count: number, prefix = 'n'): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
}
