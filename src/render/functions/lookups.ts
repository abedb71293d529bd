import type { LookupScope, ServiceRecord } from '../lookup-table.ts';
import { text } from './args.ts';
import { DEFAULT_LAYOUT, formatGoTime } from './go-time.ts';
import type { TemplateFunction } from './types.ts';

/**
 * Functions whose answer changes by itself. Rendering only reads frozen answers and notes the questions; resolve.ts answers
 * them between two renderings. `scope` gives the scope of the rendering that is going on.
 */
export function lookupFunctions(scope: () => LookupScope): readonly TemplateFunction[] {
  const addresses = (host: unknown): readonly string[] =>
    scope().answer({ kind: 'address', host: text(host, 'the host') }, [] as readonly string[]);
  const impure = { example: null, as: 'function', pure: false } as const;
  return [
    {
      ...impure,
      name: 'datetime',
      signature: 'datetime(layout)',
      doc: 'The time in UTC at which the output last changed otherwise, in a Go layout; without one as `2006-01-02 15:04:05 +0000 UTC`.',
      call: (layout = DEFAULT_LAYOUT) =>
        formatGoTime(scope().answer({ kind: 'time' }, 0), text(layout, 'the layout')),
    },
    {
      ...impure,
      name: 'lookupIP',
      signature: 'lookupIP(host)',
      doc: 'The addresses of a host, sorted as text; none when there are none. A failing resolver gives the last answer.',
      call: (host) => [...addresses(host)],
    },
    {
      ...impure,
      name: 'lookupIPV4',
      signature: 'lookupIPV4(host)',
      doc: 'As lookupIP, IPv4 only.',
      call: (host) => addresses(host).filter((address) => address.includes('.')),
    },
    {
      ...impure,
      name: 'lookupIPV6',
      signature: 'lookupIPV6(host)',
      doc: 'As lookupIP, IPv6 only.',
      call: (host) => addresses(host).filter((address) => address.includes(':')),
    },
    {
      ...impure,
      name: 'lookupSRV',
      signature: 'lookupSRV(service, protocol, domain)',
      doc: 'SRV records as objects with Target (ending in a dot), Port, Priority and Weight, sorted as text; none when there are none.',
      call: (service, protocol, domain) => [
        ...scope().answer(
          {
            kind: 'service',
            service: text(service, 'the service'),
            protocol: text(protocol, 'the protocol'),
            domain: text(domain, 'the domain'),
          },
          [] as readonly ServiceRecord[],
        ),
      ],
    },
    {
      ...impure,
      name: 'fileExists',
      signature: 'fileExists(path)',
      doc: 'Whether there is a file; true also when that cannot be found out for lack of permission.',
      call: (path) => scope().answer({ kind: 'file', path: text(path, 'the path') }, false),
    },
  ];
}
