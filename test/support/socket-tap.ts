import { createConnection, createServer } from 'node:net';
import { onTestFinished } from 'vitest';

/** A control socket in front of BIRD's that passes everything on and remembers what was asked. */
export interface SocketTap {
  readonly path: string;
  /** Commands in order, as `configure "/path"`. */
  readonly commands: readonly string[];
}

/** Listens on `path` for the running test, and asks the BIRD on `target` whatever it is asked. */
export async function tapSocket(path: string, target: string): Promise<SocketTap> {
  const commands: string[] = [];
  const server = createServer((client) => {
    const bird = createConnection(target);
    let rest = '';
    client.on('data', (chunk) => {
      const lines = (rest + chunk.toString('utf8')).split('\n');
      rest = lines.pop() ?? '';
      commands.push(...lines);
    });
    client.pipe(bird);
    bird.pipe(client);
    client.on('error', () => bird.destroy());
    client.on('close', () => bird.destroy());
    bird.on('error', () => client.destroy());
    bird.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  return { path, commands };
}
