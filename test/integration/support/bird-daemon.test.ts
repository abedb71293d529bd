import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { BirdDaemon } from '../../support/bird-daemon.ts';
import { canUsePrivateNamespaces } from '../../support/daemon-process.ts';
import { testDir } from '../../support/tmp.ts';

const REFLECTOR_1 = `
router id 10.99.0.1;
protocol device { }
protocol bgp client1 {
  local as 64512; neighbor 10.99.0.2 as 64512; source address 10.99.0.1; multihop; passive on;
  rr client; rr cluster id 244.0.0.1; next hop keep; import all; export all;
}
`;
const REFLECTOR_2 = `
router id 10.99.0.1;
protocol device { }
protocol bgp client1 {
  local 10.99.0.1 as 64512; neighbor 10.99.0.2 as 64512; multihop; passive on;
  rr client; rr cluster id 244.0.0.1;
  ipv4 { next hop keep; import all; export all; };
}
`;
const VERSIONS = [
  { key: 'bird16', release: '1.6.', config: REFLECTOR_1 },
  { key: 'bird20', release: '2.0.', config: REFLECTOR_2 },
  { key: 'bird217', release: '2.17.', config: REFLECTOR_2 },
  { key: 'bird31', release: '3.1.', config: REFLECTOR_2 },
] as const;

describe.each(VERSIONS)('$key', ({ key, release, config }) => {
  const binary = requireBinary(binaries[key], key);
  let bird: BirdDaemon;
  beforeAll(async () => {
    bird = await BirdDaemon.start(binary, { config });
  });
  afterAll(() => bird?.close());

  it('accepts a route reflector with -p and refuses a broken file', async () => {
    const dir = await testDir();
    await writeFile(join(dir, 'good.conf'), config);
    await writeFile(join(dir, 'bad.conf'), `${config}\nnonsense;`);
    const run = promisify(execFile);
    await run(binary.bird, ['-p', '-c', join(dir, 'good.conf')]);
    await expect(run(binary.bird, ['-p', '-c', join(dir, 'bad.conf')])).rejects.toThrow(/bad\.conf:\d+/);
  });

  it('is the version it is taken for, by its own word', async () => {
    expect(binary.version.startsWith(release)).toBe(true);
    const status = await bird.cmd('show status');
    expect(status.code).toBe('0013');
    expect(status.text).toContain(`BIRD ${binary.version}`);
  });

  it('lists its protocols by name', async () => {
    const protocols = await bird.protocols();
    expect([...protocols.keys()].sort()).toEqual(['client1', 'device1']);
    if (canUsePrivateNamespaces()) expect(protocols.get('client1')).toMatch(/^BGP .*Passive$/);
  });

  it('reloads a new configuration and refuses a broken one', async () => {
    const renamed = await bird.configure(config.replace('client1', 'client9'));
    expect(['0003', '0004']).toContain(renamed.code);
    expect([...(await bird.protocols()).keys()]).toContain('client9');
    expect((await bird.configure('nonsense;')).code).toBe('8002');
    await bird.configure(config);
  });

  it('leaves its socket behind when killed and answers again after a restart', async () => {
    const before = bird.pid;
    await bird.kill9();
    expect(bird.exit).toBe('SIGKILL');
    expect(existsSync(bird.socket)).toBe(true);
    await bird.restart();
    expect(bird.pid).not.toBe(before);
    expect((await bird.cmd('show status')).code).toBe('0013');
  });

  it('removes its socket when stopped', async () => {
    await bird.stop();
    expect(bird.exit).toBe(0);
    expect(existsSync(bird.socket)).toBe(false);
    await bird.restart();
  });

  it('reports why a BIRD with a broken file does not start', async () => {
    await expect(BirdDaemon.start(binary, { config: 'nonsense;' })).rejects.toThrow(/bird\.conf:1/);
  });
});

describe('bird6 of 1.6', () => {
  const binary = requireBinary(binaries.bird6_16, 'bird16');

  it('accepts IPv6 neighbours only', async () => {
    const dir = await testDir();
    const file = join(dir, 'bird6.cfg');
    const run = () => promisify(execFile)(binary.bird, ['-p', '-c', file]);
    const config = REFLECTOR_1.replace('neighbor 10.99.0.2', 'neighbor fd99::2').replace(
      'address 10.99.0.1',
      'address fd99::1',
    );
    await writeFile(file, config);
    await run();
    // 1.6 has no rule for the other family's literals, so this is a plain syntax error.
    await writeFile(file, REFLECTOR_1);
    await expect(run()).rejects.toThrow(/bird6\.cfg:5:\d+ syntax error/);
  });
});
