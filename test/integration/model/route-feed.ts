import type { FamilyModel } from '../../../src/model/bgp/types.ts';
import { contains, networkOf, parseCidr } from '../../../src/model/calico/ip.ts';
import { type Family, type Feed, gatewayOn } from './bird-lab.ts';

/** What the lab itself uses (a wider network does no harm to it), and what no kernel or BIRD takes as a route. */
const TAKEN: Readonly<Record<Family, readonly string[]>> = {
  4: ['10.99.0.0/16', '10.200.0.0/16', '127.0.0.0/8', '224.0.0.0/3', '0.0.0.0/8'],
  6: ['fd99::/16', 'fd20::/16', 'fe80::/10', 'ff00::/8', '::/8'],
};
const MAX_ROUTES = 36;

/** Routes around every network that a family's policies mention: it, a host in it, half of it, twice as much. */
export function feedAround(model: FamilyModel): Feed {
  const { family } = model;
  const bits = family === 4 ? 32 : 128;
  const nets = new Set<string>();
  for (const [, text] of JSON.stringify(model).matchAll(/"([0-9a-f.:]+\/\d+)"/g)) {
    const cidr = parseCidr(text!);
    if (!cidr.ok || cidr.value.family !== family) continue;
    const { length, address } = cidr.value;
    for (const longer of [length, bits, length + 1, length - 1, length + 8])
      if (longer >= 8 && longer <= bits) nets.add(networkOf(address.text, longer));
  }
  nets.add(family === 4 ? '203.0.113.0/24' : 'fd03:113::/48');
  const usable = [...nets].filter((net) => TAKEN[family].every((taken) => !contains(taken, net)));
  return feedOf(usable.slice(0, MAX_ROUTES), family);
}

/** Every third route comes by another way, with attributes that change from one to the next. */
function feedOf(nets: readonly string[], family: Family): Feed {
  const feed = {
    static: [] as Feed['static'][number][],
    bgp: [] as Feed['bgp'][number][],
    kernel: [] as Feed['kernel'][number][],
  };
  const hop = (n: number): string => (family === 4 ? `10.99.0.${n}` : `fd99::${n}`);
  const far = family === 4 ? '10.0.0.2' : 'fd00::2';
  const paths = ['', 'bgp_path.prepend(65002); bgp_path.prepend(65001);', 'bgp_path.prepend(65009);'];
  const preferences = [
    '',
    'bgp_local_pref = 2147482623;',
    'bgp_local_pref = 2147483646;',
    'bgp_local_pref = 3000000000;',
  ];
  const communities = [
    '',
    'bgp_community.add((65000,1));',
    'bgp_large_community.add((1,2,3));',
    'bgp_community.add((64999,1));',
  ];
  const metrics = ['', 'krt_metric = 512;', 'krt_metric = 1024;', 'krt_metric = 4000000000;'];
  const targets = [
    'blackhole',
    `via ${gatewayOn('cali1', family)}`,
    `via ${gatewayOn('bpfout.cali', family)}`,
    `via ${gatewayOn('vxlan.calico', family)}`,
  ];
  const pick = (list: readonly string[], by: number): string => list[by % list.length]!;
  for (const [index, net] of nets.entries()) {
    const round = Math.floor(index / 3);
    const attributes = [pick(communities, round), pick(preferences, round + 1)];
    if (index % 3 === 0)
      feed.static.push({
        net,
        target: pick(targets, round),
        set: [...attributes, pick(metrics, round)].join(' '),
      });
    else if (index % 3 === 1)
      feed.bgp.push({
        net,
        set: [`bgp_next_hop = ${round % 2 === 0 ? hop(3) : far};`, pick(paths, round), ...attributes].join(
          ' ',
        ),
      });
    else
      feed.kernel.push({
        net,
        device: round % 2 === 0 ? 'cali1' : 'tunl9',
        metric: [512, 1024, 77][round % 3]!,
      });
  }
  return feed;
}
