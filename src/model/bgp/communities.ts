import { byText } from '../../core/order.ts';
import { familyOf } from '../calico/ip.ts';
import type { BgpConfigurationResource, Cluster, Family } from '../calico/types.ts';
import type { Problem } from '../types.ts';
import { type Statement, when } from './policy.ts';

/**
 * Communities that this node adds to what it exports. A node's own `prefixAdvertisements` replace the cluster's as a whole;
 * names are looked up in the `communities` of the same object.
 */
export function communityStatements(
  cluster: Cluster,
  nodeName: string,
  family: Family,
): { readonly statements: readonly Statement[]; readonly problems: readonly Problem[] } {
  const own = cluster.nodeConfigs.get(nodeName);
  const config = own !== undefined && own.prefixAdvertisements !== null ? own : cluster.defaultConfig;
  const problems: Problem[] = [];
  const statements: Statement[] = [];
  for (const advertisement of config?.prefixAdvertisements ?? []) {
    if (config === null || config === undefined || familyOf(advertisement.cidr) !== family) continue;
    const texts = new Set<string>();
    for (const text of advertisement.communities) {
      const literal = lookUp(config, text);
      if (literal === null)
        problems.push(unusable(config, text, 'is neither a community nor the name of one'));
      else if (isOutOfRange(literal)) problems.push(unusable(config, text, rangeMessage(literal)));
      else texts.add(literal);
    }
    if (texts.size === 0) continue;
    const add = [...texts]
      .sort(byText)
      .map((text): Statement => ({ type: 'add-community', community: text.split(':').map(Number) }));
    statements.push(when([{ type: 'net-within', prefix: advertisement.cidr }], add));
  }
  return { statements, problems };
}

const LITERAL = /^\d{1,10}:\d{1,10}(:\d{1,10})?$/;

function lookUp(config: BgpConfigurationResource, text: string): string | null {
  if (LITERAL.test(text)) return text;
  const named = config.communities?.find((community) => community.name === text)?.value ?? '';
  return LITERAL.test(named) ? named : null;
}

/** BIRD refuses the whole file when a part of a standard community needs more than 16 bits. */
function isOutOfRange(literal: string): boolean {
  const parts = literal.split(':').map(Number);
  const limit = parts.length === 2 ? 65_535 : 4_294_967_295;
  return parts.some((part) => part > limit);
}

function rangeMessage(literal: string): string {
  return literal.split(':').length === 2
    ? 'has a part above 65535; write a large community (three parts) for a 4-byte AS'
    : 'has a part above 4294967295';
}

function unusable(config: BgpConfigurationResource, text: string, what: string): Problem {
  return {
    severity: 'error',
    id: 'community-unusable',
    subject: `BGPConfiguration/${config.name}`,
    field: 'spec.prefixAdvertisements',
    message: `${JSON.stringify(text)} ${what}; it is left out`,
  };
}
