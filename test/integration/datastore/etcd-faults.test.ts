import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { FaultProxy } from '../../support/fault-proxy.ts';
import { until } from '../../support/wait.ts';
import { Follower, QUICK } from './etcd-follower.ts';

const binary = requireBinary(binaries.etcd34, 'etcd34');
let etcd: EtcdServer;

beforeAll(async () => {
  etcd = await EtcdServer.start(binary, { args: ['--max-txn-ops', '2000'] });
});
afterAll(() => etcd.close());
beforeEach(async () => {
  await etcd.client.put('/start', 'x');
  await etcd.client.delPrefix('');
});

async function proxied(target = etcd.port): Promise<{ proxy: FaultProxy; url: string }> {
  const proxy = await FaultProxy.start(target);
  onTestFinished(() => proxy.close());
  return { proxy, url: `http://127.0.0.1:${proxy.port}` };
}

/** Everything below /a as etcd has it, and as the follower does. */
async function converges(follower: Follower, timeout = 15_000): Promise<void> {
  const expected = Object.fromEntries(await etcd.client.list('/a/'));
  const keys = Object.keys(expected);
  await until(
    () => {
      const { contents } = follower;
      return (
        Object.keys(contents).length === keys.length && keys.every((key) => contents[key] === expected[key])
      );
    },
    { timeout, every: 50, what: `${keys.length} keys` },
  );
}

describe('a connection that is cut', () => {
  it('loses no event of thousands pending, wherever it ends', async () => {
    const cuts = [0, 1, 60, 200, 1_000, 5_000, 20_000, 100_000, 150_000, 250_000];
    const followers = await Promise.all(
      cuts.map(async (bytes) => {
        const { proxy, url } = await proxied();
        return { bytes, proxy, follower: new Follower({ endpoints: [url] }, ['/a', '/b']) };
      }),
    );
    for (const { proxy, follower } of followers) {
      await until(() => follower.all('snapshot').length === 2);
      await proxy.setMode('refuse');
      await follower.next('lost');
    }
    await backlog(2_500);
    for (const { bytes, proxy, follower } of followers) {
      await proxy.setMode('pass');
      proxy.cutAfter(bytes);
      await converges(follower);
      const delivered = follower.all('changes').flatMap(({ changes }) => changes);
      expect([bytes, delivered.length]).toEqual([bytes, 2_500]);
      expect(follower.all('snapshot')).toHaveLength(2);
    }
  });

  it('loses nothing when it is cut again and again while keys are written', async () => {
    const { proxy, url } = await proxied();
    const follower = new Follower({ endpoints: [url] }, ['/a']);
    await follower.next('snapshot');
    for (let turn = 0; turn < 10; turn += 1) {
      await backlog(100, turn);
      proxy.cut();
      await etcd.client.del(`/a/${turn}`);
    }
    await converges(follower);
    expect(follower.all('snapshot')).toHaveLength(1);
  });

  it('is reported once, and its end too', async () => {
    const { proxy, url } = await proxied();
    const follower = new Follower({ endpoints: [url] }, ['/a', '/b']);
    await until(() => follower.all('snapshot').length === 2);
    const before = follower.events.length;
    await proxy.setMode('refuse');
    await until(() => follower.all('lost', before).length >= 2);
    // Several attempts fail with ECONNREFUSED meanwhile: another cause than the cut, told once.
    await until(() => follower.all('lost', before).length === 4);
    const attempts = performance.now();
    await until(() => performance.now() - attempts > 1_500, { timeout: 3_000 });
    expect(follower.all('lost', before)).toHaveLength(4);
    await proxy.setMode('pass');
    await until(() => follower.all('connected', before).length === 2);
    expect(follower.all('connected', before).map(({ mount }) => mount.prefix)).toEqual(['/a', '/b']);
    await etcd.client.put('/a/1', 'one');
    await follower.reads('/a/1', 'one');
  });

  it('delivers a batch only when all its parts have arrived', async () => {
    // One revision of 3,000 deletions with long keys: etcd sends it in parts of 1.5 MB.
    const name = 'n'.repeat(2_000);
    for (let at = 0; at < 3_000; at += 500) {
      await etcd.client.txn(
        Array.from({ length: 500 }, (_, i) => ({ put: [`/a/${name}${at + i}`, ''] as const })),
      );
    }
    const { proxy, url } = await proxied();
    const follower = new Follower({ endpoints: [url], paging: { maxBytes: 4 * 1024 * 1024 } }, ['/a']);
    await follower.next('snapshot');
    proxy.cutAfter(2_500_000);
    await etcd.client.delPrefix('/a/');
    await until(() => follower.tree.get('/a')?.size === 0, { timeout: 15_000 });
    expect(follower.all('changes').map(({ changes }) => changes.length)).toEqual([3_000]);
    expect(follower.all('lost')).toHaveLength(1);
    expect(follower.all('snapshot')).toHaveLength(1);
  });

  it('catches up with a backlog of more than one gRPC message', async () => {
    const { proxy, url } = await proxied();
    const follower = new Follower({ endpoints: [url], paging: { maxBytes: 4 * 1024 * 1024 } }, ['/a']);
    await follower.next('snapshot');
    await proxy.setMode('refuse');
    await follower.next('lost');
    const value = 'x'.repeat(60_000);
    for (let at = 0; at < 200; at += 1) await etcd.client.put(`/a/${at}`, value);
    await proxy.setMode('pass');
    await converges(follower);
    expect(follower.all('snapshot')).toHaveLength(1);
  });

  it('leaves no connection behind', async () => {
    const { proxy, url } = await proxied();
    const follower = new Follower({ endpoints: [url] }, ['/a', '/b']);
    await until(() => follower.all('snapshot').length === 2);
    for (let turn = 0; turn < 6; turn += 1) {
      const before = follower.events.length;
      if (turn % 2 === 0) proxy.cut();
      else follower.source.relist();
      await until(() => follower.all(turn % 2 === 0 ? 'connected' : 'snapshot', before).length === 2);
    }
    await until(() => proxy.counters.open === 1);
    await follower.stop();
    await until(() => proxy.counters.open === 0);
  });
});

describe('an etcd that goes away', () => {
  it('is taken up where it was left after kill -9 and a restart on the same data', async () => {
    const follower = new Follower({ endpoints: [etcd.url] }, ['/a']);
    await follower.next('snapshot');
    await etcd.client.put('/a/1', 'before');
    await follower.reads('/a/1', 'before');
    await etcd.kill9();
    const { error } = await follower.next('lost', 0, 1_000);
    expect([error.code, error.details['endpoint']]).toEqual(['BF_DATASTORE_UNREACHABLE', etcd.url]);
    await until(() => follower.all('lost').some(({ error: { message } }) => /ECONNREFUSED/.test(message)));
    await etcd.restart();
    await etcd.client.put('/a/1', 'after');
    await follower.reads('/a/1', 'after', 5_000);
    await follower.next('connected');
    expect(follower.all('snapshot')).toHaveLength(1);
  });

  it('is noticed when it stops in place, and nothing is lost when it goes on', async () => {
    const follower = new Follower({ endpoints: [etcd.url] }, ['/a']);
    await follower.next('snapshot');
    const stopped = performance.now();
    etcd.pause();
    onTestFinished(() => etcd.resume());
    const { error } = await follower.next('lost', 0, 6_000);
    const noticed = performance.now() - stopped;
    expect(error.code).toBe('BF_DATASTORE_UNREACHABLE');
    expect(error.message).toBe(`etcd at ${etcd.url} was silent for 3 s`);
    expect(noticed).toBeLessThan(QUICK.deadMs + QUICK.pingMs + 500);
    await until(() =>
      follower
        .all('lost')
        .some(({ error: { message } }) => message === `etcd at ${etcd.url} did not answer within 1 s`),
    );
    etcd.resume();
    await etcd.client.put('/a/1', 'after');
    await follower.reads('/a/1', 'after', 5_000);
    expect(follower.all('snapshot')).toHaveLength(1);
  });

  it('is noticed when packets are lost on the way', async () => {
    const { proxy, url } = await proxied();
    const follower = new Follower({ endpoints: [url] }, ['/a']);
    await follower.next('snapshot');
    await proxy.setMode('freeze');
    await follower.next('lost', 0, 6_000);
    await etcd.client.put('/a/1', 'meanwhile');
    await proxy.setMode('pass');
    await follower.reads('/a/1', 'meanwhile', 5_000);
  });

  it('may come up after the source', async () => {
    const { proxy, url } = await proxied();
    await proxy.setMode('refuse');
    await etcd.client.put('/a/1', 'one');
    const follower = new Follower({ endpoints: [url] }, ['/a']);
    const { error } = await follower.next('lost');
    expect(error.message).toBe(`cannot use etcd at ${url}: connect ECONNREFUSED 127.0.0.1:${proxy.port}`);
    await proxy.setMode('pass');
    await follower.reads('/a/1', 'one', 3_000);
    expect(follower.all('snapshot').map(({ reason }) => reason)).toEqual(['initial']);
  });

  it('has a name that does not resolve', async () => {
    const follower = new Follower({ endpoints: ['http://etcd.invalid:2379'] }, ['/a']);
    const { error } = await follower.next('lost');
    expect(error.code).toBe('BF_DATASTORE_UNREACHABLE');
    expect(error.message).toMatch(
      /^cannot use etcd at http:\/\/etcd\.invalid:2379: getaddrinfo (ENOTFOUND|EAI_AGAIN) etcd\.invalid$/,
    );
  });
});

describe('several endpoints', () => {
  it.each(['silent', 'refuse', 'freeze'] as const)(
    'uses the second when the first one is %s',
    async (mode) => {
      const { proxy, url } = await proxied();
      await proxy.setMode(mode);
      await etcd.client.put('/a/1', 'one');
      const started = performance.now();
      const follower = new Follower({ endpoints: [url, etcd.url] }, ['/a']);
      await follower.reads('/a/1', 'one');
      expect(performance.now() - started).toBeLessThan(QUICK.callMs + 2_000);
      expect(follower.all('lost').map(({ error }) => error.details['endpoint'])).toEqual([url]);
    },
  );

  it.each(['silent', 'refuse', 'freeze'] as const)(
    'moves on when the one in use becomes %s',
    async (mode) => {
      const { proxy, url } = await proxied();
      const follower = new Follower({ endpoints: [url, etcd.url] }, ['/a']);
      await follower.next('snapshot');
      await proxy.setMode(mode);
      if (mode === 'silent') proxy.cut();
      await follower.next('connected');
      await etcd.client.put('/a/1', 'one');
      await follower.reads('/a/1', 'one');
      expect(follower.all('snapshot')).toHaveLength(1);
    },
  );

  it('leaves a member that has lost the others', async () => {
    const members = await EtcdServer.startCluster(binary, 3);
    onTestFinished(async () => void (await Promise.all(members.map((member) => member.close()))));
    const [first, second, third] = members as [EtcdServer, EtcdServer, EtcdServer];
    await first.client.put('/a/1', 'one');
    const follower = new Follower({ endpoints: [first.url] }, ['/a']);
    await follower.reads('/a/1', 'one');
    await Promise.all([second.kill9(), third.kill9()]);
    const { error } = await follower.next('lost', 0, 20_000);
    expect(error.message).toMatch(/no leader|did not answer/);
    await Promise.all([second.restart(), third.restart()]);
    await second.client.put('/a/1', 'two');
    await follower.reads('/a/1', 'two', 15_000);
    expect(follower.all('snapshot')).toHaveLength(1);
  });
});

/** `count` revisions that write below /a, in transactions of one key, written through several connections at a time. */
async function backlog(count: number, salt = 0): Promise<void> {
  let next = 0;
  const writer = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await etcd.client.put(`/a/${at % 700}`, `${salt}:${at}`);
  };
  await Promise.all(Array.from({ length: 16 }, writer));
}
