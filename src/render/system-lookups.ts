import { lookup, resolveSrv } from 'node:dns/promises';
import { access } from 'node:fs/promises';
import type { Dns } from './resolve.ts';

/** No record of that kind, or no such name: an empty answer, not a failure. */
const NO_RECORDS = new Set(['ENODATA', 'ENOTFOUND']);

/** The system's resolver; addresses also from /etc/hosts, as Go's and so confd's look-ups have it. */
export const systemDns: Dns = {
  async addresses(host) {
    const found = await emptyWithoutRecords(lookup(host, { all: true }));
    return found.map(({ address }) => address);
  },
  async services(service, protocol, domain) {
    const found = await emptyWithoutRecords(resolveSrv(`_${service}._${protocol}.${domain}`));
    return found.map(({ name, port, priority, weight }) => ({
      Target: name.endsWith('.') ? name : `${name}.`,
      Port: port,
      Priority: priority,
      Weight: weight,
    }));
  },
};

async function emptyWithoutRecords<T>(answer: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await answer;
  } catch (error) {
    if (NO_RECORDS.has((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

/** As confd's: what cannot be found out for lack of permission counts as there. */
export async function fileExists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== 'ENOENT' && code !== 'ENOTDIR';
  }
}
