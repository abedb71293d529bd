import { createConnection, type Socket } from 'node:net';
import { DaemonProcess } from './daemon-process.ts';
import { until } from './wait.ts';

const LISTEN = `require('net').createServer().listen({ port: Number(process.argv[1]), host: '127.0.0.1', backlog: 1 },
  () => console.log('listening'))`;

/** A port whose queue of connections is full: Linux drops further SYNs without a word, so a connect gets no answer. */
export interface FullListener {
  close(): Promise<void>;
}

export async function listenFull(port: number): Promise<FullListener> {
  const holder = new DaemonProcess(process.execPath, ['-e', LISTEN, String(port)]);
  await holder.ready(async () => holder.output.includes('listening'), 10_000);
  await holder.pause();
  const fillers: Socket[] = [];
  // A backlog of 1 queues two connections; what is beyond that is not answered.
  await until(
    async () => {
      const filler = createConnection(port, '127.0.0.1');
      filler.on('error', () => {});
      fillers.push(filler);
      const connected = new Promise<boolean>((resolve) => filler.once('connect', () => resolve(true)));
      return !(await Promise.race([connected, new Promise((resolve) => setTimeout(resolve, 100, false))]));
    },
    { every: 1, what: `the queue of port ${port} to fill` },
  );
  return {
    async close() {
      for (const filler of fillers) filler.destroy();
      await holder.end('SIGKILL');
    },
  };
}
