import { describe, expect, it } from 'vitest';
import { Feed, type FeedInput } from '../../../src/app/feed.ts';
import { unionMounts } from '../../../src/app/union-mounts.ts';
import { BirdfeedError } from '../../../src/core/errors.ts';
import { silentLogger } from '../../../src/core/log.ts';
import type { Mount, Source, SourceEvent } from '../../../src/datastore/types.ts';
import { createTree } from '../../../src/tree/tree.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';

const NODES: Mount = { prefix: '/c/nodes', required: true };
const PEERS: Mount = { prefix: '/c/peers', required: true };
const SECRETS: Mount = { prefix: '/k/secrets', required: false };
const lost = new BirdfeedError('BF_DATASTORE_UNREACHABLE', 'etcd at http://x did not answer within 2 s');

/** A source that says what the test wants. */
function scripted() {
  let say: (event: SourceEvent) => void = () => {};
  let running = false;
  let relists = 0;
  const source: Source = {
    kind: 'scripted',
    description: 'scripted',
    run(_mounts, emit, signal) {
      say = emit;
      running = true;
      return new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          running = false;
          resolve();
        }),
      );
    },
    relist() {
      relists += 1;
    },
  };
  return {
    source,
    say: (event: SourceEvent) => say(event),
    get running() {
      return running;
    },
    get relists() {
      return relists;
    },
  };
}

function snapshot(
  mount: Mount,
  keys: readonly string[],
  reason: 'initial' | 'regressed' = 'initial',
  revision = 1,
): SourceEvent {
  const entries = keys.map((key) => ({ key, value: 'v', revision }));
  return { type: 'snapshot', mount, entries, position: { datastoreId: 'd', revision }, reason };
}

async function setUp(mounts: readonly Mount[] = [NODES, PEERS]) {
  const tree = createTree();
  const clock = new FakeClock();
  let changes = 0;
  const feed = new Feed({
    tree,
    log: silentLogger,
    clock,
    random: () => 0,
    onMounts() {},
    onChange: () => (changes += 1),
    prepare() {},
  });
  const script = scripted();
  const open = (group: 'required' | 'optional', inputs: readonly FeedInput[]) => feed.open(group, inputs);
  await open('required', [{ source: script.source, mounts }]);
  feed.start();
  return { tree, clock, feed, script, open, changes: () => changes };
}

describe('the feed', () => {
  it('is complete when every required mount has delivered a snapshot', async () => {
    const { feed, script } = await setUp();
    script.say(snapshot(NODES, []));
    expect(feed.complete([NODES, PEERS])).toBe(false);
    expect(feed.complete([NODES])).toBe(true);
    script.say(snapshot(PEERS, []));
    expect(feed.complete([NODES, PEERS])).toBe(true);
  });

  it('is not fresh while a required mount is cut off, and says why', async () => {
    const { feed, script } = await setUp([NODES]);
    script.say(snapshot(NODES, ['/c/nodes/a']));
    script.say({ type: 'lost', mount: NODES, error: lost });
    expect(feed.fresh([NODES])).toBe(false);
    expect(feed.trouble([NODES])).toBe(lost.message);
    expect(feed.complete([NODES])).toBe(true);
    script.say({ type: 'connected', mount: NODES, position: { datastoreId: 'd', revision: 2 } });
    expect(feed.trouble([NODES])).toBeNull();
  });

  it('waits for an optional mount until it is read or has said why not', async () => {
    const { feed, script, open } = await setUp([NODES]);
    script.say(snapshot(NODES, []));
    const secrets = scripted();
    await open('optional', [{ source: secrets.source, mounts: [SECRETS] }]);
    expect(feed.complete([NODES, SECRETS])).toBe(false);
    secrets.say({ type: 'lost', mount: SECRETS, error: lost });
    expect(feed.complete([NODES, SECRETS])).toBe(true);
    expect(feed.fresh([NODES, SECRETS])).toBe(true);
  });

  it('never disturbs the required sources when optional ones are replaced', async () => {
    const { script, open } = await setUp([NODES]);
    const first = scripted();
    await open('optional', [{ source: first.source, mounts: [SECRETS] }]);
    const second = scripted();
    await open('optional', [{ source: second.source, mounts: [SECRETS] }]);
    expect([script.running, first.running, second.running]).toEqual([true, false, true]);
  });

  it('keeps the keys of what is reopened, and drops those of what is not', async () => {
    const { tree, feed, script, open } = await setUp();
    script.say(snapshot(NODES, ['/c/nodes/a']));
    script.say(snapshot(PEERS, ['/c/peers/p']));
    await open('required', [{ source: scripted().source, mounts: [NODES] }]);
    expect(tree.range('/c/nodes').map((entry) => entry.key)).toEqual(['/c/nodes/a']);
    expect(feed.complete([NODES])).toBe(true);
    expect(() => tree.range('/c/peers')).toThrow();
  });

  it('counts how often the datastore went back in time', async () => {
    const { feed, script } = await setUp([NODES]);
    script.say(snapshot(NODES, [], 'regressed'));
    script.say(snapshot(NODES, []));
    expect(feed.regressions).toBe(1);
  });

  it('does not wake anybody for a put that changes nothing', async () => {
    const { script, changes } = await setUp([NODES]);
    script.say(snapshot(NODES, ['/c/nodes/a']));
    await settle();
    const before = changes();
    const put = (value: string): SourceEvent => ({
      type: 'changes',
      mount: NODES,
      changes: [{ type: 'put', entry: { key: '/c/nodes/a', value, revision: 2 } }],
      position: { datastoreId: 'd', revision: 2 },
    });
    script.say(put('v'));
    await settle();
    expect(changes()).toBe(before);
    script.say(put('w'));
    await settle();
    expect(changes()).toBe(before + 1);
  });

  it('wakes once, and afterwards, for the snapshots of several mounts', async () => {
    const { script, changes } = await setUp();
    script.say(snapshot(NODES, []));
    expect(changes()).toBe(0);
    script.say(snapshot(PEERS, []));
    await settle();
    expect(changes()).toBe(1);
  });

  it('tells what a source found wrong with its data until the source takes it back', async () => {
    const { feed, script } = await setUp([NODES]);
    const bad = new BirdfeedError('BF_FIXTURE_INVALID', 'x.yaml:3: bad', { details: { file: 'x.yaml' } });
    script.say({ type: 'problems', mount: NODES, problems: [bad] });
    expect(feed.problems()).toMatchObject([
      { id: 'source-invalid', subject: 'x.yaml', message: 'x.yaml:3: bad' },
    ]);
    script.say({ type: 'problems', mount: NODES, problems: [] });
    expect(feed.problems()).toEqual([]);
  });

  it('is not complete while something that is asked for is not open', async () => {
    const { feed, script } = await setUp([NODES]);
    script.say(snapshot(NODES, []));
    expect(feed.complete([NODES, PEERS])).toBe(false);
    expect(feed.complete([{ prefix: '/c/nodes/a', required: true }])).toBe(true);
    expect(feed.complete([{ prefix: '/c', required: true }])).toBe(false);
  });

  it('starts a source anew that ended by itself, and is not fresh meanwhile', async () => {
    const { clock, feed, open } = await setUp([NODES]);
    let runs = 0;
    const broken: Source = {
      kind: 'broken',
      description: 'broken',
      async run(_mounts, emit) {
        runs += 1;
        emit(snapshot(PEERS, []));
        throw new Error('a bug');
      },
      relist() {},
    };
    await open('optional', [{ source: broken, mounts: [PEERS] }]);
    await clock.advance(0);
    expect(feed.trouble([PEERS])).toContain('a bug');
    await clock.advance(1_000);
    expect(runs).toBe(2);
    await open('optional', []);
    expect(clock.pending).toBe(0);
  });

  it('keeps what both groups have open when one of them closes it', async () => {
    const { tree, feed, script, open } = await setUp([NODES]);
    await open('optional', [{ source: scripted().source, mounts: [PEERS] }]);
    await open('required', [{ source: script.source, mounts: [NODES, PEERS] }]);
    script.say(snapshot(PEERS, ['/c/peers/p']));
    await open('optional', []);
    expect(tree.range('/c/peers')).toHaveLength(1);
    script.say(snapshot(PEERS, []));
    expect(feed.complete([PEERS])).toBe(true);
  });

  it('has read anew what lost keys to a closed mount within it', async () => {
    const { script, open } = await setUp([{ prefix: '/c', required: true }]);
    await open('optional', [{ source: scripted().source, mounts: [PEERS] }]);
    await open('optional', []);
    expect(script.relists).toBe(1);
  });

  it('ends every source when it stops', async () => {
    const { feed, script } = await setUp();
    await feed.stop();
    expect(script.running).toBe(false);
  });
});

describe('the union of mounts', () => {
  it('leaves out what a wider mount covers and keeps what is required', () => {
    expect(
      unionMounts([
        { prefix: '/c/nodes', required: true },
        { prefix: '/c', required: false },
        { prefix: '/cx', required: false },
        { prefix: '/cx', required: false },
      ]),
    ).toEqual([
      { prefix: '/c', required: true },
      { prefix: '/cx', required: false },
    ]);
  });
});
