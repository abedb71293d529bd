import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { FamilyModel, Session } from '../../../../src/model/bgp/types.ts';
import { decide, type Route, route, type Verdict } from '../../../support/policy-interpreter.ts';
import { goodOf, mixtures } from './mixtures.ts';
import { type Stored, type World, worldOf } from './support.ts';

const NETS = {
  4: ['10.0.0.0/8', '10.0.1.0/24', '10.0.0.1/32', '192.168.1.0/26', '172.16.3.0/24', '203.0.113.0/24'],
  6: ['fd00::/8', 'fd00:10::/64', 'fd00::1/128', '2001:db8::/48', 'fd77::/16'],
} as const;
const HOPS = { 4: ['10.0.0.2', '172.30.0.1'], 6: ['fd00::2', 'fd77::1'] } as const;

function routesOf(family: 4 | 6): readonly Route[] {
  return NETS[family].flatMap((net) => [
    route(net, { source: 'device' }),
    route(net, { source: 'static', interface: '' }),
    route(net, { source: 'inherit', interface: 'cali1', metric: 512 }),
    ...HOPS[family].flatMap((nextHop) =>
      [null, 100, 2_147_483_646].map((localPref) => route(net, { localPref, nextHop })),
    ),
  ]);
}

function programmed(model: FamilyModel, given: Route): Verdict {
  return decide(model.kernelFilter.body, model.functions, given);
}

/** All but the kernel filter. */
function rest({ kernelFilter: _kernel, sessions, ...more }: FamilyModel): Omit<FamilyModel, 'kernelFilter'> {
  return { ...more, sessions: sessions.map((session): Session => session) };
}

const families = ({ ipv4, ipv6 }: World): readonly FamilyModel[] => [ipv4, ipv6];

/** Calls `look` with each family of the same cluster for the fork and for a stock BIRD. */
function forBoth(dialect: 'bird1' | 'bird2', look: (fork: FamilyModel, stock: FamilyModel) => void): void {
  fc.assert(
    fc.property(mixtures, (values: Stored) => {
      const [fork, stock] = [
        worldOf(goodOf(values), { dialect: 'bird1-calico' }),
        worldOf(goodOf(values), { dialect }),
      ];
      for (const [index, family] of families(fork).entries()) look(family, families(stock)[index]!);
      const { gracefulRestartWait: _wait, ...settings } = fork.node;
      expect(stock.node).toMatchObject(settings);
    }),
    { numRuns: 60 },
  );
}

it('a dialect changes nothing but what goes to the kernel, and the wait after a restart', () => {
  for (const dialect of ['bird1', 'bird2'] as const)
    forBoth(dialect, (fork, stock) => expect(rest(stock)).toEqual(rest(fork)));
});

it('bird2 rejects routes of interfaces and tunnelled ones, bird1 only these, and both decide alike otherwise', () => {
  for (const dialect of ['bird1', 'bird2'] as const)
    forBoth(dialect, (fork, stock) => {
      for (const given of routesOf(fork.family)) {
        const [theirs, ours] = [programmed(fork, given), programmed(stock, given)];
        const withheld = (dialect === 'bird2' && given.source === 'device') || theirs.route.tunnel !== null;
        if (withheld) expect(ours.decision).toBe('reject');
        else expect(ours).toEqual(theirs);
      }
    });
});
