import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { binaries, requireBinary, skipSuite } from '../../support/binaries.ts';
import { birdCommand } from '../../support/bird-daemon.ts';
import { calicoMesh, fillEtcd } from '../../support/calico.ts';
import type { DaemonProcess } from '../../support/daemon-process.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { birdfeedImage, birdImage } from '../../support/image.ts';
import { type Container, canRunPods, Pod } from '../../support/pod.ts';
import { makeDir, removeDir, testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';

const UNITS = fileURLToPath(new URL('../../../deploy/systemd/', import.meta.url));
const DROP_IN = 'bird.service.d/birdfeed.conf';

/** Names that Debian's package makes, by number, and the BIRD under test in the place of the installed one. */
const STAND_INS: Readonly<Record<string, string>> = { bird: '65532', '/usr/sbin/bird': 'bird' };

/** Values of a key in a unit file, in order. */
function entries(unit: string, key: string): string[] {
  const text = readFileSync(join(UNITS, unit), 'utf8');
  return [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value!);
}
const words = (unit: string, key: string): string[] => entries(unit, key).at(-1)!.split(' ');

describe('the units', () => {
  if (spawnSync('systemd-analyze', ['--version']).status !== 0)
    skipSuite('systemd-analyze is missing', false);
  const targets = ['sysinit', 'basic', 'shutdown', 'network', 'network-online', 'multi-user'];
  const programs = [
    'usr/bin/birdfeed',
    'usr/sbin/bird',
    'usr/sbin/birdc',
    'usr/lib/bird/prepare-environment',
    'bin/kill',
  ];

  /** What systemd says about these units on a host where BIRD is installed as Debian does. */
  async function verify(extra = ''): Promise<string> {
    const root = await testDir('bf-units');
    const system = join(root, 'etc/systemd/system');
    cpSync(UNITS, system, { recursive: true });
    writeFileSync(join(system, 'birdfeed.service'), extra, { flag: 'a' });
    writeFileSync(
      join(system, 'bird.service'),
      '[Unit]\nDescription=BIRD\n[Service]\nExecStart=/usr/sbin/bird -f\n',
    );
    for (const target of targets) writeFileSync(join(system, `${target}.target`), '[Unit]\nDescription=x\n');
    for (const program of programs) {
      mkdirSync(dirname(join(root, program)), { recursive: true });
      writeFileSync(join(root, program), '#!/bin/sh\n');
      chmodSync(join(root, program), 0o755);
    }
    const units = ['birdfeed.service', 'birdfeed-once.service', 'bird.service'];
    const args = ['verify', '--man=no', `--root=${root}`, ...units];
    const { stdout, stderr, status } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    return `${stdout}${stderr}${status}`;
  }

  it('have nothing that systemd objects to', async () => {
    expect(await verify()).toBe('0');
  });

  it('would be objected to if there was something', async () => {
    expect(await verify('[Service]\nProtectEverything=yes\n')).toMatch(/Unknown key.* 'ProtectEverything'/);
  });
});

describe('the commands of the units', () => {
  const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
  const birdBinary = requireBinary(binaries.bird217, 'bird217');
  if (!canRunPods()) skipSuite('other users and read-only roots cannot be had here (needs root)');

  let dir: string;
  let etcd: EtcdServer;
  beforeAll(async () => {
    dir = await makeDir('bf-host');
    etcd = await EtcdServer.start(etcdBinary);
    await fillEtcd(etcd.client, calicoMesh(3));
  });
  afterAll(async () => {
    await etcd?.close();
    await removeDir(dir);
  });

  /** What a unit runs, as the user and with the file system that it asks for; the group bird is 65532 here. */
  function unit(name: string, image: string, user: number): Container {
    const mounts = ['cache:/var/lib/birdfeed', 'socket:/run/bird', 'config:/etc/birdfeed'];
    return {
      name,
      image,
      command: words(name, 'ExecStart').map((word) => STAND_INS[word] ?? word),
      env: [{ name: 'ETCD_ENDPOINTS', value: etcd.url }],
      securityContext: {
        runAsUser: user,
        runAsGroup: user === 0 ? 0 : 65532,
        readOnlyRootFilesystem: entries(name, 'ProtectSystem').includes('strict'),
        capabilities: { add: user === 0 ? ['all'] : [] },
      },
      volumeMounts: mounts
        .slice(0, image === 'bird' ? 2 : 3)
        .map((mount) => ({ name: mount.split(':')[0]!, mountPath: mount.split(':')[1]! })),
    };
  }

  it('put a configuration in place, start BIRD with it, feed it, and end it gracefully', {
    timeout: 180_000,
  }, async () => {
    const host = new Pod(
      {
        containers: [
          unit('birdfeed-once.service', 'birdfeed', 65532),
          unit(DROP_IN, 'bird', 0),
          unit('birdfeed.service', 'birdfeed', 65532),
        ],
        volumes: [
          { name: 'cache', emptyDir: {} },
          { name: 'socket', emptyDir: {} },
          { name: 'config', configMap: { name: 'config' } },
        ],
        securityContext: { fsGroup: 65532 },
      },
      {
        dir,
        nodeName: 'n1',
        images: { birdfeed: birdfeedImage(dir), bird: birdImage(birdBinary) },
        objects: { config: { 'birdfeed.toml': 'node_name = "n1"\nbird = "bird2"\nlisten = "none"\n' } },
      },
    );
    const start = (name: string): DaemonProcess => {
      const process = host.start(name);
      onTestFinished(() => process.end('SIGKILL'));
      return process;
    };
    const once = start('birdfeed-once.service');
    await once.ended();
    expect(once.exit, once.output).toBe(0);
    const bird = start(DROP_IN);
    const birdfeed = start('birdfeed.service');
    const said = async () => (await host.exec('birdfeed.service', ['birdfeed', 'status'])).output;
    await until(async () => /^fresh .*\n(.*\n)*bird +applied /.test(await said()), { timeout: 60_000 });
    const { text } = await birdCommand(join(host.volume('socket'), 'bird.ctl'), 'show protocols', 5_000);
    expect(text).toContain('Mesh_10_0_0_2');
    expect(words('birdfeed.service', 'ExecReload')).toEqual(['/bin/kill', '-HUP', '$MAINPID']);
    birdfeed.signal('SIGHUP');
    await until(() => birdfeed.output.includes('resources and templates read'), { timeout: 30_000 });
    const [, ...stop] = words(DROP_IN, 'ExecStop');
    expect(await host.exec(DROP_IN, ['birdc', ...stop])).toMatchObject({ code: 0 });
    await bird.ended();
    expect(bird.exit).toBe(0);
  });
});
