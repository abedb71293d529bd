import type { BlockAffinityResource, Family, IpPoolResource } from '../calico/types.ts';
import type { CompatOptions } from './options.ts';
import {
  accept,
  COMPLEMENT_BASE,
  call,
  type Match,
  type NumberAttribute,
  not,
  type PolicyFunction,
  reject,
  type Statement,
  when,
} from './policy.ts';
import type { ServiceRoutes } from './services.ts';

/** The preference of routes that must win over a node's own static ones (those have 200 too, and lose on metric). */
export const ELEVATED_PREFERENCE = 200;

/** The functions and filters of one family that sessions and other functions refer to. */
export function policyNames(family: Family) {
  return {
    raisePreference: `raise_elevated_routes${family}`,
    setPriority: `set_route_priority${family}`,
    addCommunities: `add_communities${family}`,
    exportBlocks: `export_blocks${family}`,
    exportToPeers: `export_to_peers${family}`,
    importFilter: `import_routes${family}`,
    exportInternal: `export_internal${family}`,
    exportExternal: `export_external${family}`,
    kernelFilter: `kernel_routes${family}`,
  } as const;
}

export interface ExportInputs {
  readonly family: Family;
  readonly pools: readonly IpPoolResource[];
  readonly blocks: readonly BlockAffinityResource[];
  readonly services: ServiceRoutes;
  readonly communities: readonly Statement[];
  readonly normalPriority: number;
  readonly isReflector: boolean;
  /** BIRD puts IPIP routes into the kernel itself, so it sees them on the tunnel device and must not hold them back. */
  readonly programsTunnels: boolean;
  readonly compat: CompatOptions;
}

/** All shared functions of one family, each before those that call it. */
export function sharedFunctions(inputs: ExportInputs): readonly PolicyFunction[] {
  const names = policyNames(inputs.family);
  const functions: PolicyFunction[] = [
    {
      name: names.raisePreference,
      takesInternal: false,
      comment: `Routes with a priority better than normal (${inputs.normalPriority}) win over others: live migration.`,
      body: [
        when(
          [
            {
              type: 'number',
              attribute: 'local-pref',
              operator: '>',
              value: COMPLEMENT_BASE - inputs.normalPriority,
            },
          ],
          [{ type: 'set-number', attribute: 'preference', value: ELEVATED_PREFERENCE }],
        ),
      ],
    },
    {
      name: names.setPriority,
      takesInternal: false,
      comment:
        'Carries a route priority (a metric, lower is better) in the local preference (higher is better).',
      body: priorityStatements(inputs),
    },
  ];
  if (inputs.communities.length > 0)
    functions.push({
      name: names.addCommunities,
      takesInternal: false,
      comment: 'BGPConfiguration prefixAdvertisements.',
      body: inputs.communities,
    });
  const aggregation = aggregationStatements(inputs);
  if (aggregation.length > 0)
    functions.push({
      name: names.exportBlocks,
      takesInternal: false,
      comment: 'Blocks of this node: the block goes out, the addresses in it do not.',
      body: aggregation,
    });
  functions.push({
    name: names.exportToPeers,
    takesInternal: true,
    comment: 'What this node exports to its peers; what is not accepted here is rejected by the caller.',
    body: exportStatements(inputs, aggregation.length > 0),
  });
  return functions;
}

function priorityStatements({ normalPriority, compat }: ExportInputs): readonly Statement[] {
  return [
    when(
      [
        { type: 'source', source: 'bgp' },
        { type: 'defined', attribute: 'local-pref' },
      ],
      complement('metric', 'local-pref', compat),
      {
        otherwise: [
          when(
            [not({ type: 'defined', attribute: 'metric' })],
            [{ type: 'set-number', attribute: 'metric', value: normalPriority }],
          ),
          ...complement('local-pref', 'metric', compat),
        ],
      },
    ),
  ];
}

/**
 * attribute := 2147483647 - of. BIRD counts in unsigned 32 bits, so a greater number than that would come out as a huge
 * one: the most preferred route as the least. Held at zero instead, unless Calico's wrapping is asked for.
 */
export function complement(
  attribute: NumberAttribute,
  of: NumberAttribute,
  compat: CompatOptions,
): readonly Statement[] {
  const plain: Statement = { type: 'set-complement', attribute, of };
  if (compat.priorityWraps) return [plain];
  return [
    when(
      [{ type: 'number', attribute: of, operator: '>', value: COMPLEMENT_BASE }],
      [{ type: 'set-number', attribute, value: 0 }],
      { otherwise: [plain] },
    ),
  ];
}

function exportStatements(inputs: ExportInputs, hasBlocks: boolean): readonly Statement[] {
  const { pools, services } = inputs;
  const names = policyNames(inputs.family);
  const statements: Statement[] = pools
    .filter((pool) => pool.disableBgpExport)
    .map((pool) =>
      when([within(pool.cidr)], [reject], { comment: `IPPool ${pool.name}: BGP export is disabled.` }),
    );
  const tunnels = inputs.programsTunnels ? [] : ['tunl0'];
  for (const pattern of ['*.cali', '*.calico', ...tunnels])
    statements.push(when([{ type: 'internal' }, { type: 'interface', pattern }], [reject]));
  statements.push(when([{ type: 'interface', pattern: 'bpf*.cali' }], [reject]));
  if (inputs.communities.length > 0) statements.push(call(names.addCommunities));
  if (hasBlocks) statements.push(call(names.exportBlocks));
  statements.push(...acceptWithin(services.advertised, 'Services.'));
  if (inputs.isReflector)
    statements.push(...acceptWithin(services.reflected, 'Service addresses of route reflector clients.'));
  for (const pool of pools)
    if (!pool.disableBgpExport)
      statements.push(when([within(pool.cidr)], [accept], { comment: `IPPool ${pool.name}.` }));
  return statements;
}

function within(prefix: string): Match {
  return { type: 'net-within', prefix };
}

function acceptWithin(prefixes: readonly string[], comment: string): readonly Statement[] {
  return prefixes.length === 0 ? [] : [when([{ type: 'net-within-any', prefixes }], [accept], { comment })];
}

/** A single address with an elevated priority is a workload in live migration and passes. */
function aggregationStatements({ blocks, normalPriority }: ExportInputs): readonly Statement[] {
  return blocks
    .filter((block) => block.state === 'confirmed')
    .flatMap((block) => [
      when([{ type: 'net-equal', prefix: block.cidr }], [accept], {
        comment: block.implicit ? 'Block is implicitly confirmed.' : 'Block is confirmed.',
      }),
      when(
        [within(block.cidr), { type: 'number', attribute: 'metric', operator: '<', value: normalPriority }],
        [accept],
      ),
      when([within(block.cidr)], [reject]),
    ]);
}
