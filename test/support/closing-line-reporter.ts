import { writeFileSync, writeSync } from 'node:fs';
import type { TestCase, TestModule, TestSuite } from 'vitest/node';
import type { Reporter } from 'vitest/reporters';

export interface RunSummary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Why tests were skipped, with how many each. */
  readonly skipReasons: Readonly<Record<string, number>>;
}

/**
 * Ends a run with `N passed, M failed` (and `, K skipped`), alone on the very last line, after the reasons for which
 * tests were skipped. A file that does not load, a hook that throws and an error outside any test count as one failure
 * each. When scripts/test.mjs runs vitest it prints that line itself, after its own steps: then the numbers go to the
 * file named by BIRDFEED_TEST_SUMMARY.
 */
export class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const summary = summarise(modules, unhandledErrors.length);
    const file = process.env['BIRDFEED_TEST_SUMMARY'];
    if (file !== undefined) {
      writeFileSync(file, JSON.stringify(summary));
      return;
    }
    const text = closingLines(summary).join('\n');
    // At exit, since vitest prints coverage and notices about hanging processes after the last reporter event. While it
    // watches files there is no exit to wait for; a later run replaces the text.
    process.removeListener('exit', this.#print);
    this.#print = () => writeSync(1, `${text}\n`);
    process.on('exit', this.#print);
  }

  #print: () => void = () => {};
}

/** The skip reasons, one a line, and the closing line. */
export function closingLines({ passed, failed, skipped, skipReasons }: RunSummary): string[] {
  const reasons = Object.entries(skipReasons).map(([reason, count]) => `skipped ${count}: ${reason}`);
  return [...reasons, `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`];
}

function summarise(modules: readonly TestModule[], unhandledErrors: number): RunSummary {
  const count = { passed: 0, failed: unhandledErrors, skipped: 0 };
  const skipReasons: Record<string, number> = {};
  for (const module of modules) {
    if (module.errors().length > 0) count.failed += 1;
    for (const suite of module.children.allSuites()) {
      if (suite.errors().length > 0) count.failed += 1;
    }
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed' || state === 'failed') {
        count[state] += 1;
        continue;
      }
      count.skipped += 1;
      const reason = skipReason(test);
      skipReasons[reason] = (skipReasons[reason] ?? 0) + 1;
    }
  }
  return { ...count, skipReasons };
}

/** The reason given to `ctx.skip(note)`, or by `skipSuite` to a suite or file around the test. */
function skipReason(test: TestCase): string {
  const result = test.result();
  if (result.state === 'skipped' && result.note !== undefined) return result.note;
  for (let at: TestSuite | TestModule = test.parent; ; at = at.parent) {
    const reason = (at.meta() as { skipReason?: string }).skipReason;
    if (reason !== undefined) return reason;
    if (at.type === 'module') return 'no reason given';
  }
}
