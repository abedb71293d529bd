import { isSingle } from '../calico/ip.ts';
import type { ClusterRouteProgramming, Family, IpPoolResource } from '../calico/types.ts';
import type { Problem } from '../types.ts';
import { complement, ELEVATED_PREFERENCE } from './export-policy.ts';
import type { ModelOptions } from './options.ts';
import { accept, not, reject, type Statement, when } from './policy.ts';

/** Which cluster routes BIRD programs into the kernel; the others are Felix's. */
export interface RouteOwnership {
  readonly noEncap: boolean;
  readonly ipip: boolean;
}

export function routeOwnership(programming: ClusterRouteProgramming | null): RouteOwnership {
  switch (programming) {
    case 'Disabled':
      return { noEncap: false, ipip: false };
    case 'EnabledIPIPOnly':
      return { noEncap: false, ipip: true };
    case 'Enabled':
      return { noEncap: true, ipip: true };
    default:
      return { noEncap: true, ipip: false };
  }
}

export interface KernelInputs {
  readonly family: Family;
  readonly pools: readonly IpPoolResource[];
  readonly ownership: RouteOwnership;
  readonly normalPriority: number;
  readonly keptFromKernel: readonly string[];
  /** The subnet this node's address was given with, that address alone if with none; null without an address. */
  readonly subnet: string | null;
  /** BGP addresses of nodes that this one reaches through WireGuard: Felix programs routes to them. */
  readonly wireguardPeers: readonly string[];
  readonly options: ModelOptions;
}

/** The export filter of the kernel protocol. */
export function kernelStatements(inputs: KernelInputs): readonly Statement[] {
  const { keptFromKernel, wireguardPeers } = inputs;
  const statements: Statement[] = [];
  // BIRD 2 exports the networks of interfaces to the kernel, which has them already; 1.6 does not.
  if (inputs.options.dialect === 'bird2')
    statements.push(
      when([{ type: 'source', source: 'device' }], [reject], { comment: 'The kernel has these.' }),
    );
  if (keptFromKernel.length > 0)
    statements.push(
      when([{ type: 'net-within-any', prefixes: keptFromKernel }], [reject], {
        comment: 'Service addresses.',
      }),
    );
  statements.push(...metricStatements(inputs));
  if (wireguardPeers.length > 0)
    statements.push(
      when([{ type: 'next-hop-in-list', addresses: wireguardPeers }], [reject], {
        comment: 'Reached through WireGuard.',
      }),
    );
  if (inputs.family === 4 && inputs.subnet === null && inputs.options.compat.kernelFilterNeedsSubnet)
    return [...statements, accept];
  return [...statements, ...inputs.pools.flatMap((pool) => poolStatements(pool, inputs)), accept];
}

/** Routes from BGP get the metric that their local preference stands for; better ones than normal win over others. */
function metricStatements({ normalPriority, options }: KernelInputs): readonly Statement[] {
  return [
    when(
      [{ type: 'source', source: 'bgp' }, not({ type: 'defined', attribute: 'metric' })],
      [
        when(
          [{ type: 'defined', attribute: 'local-pref' }],
          complement('metric', 'local-pref', options.compat),
          {
            otherwise: [{ type: 'set-number', attribute: 'metric', value: normalPriority }],
          },
        ),
        when(
          [{ type: 'number', attribute: 'metric', operator: '<', value: normalPriority }],
          [{ type: 'set-number', attribute: 'preference', value: ELEVATED_PREFERENCE }],
        ),
      ],
    ),
  ];
}

function poolStatements(pool: IpPoolResource, inputs: KernelInputs): readonly Statement[] {
  const within = { type: 'net-within', prefix: pool.cidr } as const;
  const left = (to: string): readonly Statement[] => [
    when([within], [reject], { comment: `IPPool ${pool.name}: ${to}` }),
  ];
  if (pool.vxlanMode !== 'Never') return left('VXLAN routes are handled by Felix.');
  const ipip = pool.ipipMode !== 'Never';
  if (ipip ? !inputs.ownership.ipip : !inputs.ownership.noEncap)
    return left('cluster routes are handled by Felix.');
  // IPv6 has no IPIP, and accepting is the default.
  if (inputs.family === 6) return [];
  if (!ipip) return [when([within], [accept], { comment: `IPPool ${pool.name}.` })];
  return tunnelStatements(pool, inputs);
}

function tunnelStatements(pool: IpPoolResource, inputs: KernelInputs): readonly Statement[] {
  const capable = inputs.options.dialect === 'bird1-calico';
  const tunnelled: readonly Statement[] = capable
    ? [{ type: 'set-tunnel', device: 'tunl0' }, accept]
    : [reject];
  const direct: readonly Statement[] = capable ? [{ type: 'set-tunnel', device: null }, accept] : [accept];
  const sameSubnet = pool.ipipMode === 'CrossSubnet' && inputs.subnet !== null;
  return [
    when(
      [{ type: 'net-within', prefix: pool.cidr }],
      sameSubnet
        ? [when([{ type: 'next-hop-within', prefix: inputs.subnet! }], direct, { otherwise: tunnelled })]
        : tunnelled,
      { comment: `IPPool ${pool.name}: IPIP ${pool.ipipMode}.` },
    ),
  ];
}

/** What this dialect of BIRD cannot do about the pools. */
export function kernelProblems(inputs: KernelInputs): readonly Problem[] {
  if (!inputs.ownership.ipip || inputs.family === 6) return [];
  const problems: Problem[] = [];
  for (const pool of inputs.pools) {
    if (pool.ipipMode === 'Never' || pool.vxlanMode !== 'Never') continue;
    if (inputs.options.dialect !== 'bird1-calico')
      problems.push({
        severity: 'error',
        id: 'tunnel-unsupported',
        subject: `IPPool/${pool.name}`,
        field: 'spec.ipipMode',
        message:
          "only Calico's fork of BIRD 1.6 can program IPIP routes; tunnelled routes are left out: set programClusterRoutes to EnabledNoEncapOnly and let Felix program them, or use the dialect bird1-calico",
      });
    else if (pool.ipipMode === 'CrossSubnet' && (inputs.subnet === null || isSingle(inputs.subnet)))
      problems.push({
        severity: 'warning',
        id: 'node-subnet-unknown',
        subject: `IPPool/${pool.name}`,
        field: 'spec.ipipMode',
        message: "this node's address has no prefix length, so every route is tunnelled; write it as a CIDR",
      });
  }
  return problems;
}
