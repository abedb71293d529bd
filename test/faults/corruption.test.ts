import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { nodeFs } from '../../src/generation/fs.ts';
import { loadLastGood, saveLastGood } from '../../src/generation/last-good.ts';
import { withHold } from '../../src/generation/state.ts';
import { BIRD2, currentFiles, makeHost, onetime } from '../integration/app/support.ts';
import { mine, openTestStore, preparedStore, publish } from '../integration/generation/support.ts';
import { calicoMesh, calicoPeer } from '../support/calico.ts';
import { between, fault } from './runs.ts';

/** A cache with two generations, of which the first is pinned, a hold, and a quarantined object. */
async function smallCache() {
  const store = await preparedStore();
  await publish(store, 'one');
  await publish(store, 'two');
  const hold = { digest: 'd'.repeat(64), messages: ['lost'], since: '2026-01-01T00:00:00.000Z' };
  await store.state.update((state) => withHold(state, hold));
  await saveLastGood(nodeFs, store.layout.lastGood, new Map([['/calico/x', '{"spec":{}}']]));
  return store.layout;
}

interface Damaged {
  readonly path: string;
  readonly at: number;
}

/** Every byte of every file in a folder. */
function bytesOf(...paths: readonly string[]): readonly Damaged[] {
  return paths.flatMap((path) =>
    Array.from({ length: readFileSync(path).length }, (_, at) => ({ path, at })),
  );
}

/** Flips one bit, works with what that leaves, and flips it back. */
function withFlipped({ path, at }: Damaged, index: number, work: () => void): void {
  const good = readFileSync(path);
  const bad = Buffer.from(good);
  bad.writeUInt8(bad.readUInt8(at) ^ (1 << (index % 8)), at);
  writeFileSync(path, bad);
  try {
    work();
  } finally {
    writeFileSync(path, good);
  }
}

fault(
  'a bit flipped in each byte of the current generation and its stamp',
  { runs: 1, bound: null, patience: 120_000 },
  async () => {
    const layout = await smallCache();
    const folder = join(layout.generations, '00000002');
    const bytes = bytesOf(...readdirSync(folder).map((name) => join(folder, name)));
    return { layout, bytes, places: bytes.length };
  },
  async ({ layout, bytes }, _random, index) => {
    withFlipped(bytes[index]!, index, () => {
      const boot = openTestStore(layout.cacheDir).bootCurrent(mine);
      expect(boot.refusals).toHaveLength(1);
      expect(boot.refusals[0]?.message).toContain('00000002');
      expect(boot).toMatchObject({ inPlace: false, generation: { number: 1 } });
    });
    return 0;
  },
);

fault(
  'a bit flipped in each byte of state.json: pin and hold stay',
  { runs: 1, bound: null, patience: 120_000 },
  async () => {
    const layout = await smallCache();
    await openTestStore(layout.cacheDir).rollbackTo(1, mine);
    const bytes = bytesOf(layout.state);
    return { layout, bytes, places: bytes.length };
  },
  async ({ layout, bytes }, _random, index) => {
    withFlipped(bytes[index]!, index, () => {
      const store = openTestStore(layout.cacheDir);
      expect(store.stateProblem).toContain('state.json');
      expect(store.state.value.pin).not.toBeNull();
      expect(store.state.value.approvals).toEqual([]);
      expect(store.state.value.acknowledged).toEqual({});
      expect(store.bootCurrent(mine)).toMatchObject({ inPlace: true, generation: { number: 1 } });
    });
    return 0;
  },
);

fault(
  'a bit flipped in each byte of last-good.json: it is not used',
  { runs: 1, bound: null, patience: 120_000 },
  async () => {
    const { lastGood } = await smallCache();
    const bytes = bytesOf(lastGood);
    return { lastGood, bytes, places: bytes.length };
  },
  async ({ lastGood, bytes }, _random, index) => {
    withFlipped(bytes[index]!, index, () => {
      const loaded = loadLastGood(lastGood);
      expect(loaded.problem).toContain('last-good.json');
      expect(loaded.values.size).toBe(0);
    });
    return 0;
  },
);

const NOBODY = { url: 'http://127.0.0.1:1' };

fault(
  'a random byte of any file of the cache changed while birdfeed and etcd are away',
  { runs: 40, short: 3, bound: null },
  async () => {
    const host = await makeHost(BIRD2);
    const fixtures = join(host.directory, 'fixtures');
    mkdirSync(fixtures);
    const write = (peers: number) => {
      const peer = Array.from({ length: peers }, (_, at) =>
        calicoPeer(`p${at}`, { peerIP: `172.16.0.${at + 1}`, asNumber: 65_001 }),
      );
      writeFileSync(
        join(fixtures, 'all.yaml'),
        [...calicoMesh(3), ...peer].map(([, value]) => value).join('\n---\n'),
      );
    };
    const texts: string[] = [];
    for (const peers of [1, 2]) {
      write(peers);
      const { code, logs } = await onetime(host, NOBODY, ['--fixtures', fixtures, '--reload', 'none']);
      expect(code, JSON.stringify(logs)).toBe(0);
      texts.push(readFileSync(currentFiles(host)[0]!, 'utf8'));
    }
    return { host, texts };
  },
  async ({ host, texts }, random, index) => {
    const names = readdirSync(host.cache, { recursive: true, encoding: 'utf8' });
    const files = names.filter((name) => /generations\/00000002\/|state\.json|last-good\.json/.test(name));
    const copy = await makeHost(BIRD2);
    cpSync(host.cache, copy.cache, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !/admin\.sock|\/lock$/.test(path),
    });
    const victim = files[index % files.length]!;
    const bytes = readFileSync(join(copy.cache, victim));
    const at = between(random, 0, bytes.length - 1);
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << between(random, 0, 7)), at);
    writeFileSync(join(copy.cache, victim), bytes);
    const { code, logs } = await onetime(copy, NOBODY, ['--reload', 'none', '--wait', '1s']);
    expect(code, JSON.stringify(logs)).toBe(0);
    const served = readFileSync(currentFiles(copy)[0]!, 'utf8');
    expect(served).toBe(texts[victim.includes('generations/') ? 0 : 1]);
    const said = logs.some((line) => JSON.stringify(line).includes(victim.split('/').at(-1)!));
    expect(said, 'the damage is reported').toBe(true);
    return 0;
  },
);
