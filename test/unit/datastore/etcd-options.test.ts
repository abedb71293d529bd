import { describe, expect, it } from 'vitest';
import { type EtcdOptions, resolveEtcdOptions } from '../../../src/datastore/etcd/options.ts';
import { rangesOf } from '../../../src/datastore/etcd/ranges.ts';

const resolve = (options: Partial<EtcdOptions>, random = () => 0) =>
  resolveEtcdOptions({ endpoints: ['http://a:2379'], shuffleEndpoints: false, ...options }, random);

describe('etcd options', () => {
  it.each([
    ['http://10.0.0.1', 'http://10.0.0.1:2379', false],
    ['https://etcd.example:4001/', 'https://etcd.example:4001', true],
    ['http://[fd00::1]:2379', 'http://[fd00::1]:2379', false],
    ['https://etcd.example:443', 'https://etcd.example:443', true],
    ['http://etcd.example:80', 'http://etcd.example:80', false],
    ['https://user:pw@etcd.example', 'https://etcd.example:2379', true],
  ])('read the endpoint %s as %s', (text, url, secure) => {
    expect(resolve({ endpoints: [text] }).endpoints).toEqual([{ url, secure }]);
  });

  it.each(['10.0.0.1:2379', 'etcd.example', 'tcp://a:2379', '', 'http://'])(
    'refuse the endpoint %j',
    (text) => {
      expect(() => resolve({ endpoints: [text] })).toThrow(expect.objectContaining({ code: 'BF_USAGE' }));
    },
  );

  it('do not repeat the password in an endpoint that they refuse', () => {
    expect(() => resolve({ endpoints: ['ftp://user:hunter2@etcd.example'] })).toThrow(
      /"ftp:\/\/etcd\.example"/,
    );
  });

  it.each([
    [{ endpoints: [] }, /no etcd endpoint/],
    [{ username: 'u' }, /--etcd-password/],
    [{ password: 'p' }, /--etcd-username/],
    [{ tls: { certFile: 'c' } }, /--etcd-key-file/],
    [{ tls: { keyFile: 'k' } }, /--etcd-cert-file/],
  ])('refuse %j', (options, message) => {
    expect(() => resolve(options)).toThrow(message);
  });

  it('put the endpoints in random order unless told not to', () => {
    const endpoints = ['http://a:1', 'http://b:1', 'http://c:1', 'http://d:1'];
    const urls = (options: Partial<EtcdOptions>, random: () => number) =>
      resolve({ endpoints, ...options }, random).endpoints.map(({ url }) => url);
    expect(urls({}, () => 0)).toEqual(endpoints);
    expect(urls({ shuffleEndpoints: true }, () => 0)).not.toEqual(endpoints);
    expect(urls({ shuffleEndpoints: true }, () => 0.999)).toEqual(endpoints);
    expect(urls({ shuffleEndpoints: true }, Math.random).sort()).toEqual(endpoints);
  });

  it('keep the defaults that are not overridden', () => {
    const { timings } = resolve({ timings: { pingMs: 1 } });
    expect([timings.pingMs, timings.deadMs]).toEqual([1, 12_000]);
  });
});

describe('key ranges', () => {
  it('cover the key itself and what is below it, and nothing beside', () => {
    const ranges = rangesOf([
      { prefix: '/sc/n', required: true },
      { prefix: 'stolon', required: true },
    ]);
    const inside = (key: string) =>
      ranges.some(({ key: start, rangeEnd }) => {
        const bytes = Buffer.from(key);
        if (rangeEnd === undefined) return bytes.equals(start);
        return Buffer.compare(bytes, start) >= 0 && Buffer.compare(bytes, rangeEnd) < 0;
      });
    expect(
      ['/sc/n', '/sc/n/', '/sc/n/x', '/sc/n/x/y', '/sc/n/\uffff', 'stolon', 'stolon/x'].filter(inside),
    ).toHaveLength(7);
    expect(
      ['/sc/nn', '/sc/n0', '/sc/n-', '/sc/n.x', '/sc', '/sc/m/x', '/stolon/x', 'stolons'].filter(inside),
    ).toEqual([]);
    expect(ranges.map(({ mount }) => mount)).toEqual([0, 0, 1, 1]);
  });
});
