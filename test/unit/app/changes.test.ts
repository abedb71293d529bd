import { describe, expect, it } from 'vitest';
import { compareSessions, describeSessionChanges, unifiedDiff } from '../../../src/app/changes.ts';

const session = (name: string, hardDigest = 'x') => ({
  name,
  address: '10.0.0.1',
  family: 4 as const,
  asNumber: 64512,
  type: 'mesh',
  hardDigest,
});

describe('what a generation changes', () => {
  it('tells added, removed and reset sessions apart', () => {
    const changes = compareSessions(
      [session('a'), session('b'), session('c')],
      [session('b', 'y'), session('c'), session('d')],
    );
    expect(changes).toEqual({ added: ['d'], removed: ['a'], reset: ['b'] });
    expect(describeSessionChanges(changes)).toBe('sessions: 1 added (d), 1 removed (a), 1 reset (b)');
  });

  it('says so when no session is touched', () => {
    expect(describeSessionChanges(compareSessions([session('a')], [session('a')]))).toBe(
      'no session is added, removed or reset',
    );
  });

  it('never shows a password in a diff', async () => {
    const file = (password: string) => [
      { name: 'bird.conf', text: `neighbor x;\npassword "${password}";\nport 1;\n` },
    ];
    const added = await unifiedDiff([{ name: 'bird.conf', text: 'neighbor x;\nport 1;\n' }], file('hunter2'));
    expect(added).toContain('+password "[redacted]";');
    expect(await unifiedDiff(file('hunter2'), file('hunter3'))).toBe('');
  });
});
