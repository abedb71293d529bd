import { blockOf, calico, nodeAt, type Stored } from '../../../unit/model/parity/support.ts';

/** One change, and what the configuration then has and has not. */
export interface Step {
  readonly what: string;
  /** `undefined` deletes. */
  readonly put?: Stored;
  /** Secrets by name; `null` deletes. */
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>> | null>>;
  /** Status files of workloads by name; `null` deletes. */
  readonly statuses?: Readonly<Record<string, object | null>>;
  readonly has: readonly RegExp[];
  readonly not?: readonly RegExp[];
}

/** Changes one after the other under one running birdfeed, from whichever datastore. */
export interface Scenario {
  readonly name: string;
  readonly asCalico?: boolean;
  readonly start: Stored;
  readonly steps: readonly Step[];
}

export const gone = (values: Stored): Stored =>
  Object.fromEntries(Object.keys(values).map((key) => [key, undefined]));
export const cluster = (spec: object): Stored => calico('BGPConfiguration', 'default', spec);
export const peer = (spec: object): Stored =>
  calico('BGPPeer', 'p', { peerIP: '192.0.2.1', asNumber: 65001, ...spec });

export const MESH = {
  ...nodeAt('n1', '10.0.0.1/24', { v6: 'fd00::1/64' }),
  ...nodeAt('n2', '10.0.0.2/24', { v6: 'fd00::2/64', labels: { rack: 'a' } }),
  ...nodeAt('n3', '10.0.0.3/24', { labels: { rack: 'b' } }),
  ...nodeAt('n4', '10.0.0.4/24'),
  ...calico('IPPool', 'pods', { cidr: '10.244.0.0/16' }),
  ...blockOf('n1', '10.244.1.0/26'),
};
