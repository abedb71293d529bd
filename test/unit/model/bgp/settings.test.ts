import { describe, expect, it } from 'vitest';
import { compatOptions } from '../../../../src/model/bgp/options.ts';
import { hashedRouterId } from '../../../../src/model/bgp/settings.ts';
import { compute, config, model, node, onlySession, problemIds } from './support.ts';

const settings = (...args: Parameters<typeof model>) => model(...args).settings;

describe('the router id', () => {
  it('is the IPv4 address, also for IPv6', () => {
    expect(settings({ nodes: [node('a', '10.0.0.1/24', { v6: 'fd00::1/64' })] }).routerId).toBe('10.0.0.1');
  });

  it('is hashed from the name as Calico does it', () => {
    expect(hashedRouterId('kube-master')).toBe('25.79.212.8');
    expect(hashedRouterId('nodeTest')).toBe('109.174.215.226');
    expect(hashedRouterId('Testrobin123')).toBe('207.94.5.27');
    const nodes = [node('kube-master', '10.0.0.1/24')];
    expect(settings({ nodes }, 'kube-master', { routerId: 'hash' }).routerId).toBe('25.79.212.8');
  });

  it('is hashed on a node without IPv4, where Calico leaves it empty and BIRD refuses the file', () => {
    const nodes = [node('kube-master', null, { v6: 'fd00::1/64' })];
    expect(settings({ nodes }, 'kube-master').routerId).toBe('25.79.212.8');
  });

  it('is never one that other routers refuse', () => {
    for (let i = 0; i < 2_000; i += 1) {
      const first = Number(hashedRouterId(`node-${i}`).split('.')[0]);
      expect(first).toBeGreaterThan(0);
      expect(first).toBeLessThan(224);
      expect(first).not.toBe(127);
    }
    const computed = compute({ nodes: [node('a', '240.0.0.1/24')] });
    expect(computed.model.settings.routerId).toBe(hashedRouterId('a'));
    expect(problemIds(computed)).toContain('router-id-unusable');
  });

  it('is the configured one, unless that cannot be one', () => {
    const nodes = [node('a', '10.0.0.1/24')];
    expect(settings({ nodes }, 'a', { routerId: '192.0.2.7' }).routerId).toBe('192.0.2.7');
    for (const routerId of ['0.0.0.0', '127.0.0.1', '224.0.0.5', 'fd00::1', 'me']) {
      const computed = compute({ nodes }, 'a', { routerId });
      expect(computed.model.settings.routerId).toBe('10.0.0.1');
      expect(problemIds(computed)).toContain('router-id-unusable');
    }
  });
});

describe('node settings', () => {
  const nodes = [node('a', '10.0.0.1/24'), node('b', '10.0.0.2/24')];

  it("take the node's own AS before the cluster's, and 64512 without either", () => {
    expect(settings({ nodes }).asNumber).toBe(64_512);
    expect(settings({ nodes, configs: [config({ asNumber: 65_001 })] }).asNumber).toBe(65_001);
    const own = [node('a', '10.0.0.1/24', { asNumber: 4_200_000_000 })];
    expect(settings({ nodes: own, configs: [config({ asNumber: 65_001 })] }).asNumber).toBe(4_200_000_000);
  });

  it("take the node's BGPConfiguration before the default one, field by field", () => {
    const configs = [
      config({ listenPort: 178, logSeverity: 'Debug' }),
      config({ node: 'a', listenPort: 500 }),
      config({ node: 'b', logSeverity: 'Warning' }),
    ];
    expect(settings({ nodes, configs }).listenPort).toBe(500);
    expect(settings({ nodes, configs }).debug.protocols).toEqual(['all']);
    expect(settings({ nodes, configs }, 'b').listenPort).toBe(178);
    expect(settings({ nodes, configs }, 'b').debug).toEqual({ protocols: [], sessions: [] });
  });

  it('log states and events by default', () => {
    expect(settings({ nodes }).debug).toEqual({
      protocols: ['states'],
      sessions: ['states', 'routes', 'filters', 'events'],
    });
  });

  it('never take in networks of workload and kube-proxy interfaces', () => {
    const configs = [config({ ignoredInterfaces: ['eth9'] })];
    expect(settings({ nodes, configs }).interfaces).toEqual([
      { pattern: 'eth9', use: false },
      { pattern: 'cali*', use: false },
      { pattern: 'kube-ipvs*', use: false },
      { pattern: '*', use: true },
    ]);
  });

  it('shorten the wait of BIRD 1.6 for dead peers after a restart, which BIRD 2 does not need', () => {
    expect(settings({ nodes }).gracefulRestartWait).toBe(30);
    expect(settings({ nodes }, 'a', { dialect: 'bird2' }).gracefulRestartWait).toBeNull();
    expect(settings({ nodes }, 'a', { compat: compatOptions(true) }).gracefulRestartWait).toBeNull();
  });

  it('bind to the address of each family with bind mode NodeIP', () => {
    const both = [node('a', '10.0.0.1/24', { v6: 'fd00::1/64' })];
    const bound = model({ nodes: both, configs: [config({ bindMode: 'NodeIP' })] });
    expect([bound.ipv4.listenAddress, bound.ipv6.listenAddress]).toEqual(['10.0.0.1', 'fd00::1']);
    expect(model({ nodes: both }).ipv4.listenAddress).toBeNull();
  });
});

describe('a node', () => {
  it('without an address of a family has no sessions of it, and keeps the rest of that family', () => {
    const nodes = [node('a', null, { v6: 'fd00::1/64' }), node('b', '10.0.0.2/24', { v6: 'fd00::2/64' })];
    const computed = compute({ nodes });
    expect(onlySession(computed).address).toBe('fd00::2');
    expect(computed.model.ipv4).toMatchObject({ address: null, sessions: [] });
    expect(computed.model.ipv4.kernelFilter.body.length).toBeGreaterThan(0);
  });

  it('that the cluster does not know has no sessions, and says so', () => {
    const computed = compute({ nodes: [node('b', '10.0.0.2/24')] }, 'a');
    expect(computed.model).toMatchObject({
      nodePresent: false,
      ipv4: { sessions: [] },
      ipv6: { sessions: [] },
    });
    expect(problemIds(computed)).toContain('node-absent');
  });
});
