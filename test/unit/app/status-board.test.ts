import { expect, it } from 'vitest';
import { createStatusBoard } from '../../../src/app/status-board.ts';
import type { Logger } from '../../../src/core/log.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function board() {
  const lines: string[] = [];
  const note = (level: string) => (fields: { reason?: unknown }, message: string) =>
    void lines.push(`${level} ${message}: ${String(fields.reason ?? '')}`);
  const log = {
    debug: note('debug'),
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
  } as unknown as Logger;
  const identity = { version: '0', node: 'n1', set: 'default' };
  return { lines, ...{ board: createStatusBoard(identity, { clock: new FakeClock(), log }) } };
}

it('names the axis that moved, and why', () => {
  const { lines, board: status } = board();
  status.report({ type: 'data', event: 'synced', reason: null });
  status.report({ type: 'data', event: 'lost', reason: 'refused' });
  expect(lines).toEqual(['info data is now fresh: ', 'warn data is now stale: refused']);
});

it('does not repeat a reason that comes back after one that was only passing', () => {
  const { lines, board: status } = board();
  status.report({ type: 'data', event: 'synced', reason: null });
  for (const reason of ['refused', 'waiting for the first answer of /a', 'refused', 'timed out'])
    status.report({ type: 'data', event: 'lost', reason });
  expect(lines.slice(1)).toEqual(['warn data is now stale: refused', 'warn data is now stale: timed out']);
});

it('makes no fuss of a change that BIRD takes, and some of a BIRD that dies', () => {
  const { lines, board: status } = board();
  status.report({ type: 'bird', event: 'acknowledged', reason: null });
  for (const reason of ['generation 2 is not loaded yet', 'waiting for BIRD’s answer'])
    status.report({ type: 'bird', event: 'behind', reason });
  status.report({ type: 'bird', event: 'acknowledged', reason: null });
  status.report({ type: 'bird', event: 'behind', reason: 'BIRD refused line 3' });
  status.report({ type: 'bird', event: 'unreachable', reason: 'it died' });
  status.report({ type: 'bird', event: 'unreachable', reason: 'not started' });
  expect(lines).toEqual([
    'info bird is now applied: ',
    'debug bird is now unapplied: generation 2 is not loaded yet',
    'info bird is now applied: ',
    'warn bird is now unapplied: BIRD refused line 3',
    'warn bird is now unknown: it died',
    'info bird is now unknown: not started',
  ]);
});
