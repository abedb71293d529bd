import { askDaemon } from '../app/admin.ts';
import { lockBusy } from '../app/cache.ts';
import { BirdfeedError, EXIT } from '../core/errors.ts';
import { tryLock } from '../generation/lock.ts';
import type { ListedGeneration, Store } from '../generation/store.ts';
import { isRefusal } from '../generation/verify.ts';
import { readCache } from './cache-reader.ts';
import type { CommandContext } from './commands.ts';

export async function generations(context: CommandContext): Promise<number> {
  const [word = 'list', argument] = context.args;
  switch (word) {
    case 'show':
      return show(context, argument === undefined ? null : parseNumber(argument));
    case 'rollback':
      if (argument === undefined)
        throw new BirdfeedError(
          'BF_USAGE',
          'rollback needs the number of a generation; see birdfeed generations list',
        );
      return rollback(context, parseNumber(argument));
    case 'resume':
      return resume(context);
    default:
      return list(context);
  }
}

function parseNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw new BirdfeedError('BF_USAGE', `"${text}" is not the number of a generation`);
  return Number(text);
}

function list({ options, env, out }: CommandContext): number {
  const { store, expectation, cacheDir } = readCache(options, env);
  const rows = store.list().map((listed) => describe(store, listed, expectation));
  if (options.json) out(`${JSON.stringify(rows, null, 2)}\n`);
  else if (rows.length === 0) out(`no generations in ${cacheDir}\n`);
  else
    for (const row of rows)
      out(
        `${row.mark} ${String(row.generation).padStart(6)}  ${row.createdAt.padEnd(24)}  ${row.node.padEnd(16)}  ${row.dialect.padEnd(12)}  ${String(row.sessions).padStart(6)} sessions  ${row.digest}${row.fault === null ? '' : `  REFUSED: ${row.fault}`}\n`,
      );
  return rows.some((row) => row.fault !== null) ? EXIT.findings : EXIT.ok;
}

function describe(store: Store, listed: ListedGeneration, expectation: Parameters<Store['verify']>[1]) {
  const found = store.verify(listed.number, expectation);
  const stamp = isRefusal(found) ? null : found.stamp;
  return {
    mark: listed.pinned ? 'P' : listed.current ? '*' : ' ',
    generation: listed.number,
    current: listed.current,
    pinned: listed.pinned,
    createdAt: stamp?.createdAt ?? '-',
    node: stamp?.nodeName ?? '-',
    dialect: stamp?.dialect ?? '-',
    sessions: stamp?.sessions.length ?? 0,
    digest: stamp?.contentDigest.slice(0, 12) ?? '-',
    fault: isRefusal(found) ? found.message : null,
  };
}

function show({ options, env, out }: CommandContext, number: number | null): number {
  const { store, expectation, cacheDir } = readCache(options, env);
  const wanted = number ?? store.list().find((listed) => listed.current)?.number;
  if (wanted === undefined)
    throw new BirdfeedError('BF_GENERATION_REFUSED', `no current generation in ${cacheDir}`);
  const found = store.verify(wanted, expectation);
  if (isRefusal(found)) throw new BirdfeedError('BF_GENERATION_REFUSED', found.message);
  const { stamp, directory } = found;
  if (options.json) {
    out(`${JSON.stringify({ directory, stamp }, null, 2)}\n`);
    return EXIT.ok;
  }
  out(
    `generation ${stamp.generation} (parent ${stamp.parent ?? 'none'}), made ${stamp.createdAt} by birdfeed ${stamp.version}\n`,
  );
  out(`node ${stamp.nodeName}, dialect ${stamp.dialect ?? 'none'}, content ${stamp.contentDigest}\n`);
  for (const mount of stamp.mounts)
    out(`from ${mount.kind} ${mount.prefix} at revision ${mount.revision} of ${mount.datastoreId}\n`);
  for (const file of stamp.files)
    out(`file ${directory}/${file.name}, ${file.size} bytes, mode ${file.mode}, sha256 ${file.sha256}\n`);
  for (const session of stamp.sessions)
    out(`session ${session.name} with ${session.address} AS ${session.asNumber} (${session.type})\n`);
  return EXIT.ok;
}

async function rollback({ options, env, out }: CommandContext, generation: number): Promise<number> {
  const { cacheDir, expectation } = readCache(options, env);
  const answer = await askDaemon(cacheDir, { do: 'rollback', set: options.set, generation });
  if (answer === undefined)
    await alone(cacheDir, () => readCache(options, env).store.rollbackTo(generation, expectation));
  const told =
    answer === undefined
      ? 'no birdfeed runs on this cache: BIRD loads it when one starts'
      : 'BIRD is being told';
  out(
    options.json
      ? `${JSON.stringify({ generation, daemon: answer !== undefined })}\n`
      : `generation ${generation} is current and pinned; ${told}\n`,
  );
  return EXIT.ok;
}

async function resume({ options, env, out }: CommandContext): Promise<number> {
  const { cacheDir } = readCache(options, env);
  const answer = await askDaemon(cacheDir, { do: 'resume', set: options.set });
  if (answer === undefined) await alone(cacheDir, () => readCache(options, env).store.resume());
  out(
    options.json
      ? `${JSON.stringify({ resumed: true })}\n`
      : 'pin ended; birdfeed follows the datastore again\n',
  );
  return EXIT.ok;
}

/** Does something to a cache that no birdfeed uses. */
async function alone(cacheDir: string, work: () => Promise<unknown>): Promise<void> {
  const attempt = await tryLock({ cacheDir });
  if (attempt.type === 'busy') throw lockBusy(cacheDir, attempt.holder);
  if (attempt.type === 'unavailable') throw new BirdfeedError('BF_LOCK_UNAVAILABLE', attempt.reason);
  try {
    await work();
  } finally {
    attempt.lock.release();
  }
}
