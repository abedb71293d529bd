/** What a BGP session is like, as `show protocols` says. */
export interface Session {
  readonly name: string;
  readonly isEstablished: boolean;
  /** When the protocol last changed its state; another value means that the session was reset. */
  readonly since: string;
}

/** One way to a network that BIRD knows. */
export interface Path {
  /** The session, or other protocol, that it came from. */
  readonly protocol: string;
  readonly isBest: boolean;
  readonly via: string | null;
  readonly originatorId: string | null;
  readonly clusterList: readonly string[];
}

/** `BGP --- up 12:00:00.000 Established` → a session; null for other protocols. 1.6 has a table in the second place. */
export function parseSession(name: string, row: string): Session | null {
  const found = /^BGP \S+ \S+ ([\d-]*\s?[\d:.]+)\s*(.*)$/.exec(row);
  if (found === null) return null;
  const [, since = '', info = ''] = found;
  return { name, since, isEstablished: info.startsWith('Established') };
}

/** Reads `show route PREFIX all` of 1.6, 2.x and 3.x: each path begins with `[PROTOCOL TIME …]`, attributes follow. */
export function parsePaths(text: string): readonly Path[] {
  const blocks: string[] = [];
  for (const line of text.split('\n')) {
    if (/\[\w+ [\d:. -]+/.test(line)) blocks.push(line);
    else if (blocks.length > 0) blocks[blocks.length - 1] += `\n${line}`;
  }
  return blocks.map((block) => {
    const attribute = (name: string) =>
      new RegExp(`^\\s*(?:BGP\\.|bgp_)${name}: (.*)$`, 'm').exec(block)?.[1]?.trim() ?? null;
    return {
      protocol: /\[(\w+) /.exec(block)?.[1] ?? '',
      isBest: /\] \* /.test(block),
      via: /\bvia (\S+)/.exec(block)?.[1] ?? null,
      originatorId: attribute('originator_id'),
      clusterList: (attribute('cluster_list') ?? '').split(' ').filter((id) => id !== ''),
    };
  });
}
