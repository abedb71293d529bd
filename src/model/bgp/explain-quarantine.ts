import type { Cluster, Quarantined } from '../calico/types.ts';
import type { Finding } from './explain-types.ts';

/** What is wrong with a resource, if something is. */
export function quarantineFindings(
  kind: Quarantined['kind'],
  name: string,
  { quarantined }: Cluster,
): readonly Finding[] {
  return quarantined
    .filter((bad) => bad.kind === kind && bad.name === name)
    .map((bad) => ({
      family: null,
      resource: `${kind}/${name}`,
      rule: null,
      outcome: 'quarantined',
      session: null,
      ends: null,
      message: faultOf(bad),
    }));
}

/** Quarantined resources of other kinds than those that sessions are explained by, as `NAME` or `KIND/NAME`. */
export function quarantinedSubjects(
  text: string,
  { quarantined }: Cluster,
): readonly Pick<Quarantined, 'kind' | 'name'>[] {
  return quarantined
    .filter(({ kind }) => kind !== 'BGPPeer' && kind !== 'Node')
    .filter(({ kind, name }) => text === name || text.toLowerCase() === `${kind}/${name}`.toLowerCase());
}

/** Why the settings of the whole cluster may not be what somebody set. */
export function configurationNotes({ quarantined }: Cluster): readonly string[] {
  return quarantined
    .filter(({ kind, name }) => kind === 'BGPConfiguration' && name === 'default')
    .map((bad) => `BGPConfiguration default is quarantined: ${faultOf(bad)}`);
}

function faultOf({ message, lastGoodUsed }: Quarantined): string {
  return `${message}; ${lastGoodUsed ? 'its last good version is used' : 'it is left out'}`;
}
