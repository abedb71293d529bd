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
