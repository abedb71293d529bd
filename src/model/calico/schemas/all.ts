import type { ResourceKind } from '../types.ts';
import type { Schema, Stored } from './build.ts';
import {
  bgpConfigurationSchema,
  bgpFilterSchema,
  bgpPeerSchema,
  blockAffinitySchema,
  endpointStatusSchema,
  ipPoolSchema,
  nodeSchema,
} from './calico.ts';
import { endpointSliceSchema, secretSchema, serviceSchema } from './kubernetes.ts';

/** The schema of each kind's stored value; scripts/generate-validators.mjs compiles these. */
export const schemas = {
  Node: nodeSchema,
  BGPConfiguration: bgpConfigurationSchema,
  BGPPeer: bgpPeerSchema,
  BGPFilter: bgpFilterSchema,
  IPPool: ipPoolSchema,
  BlockAffinity: blockAffinitySchema,
  Service: serviceSchema,
  EndpointSlice: endpointSliceSchema,
  Secret: secretSchema,
  EndpointStatus: endpointStatusSchema,
} as const satisfies Record<ResourceKind, Schema<unknown>>;

/** The shape of a stored value that its validator has accepted. */
export type StoredValue<K extends ResourceKind> = Stored<(typeof schemas)[K]>;
