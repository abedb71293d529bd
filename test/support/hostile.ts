import { calicoKey, endpointStatusKey, kubernetesKey } from '../../src/datastore/keys.ts';
import type { Stored } from './calico.ts';

type Random = () => number;

/** A word and a prefix that only injected statements hold: whoever finds them outside a string or a comment has found a hole. */
export const INTRUDER = 'evil_marker';
export const INTRUDING_PREFIX = '203.0.113.66';

const STATEMENT = `protocol static ${INTRUDER} { route ${INTRUDING_PREFIX}/32 blackhole; }`;
const STATEMENT2 = `protocol static ${INTRUDER} { ipv4; route ${INTRUDING_PREFIX}/32 blackhole; }`;

/** Ways out of a string, a comment, a name or a statement, and what else has broken parsers. */
const PAYLOADS: readonly string[] = [
  `"; } ${STATEMENT} #`,
  `"; ${STATEMENT2} /*`,
  `'; } ${STATEMENT} #`,
  `\n} ${STATEMENT}\n`,
  `\n${STATEMENT2}\n#`,
  `\r${STATEMENT}\r`,
  `\r\n${STATEMENT}`,
  `\u2028${STATEMENT}`,
  `\u0085${STATEMENT}`,
  `\u0000${STATEMENT}`,
  `*/ ${STATEMENT} /*`,
  `# ${STATEMENT}`,
  `\\"; ${STATEMENT}`,
  `"\n${STATEMENT}\n"`,
  `; accept; } ${STATEMENT} filter f {`,
  ` accept; ${STATEMENT}`,
  `; include "/etc/passwd";`,
  `"; include "/dev/zero"; #`,
  `{{ 7 * 7 }}${INTRUDER}`,
  `{% include "bird.conf.njk" %}`,
  `{{ constructor.constructor("return process")() }}`,
  '$HOME',
  '$(touch /tmp/evil_marker)',
  '`touch /tmp/evil_marker`',
  '; touch /tmp/evil_marker',
  '../../../etc/passwd',
  '%n%s%x',
  '\ufeff',
  '\u202e',
  '\ud800',
  '\t',
  ' ',
  '',
  '"',
  "'",
  '\\',
  '\u007f',
  '\u001b[2J',
  'é',
  '日本',
  '\u{1f9e8}',
];

const WORDS: readonly string[] = [
  'protocol',
  'bgp',
  'filter',
  'function',
  'all',
  'none',
  'default',
  'self',
  'if',
  'then',
  'accept',
  'true',
  'net',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  '-',
  '_',
  '.',
  '..',
  '*',
  '?',
  '0',
  '-1',
  '1e9',
  '1.10',
  '65536.65536',
  '4294967296',
  '0x10',
  '023',
  '9'.repeat(400),
  'a:b',
  '1:2:3:4',
  '65535:65536',
  '4294967295:4294967295:4294967295',
  '0.0.0.0',
  '255.255.255.255',
  '0.0.0.0/0',
  '::/0',
  '10.0.0.1/33',
  '10.0.0.1/24',
  '10.0.0.1/024',
  '010.0.0.1',
  '10.1',
  '::ffff:10.0.0.1',
  'fe80::1%eth0',
  'fe80::1',
  '2001:db8::/129',
  '[::1]:179',
  '10.0.0.1:0',
  '10.0.0.1:99999',
  '224.0.0.1',
  '127.0.0.1',
  'has(',
  '!!',
  'a == "b',
  `has(a) || "${'('.repeat(50)}`,
];

const LENGTHS = [63, 64, 65, 80, 81, 255, 256, 999, 1_000, 1_001, 4_095, 4_096, 5_000, 70_000];

export function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!;
}

/** A string that somebody may have stored in place of `good`. */
function mutatedText(random: Random, good: string): string {
  const at = Math.floor(random() * (good.length + 1));
  switch (Math.floor(random() * 9)) {
    case 0:
      return good.slice(0, at) + pick(random, PAYLOADS) + good.slice(at);
    case 1:
      return good + pick(random, PAYLOADS);
    case 2:
      return pick(random, PAYLOADS) + good;
    case 3:
      return pick(random, WORDS);
    case 4:
      return pick(random, PAYLOADS) + pick(random, PAYLOADS);
    case 5:
      return good.slice(0, at) + good.slice(at + 1 + Math.floor(random() * 3));
    case 6:
      return good.slice(0, at) + String.fromCharCode(Math.floor(random() * 256)) + good.slice(at + 1);
    case 7:
      return pick(random, [good || 'x', 'x', '"', 'é', '\\']).repeat(
        Math.ceil(pick(random, LENGTHS) / Math.max(1, good.length)),
      );
    default:
      return good.toUpperCase() + good;
  }
}

/** Now and then something of another type. */
function wrongType(random: Random): unknown {
  return pick<unknown>(random, [
    null,
    true,
    0,
    -1,
    1.5,
    4_294_967_296,
    [],
    {},
    [null],
    [[]],
    { a: 'x' },
    ['x', 1],
  ]);
}

export interface Batch {
  readonly entries: readonly Stored[];
  /** How many resources, and how many strings in them are not what they should be. */
  readonly resources: number;
  /** How many resources have at least one such string. */
  readonly mutated: number;
  readonly mutations: number;
}

/** About `size` resources of all kinds, of which node `a` alone is as it should be. */
export function hostileBatch(random: Random, size: number): Batch {
  let mutations = 0;
  /** `good`, or with some probability something else. */
  const text = (good: string): unknown => {
    if (random() > 0.12) return good;
    mutations += 1;
    return random() < 0.08 ? wrongType(random) : mutatedText(random, good);
  };
  const maybe = (make: () => object): object => (random() < 0.5 ? make() : {});
  const digit = (below: number): number => Math.floor(random() * below);
  const names = new Set<string>();
  const name = (good: string): string => {
    const value = random() > 0.25 ? good : mutatedText(random, good);
    if (value !== good) mutations += 1;
    // A key ends where the next segment begins; sources refuse other names before the model sees them.
    const usable = value.replaceAll('/', '_') || good;
    if (names.has(usable)) return good;
    names.add(usable);
    return usable;
  };
  const resource = (
    kind: Parameters<typeof calicoKey>[0],
    called: string,
    spec: object,
    more: object = {},
  ): Stored => [
    calicoKey(kind, called),
    JSON.stringify({ kind, apiVersion: 'projectcalico.org/v3', metadata: { name: called, ...more }, spec }),
  ];
  const entries: Stored[] = [
    resource(
      'Node',
      'a',
      { bgp: { ipv4Address: '10.0.0.1/16', ipv6Address: 'fd00::1/64' } },
      { labels: { rack: 'r1' } },
    ),
  ];
  const kinds: readonly ((i: number) => Stored)[] = [
    (i) =>
      resource(
        'Node',
        name(`node-${i}`),
        {
          bgp: {
            ipv4Address: text(`10.0.${1 + (i >> 8)}.${i & 255}/16`),
            ...maybe(() => ({ ipv6Address: text(`fd00::${(i + 2).toString(16)}/64`) })),
            ...maybe(() => ({ asNumber: text(String(64_512 + digit(3))) })),
            ...(random() < 0.2 ? { routeReflectorClusterID: text('244.0.0.1') } : {}),
            ...maybe(() => ({ ipv4IPIPTunnelAddr: text('192.168.0.1') })),
          },
          ...maybe(() => ({ wireguard: { interfaceIPv4Address: text('192.168.9.9') } })),
        },
        { labels: { [String(text('rack'))]: text('r1') }, annotations: { note: text('x') } },
      ),
    (i) =>
      resource('BGPPeer', name(`peer-${i}`), {
        ...maybe(() => (random() < 0.5 ? { node: text('a') } : { nodeSelector: text("rack == 'r1'") })),
        ...(random() < 0.7
          ? {
              peerIP: text(
                pick(random, [`172.16.${i & 255}.1`, `fd01::${i.toString(16)}`, `172.17.${i & 255}.1:1790`]),
              ),
              asNumber: text(String(65_000 + digit(9))),
            }
          : { peerSelector: text("rack == 'r1'") }),
        ...maybe(() => ({
          password: { secretKeyRef: { name: text('bgp'), key: text(`key-${digit(20)}`) } },
        })),
        ...maybe(() => ({ filters: [text(`filter-${digit(30)}`), text('filter-1')] })),
        ...(random() < 0.2 ? { maxRestartTime: text('90s') } : {}),
        ...(random() < 0.2 ? { keepaliveTime: text('20s') } : {}),
        ...(random() < 0.2 ? { sourceAddress: text('None') } : {}),
        ...(random() < 0.2 ? { nextHopMode: text('Self') } : {}),
        ...(random() < 0.2 ? { reachableBy: text('172.16.0.254') } : {}),
        ...(random() < 0.2 ? { ttlSecurity: text('2') === '2' ? 2 : wrongType(random) } : {}),
        ...(random() < 0.2 ? { localASNumber: text('65100') } : {}),
        ...(random() < 0.2 ? { reversePeering: text('Manual') } : {}),
      }),
    (i) => {
      const rules = (v: 4 | 6): object[] =>
        Array.from({ length: 1 + digit(3) }, () => ({
          action: text('Accept'),
          ...maybe(() => ({ cidr: text(v === 4 ? '10.9.0.0/16' : 'fd09::/32'), matchOperator: text('In') })),
          ...maybe(() => ({ interface: text('eth*') })),
          ...maybe(() => ({ source: text('RemotePeers') })),
          ...(random() < 0.3 ? { communities: { values: [text('65000:1')] } } : {}),
          ...(random() < 0.3 ? { asPathPrefix: [text('65000')] } : {}),
          ...(random() < 0.3
            ? {
                operations: [
                  { addCommunity: { value: text('65000:1:2') } },
                  { setPriority: { value: text('100') } },
                ],
              }
            : {}),
        }));
      return resource('BGPFilter', name(`filter-${i % 40}`), {
        importV4: rules(4),
        exportV4: rules(4),
        importV6: rules(6),
        exportV6: rules(6),
      });
    },
    (i) =>
      resource('IPPool', name(`pool-${i}`), {
        cidr: text(random() < 0.5 ? `192.${i & 255}.0.0/16` : `fd10:${(i & 255).toString(16)}::/48`),
        ipipMode: text('Never'),
        vxlanMode: text('CrossSubnet'),
        nodeSelector: text('all()'),
      }),
    (i) => [
      kubernetesKey('Secret', 'kube-system', i % 5 === 0 ? 'bgp' : name(`secret-${i}`)),
      JSON.stringify({
        kind: 'Secret',
        metadata: { name: text('bgp'), namespace: 'kube-system' },
        data: Object.fromEntries(
          Array.from({ length: 20 }, (_, key) => [
            `key-${key}`,
            Buffer.from(String(text(`password-${key}`))).toString('base64'),
          ]),
        ),
      }),
    ],
    (i) => [
      `/calico/ipam/v2/host/${name(random() < 0.5 ? 'a' : `node-${i}`)}/ipv4/block/${String(text(`192.168.${i & 255}.0-26`)).replaceAll('/', '_')}`,
      random() < 0.9 ? '{"state":"confirmed","deleted":false}' : JSON.stringify({ state: text('confirmed') }),
    ],
    (i) => [
      kubernetesKey('Service', 'default', name(`service-${i}`)),
      JSON.stringify({
        kind: 'Service',
        metadata: { name: `service-${i}`, namespace: 'default' },
        spec: {
          type: text('LoadBalancer'),
          clusterIP: text(`10.96.${i & 255}.1`),
          externalIPs: [text('198.51.100.1')],
          externalTrafficPolicy: text('Cluster'),
        },
        status: { loadBalancer: { ingress: [{ ip: text('198.51.100.9') }] } },
      }),
    ],
    (i) => [
      endpointStatusKey(name(`status-${i}`)),
      JSON.stringify({ bgpPeerName: text('peer-1'), ipv4Nets: [text('10.8.0.1/32')] }),
    ],
  ];
  const weights = [0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7];
  let mutated = 0;
  for (let i = 1; entries.length < size - 1; i += 1) {
    const before = mutations;
    entries.push(kinds[pick(random, weights)]!(i));
    if (mutations > before) mutated += 1;
  }
  entries.push(
    resource('BGPConfiguration', 'default', {
      nodeToNodeMeshEnabled: true,
      asNumber: text('64512'),
      logSeverityScreen: text('Info'),
      ignoredInterfaces: [text('docker*'), text('cali*')],
      communities: [{ name: text('c1'), value: text('65000:300') }],
      prefixAdvertisements: [{ cidr: text('192.168.0.0/16'), communities: [text('c1'), text('65000:9:9')] }],
      serviceClusterIPs: [{ cidr: text('10.96.0.0/12') }],
      serviceExternalIPs: [{ cidr: text('198.51.100.0/24') }],
      nodeMeshMaxRestartTime: text('120s'),
      ...(random() < 0.5
        ? { nodeMeshPassword: { secretKeyRef: { name: text('bgp'), key: text('key-1') } } }
        : {}),
    }),
  );
  return { entries, resources: entries.length, mutated, mutations };
}

export interface Lexed {
  /** Bare words, in order. */
  readonly words: readonly string[];
  /** What is defined outside all braces, each up to its brace: `protocol bgp Mesh_10_0_0_2 from bgp_template`. */
  readonly definitions: readonly string[];
  /** Statements that end in a semicolon outside all braces, by their first word. */
  readonly statements: readonly string[];
  readonly longestString: number;
  /** Braces that do not match, a string or comment without an end. */
  readonly broken: boolean;
}

const TOKEN =
  /#[^\n]*|\/\*[\s\S]*?\*\/|"([^"\n]*)"|'[A-Za-z0-9_.:-]*'|[A-Za-z_][A-Za-z0-9_]*|[0-9][0-9a-fA-F.:]*|\s+|[\s\S]/g;

/** Reads a configuration as BIRD's lexer does: comments, strings, quoted names, words. Independent of the templates. */
export function lexBird(text: string): Lexed {
  const [words, definitions, statements]: string[][] = [[], [], []];
  let [depth, longestString, broken] = [0, 0, false];
  let top: string[] = [];
  for (const [token, string] of text.matchAll(TOKEN)) {
    const isComment = token.startsWith('#') || token.startsWith('/*');
    if (isComment || /^\s/.test(token)) continue;
    if (string !== undefined) longestString = Math.max(longestString, Buffer.byteLength(string));
    else if (/^[A-Za-z_0-9]/.test(token)) words!.push(token);
    else if (token === '"' || token === "'" || (token === '}' && depth === 0)) broken = true;
    if (token === '{') {
      if (depth === 0) definitions!.push(top.join(' '));
      depth += 1;
    } else if (token === '}') {
      depth -= 1;
      if (depth === 0) top = [];
    } else if (depth === 0 && token === ';') {
      if (top.length > 0) statements!.push(top[0]!);
      top = [];
    } else if (depth === 0) top.push(token);
  }
  return {
    words: words!,
    definitions: definitions!,
    statements: statements!,
    longestString,
    broken: broken || depth !== 0 || top.length > 0,
  };
}
