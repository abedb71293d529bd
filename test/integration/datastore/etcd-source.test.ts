import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { until } from '../../support/wait.ts';
import { Follower } from './etcd-follower.ts';

describe.each([
  ['etcd34', binaries.etcd34],
  ['etcd35', binaries.etcd35],
] as const)('etcd source on %s', (name, binary) => {
  const etcdBinary = requireBinary(binary, name);
  let etcd: EtcdServer;

  beforeAll(async () => {
    const args = [
      '--experimental-watch-progress-notify-interval',
      '200ms',
      '--max-request-bytes',
      '20000000',
    ];
    etcd = await EtcdServer.start(etcdBinary, { args: [...args, '--max-txn-ops', '2000'] });
  });
  afterAll(() => etcd.close());
  beforeEach(async () => void (await etcd.client.delPrefix('')));

  const follow = (...prefixes: string[]) => new Follower({ endpoints: [etcd.url] }, prefixes);

  it('delivers one snapshot per mount, all at one revision, then changes', async () => {
    await etcd.client.put('/a/1', 'one');
    await etcd.client.put('/a', 'the key itself');
    const revision = await etcd.client.put('/b/1', '');
    const follower = follow('/a', '/b', '/empty');
    await until(() => follower.all('snapshot').length === 3);
    expect(
      follower
        .all('snapshot')
        .map(({ mount, entries, reason, position }) => [mount.prefix, entries, reason, position.revision]),
    ).toEqual([
      [
        '/a',
        [
          { key: '/a', value: 'the key itself', revision: revision - 1 },
          { key: '/a/1', value: 'one', revision: revision - 2 },
        ],
        'initial',
        revision,
      ],
      ['/b', [{ key: '/b/1', value: '', revision }], 'initial', revision],
      ['/empty', [], 'initial', revision],
    ]);
    expect(follower.all('snapshot')[0]?.position.datastoreId).toBe(await etcd.client.clusterId());
    const put = await etcd.client.put('/b/2', 'two');
    await follower.reads('/b/2', 'two');
    expect(follower.all('changes').at(-1)?.position.revision).toBe(put);
  });

  it('takes an update for an update, and only a delete for a delete', async () => {
    await etcd.client.put('/a/1', 'one');
    const follower = follow('/a');
    await follower.next('snapshot');
    await etcd.client.put('/a/1', 'two');
    await follower.reads('/a/1', 'two');
    await etcd.client.put('/a/1', '');
    await follower.reads('/a/1', '');
    await etcd.client.del('/a/1');
    await follower.reads('/a/1', undefined);
    expect(follower.all('changes').flatMap(({ changes }) => changes.map(({ type }) => type))).toEqual([
      'put',
      'put',
      'delete',
    ]);
  });
});
