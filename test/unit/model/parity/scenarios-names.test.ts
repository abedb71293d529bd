import { describe, expect, it } from 'vitest';
import type { ModelDialect } from '../../../../src/model/bgp/options.ts';
import { hashedRouterId } from '../../../../src/model/bgp/settings.ts';
import { GOOD } from './fields.ts';
import { calico, NO_MESH, namesOf, nodeAt, type Stored, secretWith, worldOf } from './support.ts';

/** Bugs that users of BIRD, Calico and other renderers have met: names, numbers, text, router ids. */

const TWO = { ...nodeAt('n1', '10.0.0.1/24'), ...nodeAt('n2', '10.0.0.2/24') };
const tor = (spec: object, name = 'tor'): Stored =>
  calico('BGPPeer', name, { peerIP: '192.0.2.1', asNumber: 65001, ...spec });
const DIALECTS: readonly ModelDialect[] = ['bird1', 'bird1-calico', 'bird2'];

describe('names', () => {
  // projectcalico/bird#12
  it('two nodes with one address give one session, a warning, and everything else', () => {
    const world = worldOf({ ...TWO, ...nodeAt('twin', '10.0.0.2/24'), ...nodeAt('n4', '10.0.0.4/24') });
    expect(namesOf(world)).toEqual(['Mesh_10_0_0_2', 'Mesh_10_0_0_4']);
    expect(world.result.problems).toMatchObject([
      { id: 'duplicate-address', severity: 'warning', message: expect.stringContaining('n2, twin') },
    ]);
  });

  // pierky/arouteserver#47
  it('of protocols and functions fit into the 64 bytes that BIRD takes', () => {
    const long = 'f'.repeat(253);
    const far = 'fd00:1111:2222:3333:4444:5555:6666:7777';
    const world = worldOf({
      ...nodeAt('n1', '10.0.0.1/24', { v6: 'fd00::1/64' }),
      ...calico('BGPFilter', long, { importV6: [{ action: 'Reject' }] }),
      ...calico('BGPPeer', 'p', { peerIP: `[${far}]:65535`, asNumber: 65001, filters: [long] }),
    });
    for (const [, name] of world.text().matchAll(/^(?:protocol bgp|function|filter) '?([^'( {]+)/gm))
      expect(Buffer.byteLength(name!), name).toBeLessThanOrEqual(64);
    expect(world.text()).toMatch(/bgp_f{28}_[0-9A-F]{16}_importFilterV6/);
  });

  it.each(['team-a.filter', 'a:b', 'UPPER', "quote'd", 'sp ace', 'slash\\', 'ünï', '{{x}}', 'as', '1.2.3.4'])(
    'a BGPFilter called %s is called by the name of its function',
    (name) => {
      const world = worldOf({
        ...TWO,
        ...calico('BGPFilter', name, { importV4: [{ action: 'Reject' }] }),
        ...tor({ filters: [name] }),
      });
      const [definition] =
        world.text().match(/(?<=^function )(?:'[A-Za-z0-9_.:-]+'|\w+)(?=\(\) \{\n {2}reject)/m) ?? [];
      expect(definition).toBeDefined();
      expect(world.text().split(`${definition}();`)).toHaveLength(2);
    },
  );

  it('of two BGPFilters that look alike once cleaned are two', () => {
    const world = worldOf({
      ...TWO,
      ...calico('BGPFilter', 'a b', { importV4: [{ action: 'Reject' }] }),
      ...calico('BGPFilter', 'a_b', { importV4: [{ action: 'Accept' }] }),
      ...tor({ filters: ['a b', 'a_b'] }),
    });
    const functions = [...world.text().matchAll(/^function '?(bgp_[^'(]+)/gm)].map(([, name]) => name);
    expect(new Set(functions).size).toBe(2);
  });

  // projectcalico/calicoctl#146
  it('every session has one, so that a reload does not restart it', () => {
    for (const dialect of DIALECTS) {
      const text = worldOf(GOOD, { dialect }).text();
      for (const [, rest] of text.matchAll(/^protocol bgp (.*)$/gm))
        expect(rest).toMatch(/^\S+ from \S+ \{$/);
      for (const [, rest] of text.matchAll(/^protocol (?:kernel|static) (.*)$/gm))
        expect(rest).toMatch(/^\S+ \{$/);
    }
  });

  // projectcalico/calico#1572
  it('an upper-case node name is a name like any other', () => {
    const world = worldOf(
      { ...nodeAt('Node-One.Example', '10.0.0.1/24'), ...nodeAt('n2', '10.0.0.2/24') },
      { nodeName: 'Node-One.Example' },
    );
    expect(namesOf(world)).toEqual(['Mesh_10_0_0_2']);
    expect(world.text()).toContain('for node Node-One.Example');
  });

  it('no two protocols of a file have one name, whatever asks for sessions', () => {
    const world = worldOf(
      {
        ...nodeAt('n1', '10.0.0.1/24', { v6: 'fd00::1/64' }),
        ...nodeAt('n2', '10.0.0.2/24', { v6: 'fd00::2/64' }),
        ...tor({ peerIP: '10.0.0.2' }, 'a'),
        ...tor({ peerIP: '10.0.0.2:180' }, 'b'),
        ...tor({ peerIP: '10.0.0.2', node: 'n1' }, 'c'),
        ...tor({ peerIP: 'FD00:0:0::2' }, 'd'),
        ...tor({ peerIP: 'fd00::2', node: 'n1' }, 'e'),
      },
      { dialect: 'bird2' },
    );
    const names = namesOf(world);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => name.includes('fd00'))).toEqual(['Global_fd00__2']);
  });
});

describe('numbers', () => {
  // projectcalico/calicoctl#468
  it.each([
    [4_200_000_000, '4200000000'],
    ['4200000000', '4200000000'],
    [4_294_967_295, '4294967295'],
    ['1.10', '65546'],
    ['65535.65535', '4294967295'],
  ])('an AS number stored as %j is printed as a plain integer', (asNumber, printed) => {
    const world = worldOf({ ...TWO, ...NO_MESH, ...tor({ asNumber }) });
    expect(world.text()).toContain(`neighbor 192.0.2.1 as ${printed};`);
  });

  // projectcalico/calicoctl#476: both halves count.
  it.each(['1.65536', '65536.1', '1.', '.1', '1.1.1', '0', 0, -1, 4_294_967_296, '4.2e9', '0x10', ' 1'])(
    'an AS number stored as %j is refused, and nothing else',
    (asNumber) => {
      const world = worldOf({ ...TWO, ...tor({ asNumber }) });
      expect(namesOf(world)).toEqual(['Mesh_10_0_0_2']);
      expect(world.problemIds).toEqual(['resource-invalid']);
    },
  );

  // natesales/pathvector#58
  it('an AS number above 65535 in a standard community is refused with the remedy', () => {
    const rules = [{ action: 'Accept', operations: [{ addCommunity: { value: '211486:1' } }] }];
    const world = worldOf({ ...TWO, ...calico('BGPFilter', 'f', { exportV4: rules }) });
    expect(world.result.problems[0]?.message).toMatch(/211486:1.*needs a large community/);
    const advertised = calico('BGPConfiguration', 'default', {
      prefixAdvertisements: [{ cidr: '10.0.0.0/8', communities: ['211486:1'] }],
    });
    expect(worldOf({ ...TWO, ...advertised }).problemIds).toEqual(['resource-invalid']);
  });

  it('a network with host bits set is printed as BIRD wants it', () => {
    const world = worldOf({
      ...nodeAt('n1', '10.0.0.1/24', { v6: 'fd00::1/64' }),
      ...calico('IPPool', 'a', { cidr: '10.1.2.3/16' }),
      ...calico('IPPool', 'b', { cidr: 'FD00:10:0:0::1/48' }),
    });
    expect(world.text()).toContain('net ~ 10.1.0.0/16');
    expect(world.text()).toContain('net ~ fd00:10::/48');
  });
});

describe('text', () => {
  it('of more than 4,095 bytes, which kills BIRD 2 and 3, is in no string', () => {
    const long = 'x'.repeat(5_000);
    const world = worldOf({
      ...GOOD,
      ...secretWith('s', { k: long }),
      ...calico('BGPConfiguration', 'node.n1', { ignoredInterfaces: [long] }),
      ...calico('BGPFilter', 'x', { importV4: [{ action: 'Accept', interface: long }] }),
    });
    for (const [text] of world.text().matchAll(/"[^"\n]*"/g)) expect(text.length).toBeLessThan(1_000);
    expect(
      world
        .text()
        .split('\n')
        .every((line) => line.length < 4_000),
    ).toBe(true);
  });

  it('has no carriage returns, byte order marks, NUL or other control characters', () => {
    for (const dialect of DIALECTS)
      expect(worldOf(GOOD, { dialect }).text()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\ufeff]/);
  });

  // haproxy-style 1.x syntax on 2.x, and the reverse (pierky/arouteserver#123)
  it('is in the syntax of its dialect only', () => {
    const two = worldOf(GOOD, { dialect: 'bird2' }).text();
    const one = worldOf(GOOD).text();
    expect(two).not.toMatch(/^\s*listen bgp/m);
    expect(two).toMatch(/^ {2}ipv4 \{$/m);
    expect(one).not.toMatch(/^ {2}ipv[46] \{?/m);
    expect(one).not.toMatch(/krt_tunnel/);
  });
});

describe('router ids', () => {
  // projectcalico/calico#2229, projectcalico/node#194
  it('"hash" is computed, not printed', () => {
    const world = worldOf(TWO, { routerId: 'hash' });
    expect(world.node.routerId).toBe(hashedRouterId('n1'));
    expect(world.text()).not.toContain('router id hash');
  });

  // projectcalico/calico#5146
  it('a hash is never in a range that other vendors refuse', () => {
    for (let i = 0; i < 3_000; i += 1) {
      const first = Number(hashedRouterId(`node${i}`).split('.')[0]);
      expect(first !== 0 && first !== 127 && first < 224, `node${i}`).toBe(true);
    }
  });

  // projectcalico/node#144: the value of one DaemonSet is the same on every node.
  it('a literal one is warned about where there are other nodes, and not where it is the own address', () => {
    expect(worldOf(TWO, { routerId: '1.1.1.1' }).problemIds).toEqual(['router-id-literal']);
    expect(worldOf(TWO, { routerId: '10.0.0.2' }).problemIds).toEqual(['duplicate-router-id']);
    expect(worldOf(TWO, { routerId: '10.0.0.1' }).problemIds).toEqual([]);
    expect(worldOf(TWO, { routerId: 'hash' }).problemIds).toEqual([]);
    expect(worldOf(nodeAt('n1', '10.0.0.1/24'), { routerId: '1.1.1.1' }).problemIds).toEqual([]);
  });

  // projectcalico/calico#1204
  it('a node without IPv4 has IPv6 sessions with a hashed id, and an IPv4 file without sessions', () => {
    const world = worldOf({
      ...nodeAt('n1', undefined, { v6: 'fd00::1/64' }),
      ...nodeAt('n2', '10.0.0.2', { v6: 'fd00::2' }),
    });
    expect(namesOf(world)).toEqual(['Mesh_fd00__2']);
    const files = world.files();
    expect(files['bird.cfg']).toMatch(/no IPv4 address, so it has no IPv4 sessions/);
    for (const text of Object.values(files)) expect(text).toContain(`router id ${hashedRouterId('n1')};`);
  });
});
