import { BlockList, isIP } from 'node:net';

/**
 * The proxy that the environment names for a server, as Go programs take it from there: HTTPS_PROXY or HTTP_PROXY, in
 * capitals or not, unless NO_PROXY names the host, a domain it is in, or a network with its address; undefined for none.
 * The machine itself is never reached through a proxy.
 */
export function proxyFor(server: URL, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const variable = (name: string): string => env[name] || env[name.toLowerCase()] || '';
  const proxy = variable(server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  const host = server.hostname.replace(/^\[|\]$/g, '');
  if (proxy === '' || host === 'localhost' || /^127\.|^::1$/.test(host)) return undefined;
  const exceptions = variable('NO_PROXY')
    .split(',')
    .map((item) => item.trim().toLowerCase())
    .filter((item) => item !== '');
  if (exceptions.some((item) => excepts(item, host, server.port || '443'))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function excepts(item: string, host: string, port: string): boolean {
  if (item === '*' || item === host || item === `${host}:${port}`) return true;
  if (item.includes('/')) return isWithin(host, item);
  const domain = item.replace(/^\*?\.?/, '');
  return isIP(host) === 0 && host.endsWith(`.${domain}`);
}

function isWithin(host: string, network: string): boolean {
  const [address = '', length] = network.split('/');
  const family = isIP(address);
  if (family === 0 || family !== isIP(host)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  try {
    list.addSubnet(address, Number(length), type);
    return list.check(host, type);
  } catch {
    return false;
  }
}
