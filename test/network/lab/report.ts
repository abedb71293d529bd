import { setTimeout as sleep } from 'node:timers/promises';

/** One thing that was tried: what should be seen, what was seen, and how long it took. */
export interface Step {
  readonly scenario: string;
  readonly step: string;
  readonly expected: string;
  readonly seen: string;
  readonly isAsExpected: boolean;
  readonly ms: number;
}

/** What a step found: what was seen, and whether that is as expected. */
export interface Finding {
  readonly seen: string;
  readonly ok: boolean;
}

export interface Narrator {
  scenario(title: string): void;
  say(text: string): void;
  step(step: Step): void;
}

export const SILENT: Narrator = { scenario: () => {}, say: () => {}, step: () => {} };

/** Collects the steps of scenarios. A scenario ends at a step that cannot be done; one that finds something else goes on. */
export class Report {
  readonly steps: Step[] = [];
  readonly #narrator: Narrator;
  #scenario = '';

  constructor(narrator: Narrator = SILENT) {
    this.#narrator = narrator;
  }

  scenario(title: string): void {
    this.#scenario = title;
    this.#narrator.scenario(title);
  }

  say(text: string): void {
    this.#narrator.say(text);
  }

  /** Does a step, and records what it finds. What it throws is recorded, too, and ends the scenario. */
  async step(step: string, expected: string, work: () => Promise<Finding>): Promise<void> {
    const started = performance.now();
    const record = ({ seen, ok }: Finding) => {
      const ms = Math.round(performance.now() - started);
      const done = { scenario: this.#scenario, step, expected, seen, isAsExpected: ok, ms };
      this.steps.push(done);
      this.#narrator.step(done);
    };
    try {
      record(await work());
    } catch (error) {
      record({ seen: (error as Error).message, ok: false });
      throw error;
    }
  }

  /** The steps that found something else than expected, as lines. */
  get failures(): readonly string[] {
    return this.steps
      .filter(({ isAsExpected }) => !isAsExpected)
      .map(
        ({ scenario, step, expected, seen }) => `${scenario}: ${step}: expected ${expected}, seen ${seen}`,
      );
  }
}

/** Looks until what it finds is as expected; after `timeout` ms what it found last stands. A throw is a finding, too. */
export async function eventually(look: () => Promise<Finding>, timeout = 60_000): Promise<Finding> {
  const deadline = performance.now() + timeout;
  for (;;) {
    const finding = await look().catch((error: Error) => ({ seen: error.message, ok: false }));
    if (finding.ok || performance.now() > deadline) return finding;
    await sleep(100);
  }
}
