import { flag, kind, list, metadata, object, oneOf, parsedText, resource, text, textMap } from './build.ts';

export const serviceSchema = resource({
  kind,
  metadata,
  spec: object({
    type: text({ maxLength: 100 }),
    clusterIP: parsedText(),
    clusterIPs: list(parsedText()),
    externalIPs: list(parsedText()),
    loadBalancerIP: parsedText(),
    externalTrafficPolicy: oneOf('Cluster', 'Local'),
    ipFamilies: list(oneOf('IPv4', 'IPv6')),
  }),
  status: object({ loadBalancer: object({ ingress: list(object({ ip: parsedText() })) }) }),
});

export const endpointSliceSchema = resource({
  kind,
  metadata,
  addressType: text({ maxLength: 100 }),
  endpoints: list(object({ nodeName: text({ maxLength: 253 }), conditions: object({ ready: flag() }) })),
});

/** `stringData` is only in manifests: the API server turns it into `data`. */
export const secretSchema = resource({ kind, metadata, data: textMap(), stringData: textMap() });
