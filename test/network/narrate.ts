import { styleText } from 'node:util';
import type { Narrator, Step } from './lab/report.ts';

/** Tells people what happens, as it happens. */
export function narrator(print: (text: string) => void): Narrator {
  return {
    scenario: (title) => print(`\n${paint('bold', title)}\n${'-'.repeat(title.length)}\n`),
    say: (text) => print(`${text}\n\n`),
    step: ({ step, seen, isAsExpected, ms, expected }) => {
      const mark = isAsExpected ? paint('green', 'ok') : paint('red', 'NOT AS EXPECTED');
      const missed = isAsExpected ? '' : `\n      expected: ${expected}`;
      print(`  ${mark}  ${step} (${seconds(ms)})\n      ${seen}${missed}\n`);
    },
  };
}

/** All steps, scenario by scenario: step, expected, seen, time. In Markdown, which reads well as it is. */
export function table(steps: readonly Step[]): string {
  const head = ['step', 'expected', 'seen', 'time'];
  const rowsOf = (scenario: string) =>
    steps
      .filter((step) => step.scenario === scenario)
      .map(({ step, expected, seen, isAsExpected, ms }) => [
        step,
        expected,
        `${isAsExpected ? '' : 'NOT AS EXPECTED: '}${seen}`,
        seconds(ms),
      ]);
  const scenarios = [...new Set(steps.map(({ scenario }) => scenario))];
  const good = steps.filter(({ isAsExpected }) => isAsExpected).length;
  return `${scenarios
    .map((scenario) => `\n### ${scenario}\n\n${markdown([head, ...rowsOf(scenario)])}`)
    .join('')}\n${good} of ${steps.length} steps as expected\n`;
}

function markdown(rows: readonly (readonly string[])[]): string {
  const [head, ...body] = rows as [readonly string[], ...(readonly string[])[]];
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + body.map(line).join('');
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function paint(style: 'bold' | 'green' | 'red', text: string): string {
  const isPlain = !process.stdout.isTTY || (process.env['NO_COLOR'] ?? '') !== '';
  return isPlain ? text : styleText(style, text, { validateStream: false });
}
