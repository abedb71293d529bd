import { createConnection, createServer } from 'node:net';
import { onTestFinished } from 'vitest';

/** A control socket in front of BIRD's that passes everything on and remembers what was asked. */
export interface SocketTap {
  readonly path: string;
  /** Commands in order, as `configure "/path"`. */
  readonly commands: readonly string[];
  /** Called with each command before BIRD gets it; BIRD gets it when that has resolved. */
  onCommand: (command: string) => Promise<void> | void;
  /** How much later everything arrives, in either direction, milliseconds. */
  delayMs: number;
}

/** Listens on `path` for the running test, and asks the BIRD on `target` whatever it is asked. */
export async function tapSocket(path: string, target: string): Promise<SocketTap> {
  const commands: string[] = [];
  const tap: SocketTap = { path, commands, onCommand: () => {}, delayMs: 0 };
  const server = createServer((client) => {
    const bird = createConnection(target);
    let rest = '';
    let turn: Promise<unknown> = Promise.resolve();
    /** One after the other, so that nothing overtakes what is held up. */
    const later = (work: () => Promise<void> | void) => {
      turn = turn.then(pause).then(work);
    };
    client.on('data', (chunk) => {
      const lines = (rest + chunk.toString('utf8')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        commands.push(line);
        later(async () => {
          await tap.onCommand(line);
          bird.write(`${line}\n`);
        });
      }
    });
    bird.on('data', (chunk) => later(() => void client.write(chunk)));
    client.on('error', () => bird.destroy());
    client.on('close', () => bird.destroy());
    bird.on('error', () => client.destroy());
    bird.on('close', () => client.destroy());
  });
  const pause = () =>
    tap.delayMs > 0 ? new Promise((resolve) => setTimeout(resolve, tap.delayMs)) : undefined;
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  return tap;
}
