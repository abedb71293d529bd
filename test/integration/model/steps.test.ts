import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { testDir } from '../../support/tmp.ts';
import type { Stored } from '../../unit/model/parity/support.ts';
import { BIRD1, BIRD2, etcdArgs } from '../app/support.ts';
import { play, SCENARIOS, type Stage, writeSecretFiles } from './scenarios/run.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
let etcd: EtcdServer;
beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
});
afterAll(() => etcd?.close());

async function write(values: Stored): Promise<void> {
  const operations = Object.entries(values).map(([key, value]) =>
    value === undefined
      ? { del: key }
      : { put: [key, typeof value === 'string' ? value : JSON.stringify(value)] as const },
  );
  if (operations.length > 0) await etcd.client.txn(operations);
}

/** Values in etcd, Secrets in a directory. */
async function etcdStage(): Promise<Stage> {
  const secrets = join(await testDir('bfa'), 'secrets');
  await mkdir(secrets);
  return {
    args: [...etcdArgs(etcd), '--secrets-dir', secrets],
    clear: async () => void (await etcd.client.delPrefix('')),
    write,
    writeSecrets: (changed) => writeSecretFiles(secrets, changed),
  };
}

describe.each([
  ['bird1', BIRD1],
  ['bird2', BIRD2],
] as const)('steps under a running birdfeed (%s)', (_dialect, flavour) => {
  it.each(SCENARIOS)(
    '$name: each ends in what it should, and in the bytes of a fresh rendering',
    async (scenario) => play(scenario, flavour, await etcdStage()),
  );
});
