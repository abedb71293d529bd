import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { NetworkNode } from '../../support/netns.ts';

/** Round trips between two pods. */
export interface Flow {
  readonly name: string;
  readonly sent: number;
  readonly lost: number;
  /** From the first probe of a row that got no answer to the next one that did. */
  readonly longestMs: number;
}

export interface Traffic {
  readonly flows: readonly Flow[];
  readonly sent: number;
  readonly lost: number;
  readonly longestMs: number;
}

const EVERY_MS = 10;
const program = fileURLToPath(new URL('./prober.mjs', import.meta.url));

/** Children still running: a worker that ends without its hooks having run must not leave any behind. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A process in a pod's namespace that sends UDP to other pods, a hundred probes a second to each, and answers theirs. */
export class Prober {
  readonly #child: ChildProcess;
  readonly #gone: Promise<unknown>;

  private constructor(pod: NetworkNode) {
    const args = ['netns', 'exec', pod.netns, process.execPath, program];
    this.#child = spawn('ip', args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    running.add(this.#child);
    this.#gone = once(this.#child, 'exit').finally(() => running.delete(this.#child));
  }

  static async start(pod: NetworkNode): Promise<Prober> {
    const prober = new Prober(pod);
    await prober.#answer();
    return prober;
  }

  begin(targets: readonly { readonly name: string; readonly address: string }[]): void {
    this.#child.send({ start: { everyMs: EVERY_MS, targets } });
  }

  async end(): Promise<readonly Flow[]> {
    this.#child.send({ stop: true });
    return (await this.#answer())['results'] as readonly Flow[];
  }

  async close(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  async #answer(): Promise<Record<string, unknown>> {
    const ended = this.#gone.then(() => {
      throw new Error('the prober has ended');
    });
    const [message] = await Promise.race([once(this.#child, 'message'), ended]);
    return message as Record<string, unknown>;
  }
}

export function sum(flows: readonly Flow[]): Traffic {
  const total = (pick: (flow: Flow) => number) => flows.reduce((all, flow) => all + pick(flow), 0);
  return {
    flows,
    sent: total(({ sent }) => sent),
    lost: total(({ lost }) => lost),
    longestMs: Math.max(0, ...flows.map(({ longestMs }) => longestMs)),
  };
}
