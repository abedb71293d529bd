import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runBirdfeed } from '../../support/birdfeed.ts';
import { testDir } from '../../support/tmp.ts';

const FIXTURES = fileURLToPath(new URL('../../../examples/route-reflectors', import.meta.url));

async function explain(...args: string[]) {
  const cache = await testDir();
  const common = ['--fixtures', FIXTURES, '--node-name', 'rr1', '--bird', 'bird2', '--cache', cache];
  return runBirdfeed(['explain', ...args, ...common]);
}

describe('birdfeed explain', () => {
  it('prints by which resource and rule a session exists, with both ends', async () => {
    const { code, stdout } = await explain('10.0.0.12');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^10\.0\.0\.12, seen from node rr1:$/m);
    expect(stdout).toContain(
      'IPv4: session Node_10_0_0_12: BGPPeer/between-reflectors (peerSelector): rr1 10.0.0.11 AS 64512 with rr2 10.0.0.12 AS 64512',
    );
  });

  it('prints JSON, and no password in it', async () => {
    const { code, stdout } = await explain('clients-to-reflectors', '--json');
    expect(code).toBe(0);
    const [found] = JSON.parse(stdout) as { subject: string; findings: { outcome: string }[] }[];
    expect(found).toMatchObject({ subject: 'BGPPeer/clients-to-reflectors', nodeName: 'rr1' });
    expect(found!.findings.filter(({ outcome }) => outcome === 'session')).toHaveLength(3);
    expect(stdout).not.toMatch(/password/i);
  });

  it('refuses a name that nothing has, and suggests one', async () => {
    const { code, stderr, stdout } = await explain('rr22');
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr).toMatch(/nothing is known about "rr22".*did you mean "rr2"\?/);
  });

  it('wants exactly one name', async () => {
    expect((await explain()).code).toBe(64);
    expect((await explain('rr1', 'rr2')).code).toBe(64);
  });
});
