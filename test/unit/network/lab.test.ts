import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parsePaths, parseSession } from '../../network/lab/bird-view.ts';
import { cut } from '../../network/lab/per-file.ts';
import { spansOf } from '../../network/lab/route-watch.ts';
import { PLAYS } from '../../network/plays.ts';

const there = (at: number, metric = '32') => ({ at, prefix: 'p', metric, isBlackhole: false, isGone: false });
const gone = (at: number, metric = '32') => ({ at, prefix: 'p', metric, isBlackhole: false, isGone: true });

describe('the watch on a kernel', () => {
  it('counts from when the last route to a network goes until one is back', () => {
    const changes = [there(0), gone(100), there(130), gone(200)];
    expect(spansOf('p', changes, false, 250)).toEqual([
      { prefix: 'p', from: 100, ms: 30, isOpen: false },
      { prefix: 'p', from: 200, ms: 50, isOpen: true },
    ]);
  });

  it('takes a route that is replaced, or of which another metric stays, for no outage', () => {
    const changes = [there(0), there(10), there(20, '64'), gone(30), gone(40, '64'), there(50)];
    expect(spansOf('p', changes, false, 60)).toEqual([{ prefix: 'p', from: 40, ms: 10, isOpen: false }]);
  });

  it('does not count the time before there was one', () => {
    expect(spansOf('p', [], false, 100)).toEqual([]);
    expect(spansOf('p', [there(40)], false, 100)).toEqual([]);
    expect(spansOf('p', [there(40), gone(70)], true, 100)).toEqual([
      { prefix: 'p', from: 40, ms: 30, isOpen: false },
    ]);
  });
});

describe('what BIRD says', () => {
  it.each([
    ['1.6', 'BGP master up 12:41:11 Established', '12:41:11', true],
    ['2.x', 'BGP --- up 12:41:11.123 Established', '12:41:11.123', true],
    ['1.6', 'BGP master start 12:41:11 Active Socket: Connection refused', '12:41:11', false],
    ['2.x', 'BGP --- start 2026-11-30 Passive', '2026-11-30', false],
  ])('of a session is read in %s', (_version, row, since, isEstablished) => {
    expect(parseSession('s', row)).toEqual({ name: 's', since, isEstablished });
  });

  it('of another protocol is none of a session', () => {
    expect(parseSession('kernel4', 'Kernel master4 up 12:41:11.123')).toBeNull();
  });

  it('of the ways to a network is read in 1.6 and 2.x', () => {
    const old = `10.244.1.0/26      via 10.99.0.2 on eth0 [Node_10_99_0_1 12:41:11 from 10.99.0.1] * (100/0) [i]
\tBGP.originator_id: 10.99.0.2
\tBGP.cluster_list: 244.0.0.1 244.0.0.2
                   via 10.99.0.2 on eth0 [Mesh_10_99_0_2 12:41:09] (100/0) [i]
\tBGP.next_hop: 10.99.0.2`;
    const via = '10.99.0.2';
    const clusterList = ['244.0.0.1', '244.0.0.2'];
    const reflected = { protocol: 'Node_10_99_0_1', isBest: true, via, originatorId: via, clusterList };
    const meshed = { protocol: 'Mesh_10_99_0_2', isBest: false, via, originatorId: null, clusterList: [] };
    expect(parsePaths(old)).toEqual([reflected, meshed]);
    const newer = `Table master4:
10.244.1.0/26        unicast [Node_10_99_0_1 12:41:11.123 from 10.99.0.1] * (100) [i]
\tvia 10.99.0.2 on eth0
\tBGP.originator_id: 10.99.0.2
\tBGP.cluster_list: 244.0.0.1 244.0.0.2`;
    expect(parsePaths(newer)).toEqual([reflected]);
    expect(parsePaths('Network not found')).toEqual([]);
  });
});

describe('a configuration cut as the confd of Calico has it', () => {
  it('has blocks and pools in files of their own, included where they stood', () => {
    const text = [
      'a;',
      '# Blocks.\nfunction export_blocks4() {\n}',
      'function export_to_peers4() {\n}',
      'b;',
    ];
    expect([...cut(text.join('\n\n'))]).toEqual([
      ['bird.cfg', 'a;\n\ninclude "bird_aggr.cfg";\ninclude "bird_ipam.cfg";\n\nb;'],
      ['bird_aggr.cfg', '# Blocks.\nfunction export_blocks4() {\n}\n'],
      ['bird_ipam.cfg', 'function export_to_peers4() {\n}\n'],
    ]);
  });
});

describe('docs/network-lab.md', () => {
  it('has a table of every play', () => {
    const page = readFileSync(new URL('../../../docs/network-lab.md', import.meta.url), 'utf8');
    const shown = [...page.matchAll(/^### `npm run demo:network -- (\S+)`$/gm)].map(([, name]) => name);
    expect(shown).toEqual(PLAYS.map(({ name }) => name));
  });
});
