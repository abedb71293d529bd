import { describe, expect, it } from 'vitest';
import { binaries, requireBinary, requireNamespaces } from '../support/binaries.ts';
import { Report } from './lab/report.ts';
import { PLAYS, type Play } from './plays.ts';

/** A test for each of these plays, which fails with every step that was not as expected. */
export function testPlays(isWanted: (play: Play) => boolean): void {
  describe('a network of real BIRDs with birdfeed beside each', () => {
    for (const [name, binary] of Object.entries(binaries)) requireBinary(binary, name);
    requireNamespaces();

    it.each(PLAYS.filter(isWanted).map((play) => [play.title, play] as const))('%s', async (_title, play) => {
      const report = new Report();
      try {
        await play.perform(report);
      } catch (error) {
        if (report.failures.length === 0) throw error;
      }
      expect(report.failures).toEqual([]);
    });
  });
}
