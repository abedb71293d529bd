import { byText } from '../../core/order.ts';
import { familyOf } from '../calico/ip.ts';
import { isCommunityLiteral } from '../calico/scalars.ts';
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
  if (config === null) return { statements, problems };
  for (const advertisement of config.prefixAdvertisements ?? []) {
    if (familyOf(advertisement.cidr) !== family) continue;
    const texts = new Set<string>();
    for (const text of advertisement.communities) {
      const literal = lookUp(config, text);
      if (literal === null) problems.push(unknown(config, text));
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

/** Literals and the values of names were checked when the resource was read. */
function lookUp(config: BgpConfigurationResource, text: string): string | null {
  if (isCommunityLiteral(text)) return text;
  return config.communities?.find((community) => community.name === text)?.value ?? null;
}

function unknown(config: BgpConfigurationResource, text: string): Problem {
  return {
    severity: 'error',
    id: 'community-unknown',
    subject: `BGPConfiguration/${config.name}`,
    field: 'spec.prefixAdvertisements',
    message: `${JSON.stringify(text)} is neither a community nor the name of one in spec.communities; it is left out`,
  };
}
