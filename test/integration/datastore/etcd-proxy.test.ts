import { describe, expect, it, onTestFinished } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { DaemonProcess } from '../../support/daemon-process.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { freePorts } from '../../support/ports.ts';
import { until } from '../../support/wait.ts';
import { Follower, QUICK } from './etcd-follower.ts';

describe.each([
  ['etcd34', binaries.etcd34],
  ['etcd35', binaries.etcd35],
] as const)('etcd source through grpc-proxy of %s', (name, binary) => {
  const etcdBinary = requireBinary(binary, name);

  async function start() {
    const etcd = await EtcdServer.start(etcdBinary);
    onTestFinished(() => etcd.close());
    const [port] = await freePorts(1);
    const proxy = new DaemonProcess(etcdBinary.etcd, [
      ...['grpc-proxy', 'start', '--endpoints', etcd.url.replace('http://', '')],
      ...['--listen-addr', `127.0.0.1:${port}`],
    ]);
    onTestFinished(() => proxy.end('SIGKILL'));
    const url = `http://127.0.0.1:${port}`;
    // It passes etcd's own on; what it makes of JSON is another matter.
    const answers = () =>
      fetch(`${url}/metrics`).then(
        ({ ok }) => ok,
        () => false,
      );
    await proxy.ready(answers, 30_000);
    return { etcd, url };
  }

  it('follows every change, also as one of several that the proxy has share a watcher', async () => {
    const { etcd, url } = await start();
    await etcd.client.put('/a/1', 'one');
    const followers = [];
    for (let n = 0; n < 3; n += 1) {
      const follower = new Follower({ endpoints: [url] }, ['/a', '/b']);
      await until(() => follower.all('snapshot').length === 2);
      followers.push(follower);
    }
    for (let n = 0; n < 50; n += 1) await etcd.client.put(`/a/${n}`, `${n}`);
    await etcd.client.delPrefix('/a/7');
    await etcd.client.put('/b', 'last');
    for (const follower of followers) {
      await follower.reads('/b', 'last');
      await follower.reads('/a/49', '49');
      await until(() => follower.get('/a/7') === undefined);
      expect(Object.keys(follower.contents)).toHaveLength(50);
      expect(follower.all('lost')).toEqual([]);
    }
  });

  it('keeps a watch through which nothing comes for longer than a dead one would be kept', async () => {
    const { etcd, url } = await start();
    const follower = new Follower({ endpoints: [url], timings: { verifyMs: 500 } }, ['/a']);
    await follower.next('snapshot');
    // That time passes is what is tested.
    const from = performance.now();
    await until(() => performance.now() - from > QUICK.deadMs + 2 * QUICK.pingMs, { timeout: 10_000 });
    expect(follower.all('lost')).toEqual([]);
    await etcd.client.put('/a/1', 'one');
    await follower.reads('/a/1', 'one');
  });

  it('says within a few reads that the etcd behind the proxy is gone, and goes on where it was when it is back', async () => {
    const { etcd, url } = await start();
    const follower = new Follower({ endpoints: [url], timings: { verifyMs: 500, deadMs: 1_000 } }, ['/a']);
    await follower.next('snapshot');
    await etcd.kill9();
    await follower.next('lost');
    await etcd.restart();
    await etcd.client.put('/a/1', 'one');
    await follower.reads('/a/1', 'one', 20_000);
    await follower.next('connected');
  });
});
