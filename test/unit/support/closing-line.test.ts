import { describe, expect, it } from 'vitest';
import { closingLines } from '../../support/closing-line-reporter.ts';

describe('the closing line', () => {
  it('is the last one and names skipped tests only when there are any', () => {
    expect(closingLines({ passed: 3, failed: 0, skipped: 0, skipReasons: {} })).toEqual([
      '3 passed, 0 failed',
    ]);
    expect(closingLines({ passed: 3, failed: 1, skipped: 2, skipReasons: { 'no etcd': 2 } })).toEqual([
      'skipped 2: no etcd',
      '3 passed, 1 failed, 2 skipped',
    ]);
  });
});
