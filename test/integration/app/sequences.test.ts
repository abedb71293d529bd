import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import {
  calicoBlock,
  calicoConfiguration,
  calicoMesh,
  calicoNode,
  calicoPeer,
  calicoPool,
  fillEtcd,
  type Stored,
} from '../../support/calico.ts';
import type { EtcdOperation } from '../../support/etcd-client.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import {
  BIRD1,
  BIRD2,
  currentFiles,
  type Flavour,
  type Host,
  makeHost,
  onetime,
  startBirdfeed,
} from './support.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
let etcd: EtcdServer;

beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
});
afterAll(() => etcd?.close());

/** Something that happens while birdfeed watches. */
type Step =
  /** Several keys at one revision. */
  | { readonly do: 'write'; readonly operations: readonly EtcdOperation[] }
  | { readonly do: 'compact' }
  | { readonly do: 'restart'; readonly meanwhile: readonly EtcdOperation[] };

const number = fc.integer({ min: 2, max: 9 });
const labels = fc.constantFrom({}, { rack: 'a' }, { rack: 'b' });
const node = fc.record({ number, labels, rr: fc.boolean(), v6: fc.boolean() }).map(
  ({ number: n, labels: l, rr, v6 }): Stored =>
    calicoNode(`n${n}`, {
      v4: `10.0.0.${n}/24`,
      ...(v6 ? { v6: `fd00::${n}/64` } : {}),
      labels: l,
      bgp: rr ? { routeReflectorClusterID: '244.0.0.1' } : {},
    }),
);
const peer = fc
  .record({
    name: fc.constantFrom('tor', 'edge', 'rack'),
    number,
    selector: fc.constantFrom(undefined, 'all()', "rack == 'a'", "has(rack) && rack != 'b'"),
    node: fc.constantFrom(undefined, 'n1', 'n2'),
  })
  .map(({ name, number: n, selector, node: of }): Stored => {
    const to =
      selector === undefined ? { peerIP: `172.16.0.${n}`, asNumber: 65000 + n } : { peerSelector: selector };
    return calicoPeer(name, { ...to, ...(of === undefined ? {} : { node: of }) });
  });
const other = fc.oneof(
  fc
    .boolean()
    .map((nodeToNodeMeshEnabled) =>
      calicoConfiguration({ nodeToNodeMeshEnabled, asNumber: nodeToNodeMeshEnabled ? 64512 : 64513 }),
    ),
  number.map((n) =>
    calicoPool(`pool${n}`, `192.168.${n}.0/24`, { ipipMode: n % 2 === 0 ? 'Always' : 'Never' }),
  ),
  number.map((n) => calicoBlock('n1', `192.168.${n}.0/26`)),
  // Objects that do not validate are left out, or their last good version is used.
  number.map((n) => calicoNode(`n${n}`, { v4: 'nonsense' })),
);
/** Never this node's own key: that it goes is held, which is another test. */
const operation: fc.Arbitrary<EtcdOperation> = fc.oneof(
  { weight: 4, arbitrary: fc.oneof(node, peer, other).map((put) => ({ put })) },
  { weight: 2, arbitrary: fc.oneof(node, peer).map(([key]) => ({ del: key })) },
);
/** etcd takes each key only once in a transaction. */
const operations = fc.uniqueArray(operation, {
  minLength: 1,
  maxLength: 6,
  selector: (one) => ('put' in one ? one.put[0] : 'del' in one ? one.del : one.delPrefix),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: operations.map((all) => ({ do: 'write' as const, operations: all })) },
  { weight: 2, arbitrary: fc.constant({ do: 'compact' as const }) },
  { weight: 1, arbitrary: operations.map((meanwhile) => ({ do: 'restart' as const, meanwhile })) },
);

async function perform(action: Step): Promise<void> {
  switch (action.do) {
    case 'write':
      return void (await etcd.client.txn(action.operations));
    case 'compact':
      // etcd does not compact the same revision twice.
      await etcd.client.put('/nobody/reads/this', '');
      return etcd.client.compact();
    case 'restart':
      await etcd.client.txn(action.meanwhile);
      return etcd.restart();
  }
}

const REPAIR = [2, 3, 4, 5, 6, 7, 8, 9].map((n) => ({
  put: calicoNode(`n${n}`, { v4: `10.0.0.${n}/24` }),
}));

const rendered = (host: Host) => currentFiles(host).map((file) => readFileSync(file, 'utf8'));

it.each<[string, Flavour]>([
  ['bird2', BIRD2],
  ['bird1', BIRD1],
])(
  'ends, whatever was written on the way, in the very bytes of a fresh rendering (%s)',
  async (_dialect, flavour) => {
    await fillEtcd(etcd.client, calicoMesh(5));
    const host = await makeHost(flavour);
    // The guard has its own tests: here nothing may be held.
    const args = ['--reload', 'none', '--guard-share', '100%'];
    const birdfeed = await startBirdfeed(host, etcd, args);
    await birdfeed.reaches('generation 1', ({ generation }) => generation !== null);

    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        for (const action of steps) await perform(action);
        // What is quarantined ends, since its last good version is something that only the running birdfeed can know.
        await etcd.client.txn(REPAIR);
        const fresh = { ...host, cache: join(await testDir('bfa'), 'cache') };
        expect(await onetime(fresh, etcd, args)).toMatchObject({ code: 0 });
        const wanted = rendered(fresh);
        await until(() => isDeepStrictEqual(rendered(host), wanted), {
          timeout: 30_000,
          what: 'equal bytes',
        });
      }),
      { numRuns: 6, endOnFailure: true },
    );
  },
  150_000,
);
