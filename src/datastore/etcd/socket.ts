import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import type { Credentials } from './credentials.ts';
import type { Endpoint } from './options.ts';

/**
 * Dials an endpoint, with TLS if it is a secure one. Without a CA file the roots that Node trusts are good. An IP address
 * is no server name (RFC 6066, 3), and Node warns of one.
 */
export function openSocket({ url, secure }: Endpoint, { ca, cert, key }: Credentials): Socket {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const address = { host, port: Number(port || (secure ? 443 : 80)), noDelay: true };
  if (!secure) return tcpConnect(address);
  const names = isIP(host) ? {} : { servername: host };
  const pem = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  return tlsConnect({ ...address, ...names, ...pem, ALPNProtocols: ['h2'] });
}

/** Whether a server closes or resets a connection that it does not like is a matter of chance: one cause, one text. */
export function isCut(error: NodeJS.ErrnoException): boolean {
  return (
    error.code === 'ECONNRESET' ||
    error.code === 'EPIPE' ||
    error.message.includes('before secure TLS connection was established')
  );
}
