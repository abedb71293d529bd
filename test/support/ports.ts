import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * A TCP port on 127.0.0.1 that the kernel gave out a moment ago and nobody listens on. Somebody else may take it before
 * the caller does; the kernel gives such ports out in turn, so that is rare, and whoever starts a server retries.
 */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port as number;
}

/** Several different free ports: all are held until the last one is known. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
