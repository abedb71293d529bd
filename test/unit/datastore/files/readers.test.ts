import { describe, expect, it } from 'vitest';
import {
  endpointStatusDirectory,
  endpointStatusReader,
} from '../../../../src/datastore/files/endpoint-status.ts';
import { isLeftover } from '../../../../src/datastore/files/names.ts';
import { secretsReader } from '../../../../src/datastore/files/secrets.ts';

describe('the secrets directory', () => {
  const reader = secretsReader('/secrets', 'kube-system');

  function assemble(files: Readonly<Record<string, string>>) {
    const parsed = Object.entries(files).map(
      ([path, text]) => [path, reader.parse(path, Buffer.from(text))] as const,
    );
    const { values, problems } = reader.assemble(new Map(parsed));
    const secrets = [...values].map(([key, value]) => [key, JSON.parse(value)] as const);
    return { secrets: Object.fromEntries(secrets), problems: problems.map((problem) => problem.message) };
  }

  it('makes one Secret of the files of a directory, with and without a namespace', () => {
    const { secrets, problems } = assemble({
      'bgp/a': 'pass-a',
      'bgp/b': 'pass-b\n',
      'calico/bgp/.dockerconfigjson': 'x',
    });
    expect(problems).toEqual([]);
    expect(secrets).toEqual({
      '/calico/resources/v3/kubernetes/secrets/kube-system/bgp': {
        kind: 'Secret',
        apiVersion: 'v1',
        metadata: { name: 'bgp', namespace: 'kube-system' },
        data: { a: 'cGFzcy1h', b: 'cGFzcy1iCg==' },
      },
      '/calico/resources/v3/kubernetes/secrets/calico/bgp': {
        kind: 'Secret',
        apiVersion: 'v1',
        metadata: { name: 'bgp', namespace: 'calico' },
        data: { '.dockerconfigjson': 'eA==' },
      },
    });
  });

  it('says where a misplaced file belongs', () => {
    const { secrets, problems } = assemble({ password: 'x', 'a/b/c/d': 'y' });
    expect(secrets).toEqual({});
    expect(problems).toEqual([
      '/secrets/password is not at NAMESPACE/NAME/KEY or NAME/KEY and is left out; mount each Secret at /secrets/NAME',
      '/secrets/a/b/c/d is not at NAMESPACE/NAME/KEY or NAME/KEY and is left out; mount each Secret at /secrets/NAME',
    ]);
  });
});

describe('the endpoint-status directory', () => {
  it('is where Felix is told to write', () => {
    expect(endpointStatusDirectory({})).toBe('/var/run/calico/endpoint-status');
    expect(endpointStatusDirectory({ CALICO_ENDPOINT_STATUS_PATH_PREFIX: '/tmp/x' })).toBe(
      '/tmp/x/endpoint-status',
    );
    expect(endpointStatusDirectory({ CALICO_ENDPOINT_STATUS_PATH_PREFIX: '' })).toBe(
      '/var/run/calico/endpoint-status',
    );
  });

  it('has one entry per file, in one form of JSON', () => {
    const content = endpointStatusReader.parse(
      '/d/pod1',
      Buffer.from('{ "bgpPeerName": "x",\n "ipv4Nets": [] }'),
    );
    expect(endpointStatusReader.assemble(new Map([['pod1', content]])).values).toEqual(
      new Map([['/calico/endpoint-status/pod1', '{"bgpPeerName":"x","ipv4Nets":[]}']]),
    );
  });

  it('refuses what is not JSON', () => {
    expect(() => endpointStatusReader.parse('/d/pod1', Buffer.from('{"bgp'))).toThrow('/d/pod1 is not JSON');
  });
});

describe('what editors leave', () => {
  it.each([
    'n.yaml~',
    '.n.yaml.swp',
    '.n.yaml.swo',
    '#n.yaml#',
    '.#n.yaml',
    'n.yaml.tmp',
    'n.yaml___jb_tmp___',
  ])('%s is not a file of ours', (name) => {
    expect(isLeftover(name)).toBe(true);
  });

  it.each(['n.yaml', 'tmp', 'a.tmpl', 'swp', 'k8s-default.pod-eth0'])('%s is', (name) => {
    expect(isLeftover(name)).toBe(false);
  });
});
