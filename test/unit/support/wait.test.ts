import { describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';

describe('until', () => {
  it('returns the first truthy value', async () => {
    let calls = 0;
    expect(await until(() => ++calls === 3 && { calls }, { every: 1 })).toEqual({ calls: 3 });
  });

  it('takes a throw as not yet', async () => {
    let calls = 0;
    const flaky = () => {
      calls += 1;
      if (calls < 3) throw new Error('early');
      return true;
    };
    expect(await until(flaky, { every: 1 })).toBe(true);
  });

  it('reports what it waited for and the last error or value when time is up', async () => {
    const failing = () => {
      throw new Error('no socket');
    };
    await expect(until(failing, { timeout: 10, every: 2, what: 'BIRD' })).rejects.toThrow(
      /waiting for BIRD after \d+ ms and \d+ tries: last error no socket/,
    );
    await expect(until(() => 0, { timeout: 10, every: 2 })).rejects.toThrow('last value 0');
  });
});
