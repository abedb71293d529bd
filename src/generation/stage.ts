import { join } from 'node:path';
import { nextTurn } from '../core/clock.ts';
import { sha256OfPieces } from '../core/digest.ts';
import { type Pieces, sizeOf } from '../core/joined-text.ts';
import { adoptDirectory, FILE_MODE } from './directories.ts';
import type { CacheFile, CacheFs } from './fs.ts';
import { requireFileName, STAGE_PREFIX, STAMP_FILE } from './layout.ts';
import { makeStamp, type StampFrame } from './stamp.ts';
import type { PublishRequest, Stamp, StampedFile } from './types.ts';

/** A staging directory whose files can be read, and are on their way to the disk. */
export interface StagedFiles {
  readonly directory: string;
  /**
   * The stamp, when files, stamp and directory are durable; rejects with Node's error. Never an unhandled rejection.
   */
  readonly durable: Promise<Stamp>;
}

export interface StagePlace {
  readonly fs: CacheFs;
  readonly generations: string;
  readonly fileGroup: number | null;
}

/**
 * Writes a request's files into a new staging directory and returns as soon as a check can read them; hashing, fsync
 * and the stamp overlap with the check. On an error nothing is left behind.
 */
export async function stageFiles(
  place: StagePlace,
  request: PublishRequest,
  frame: Omit<StampFrame, 'files'>,
): Promise<StagedFiles> {
  for (const file of request.files) requireFileName(file.name);
  const { fs } = place;
  const directory = await fs.mkdtemp(join(place.generations, STAGE_PREFIX));
  const open: CacheFile[] = [];
  try {
    await adoptDirectory(fs, directory, place.fileGroup);
    // Settled one and all before any clean-up, or a late write would meet a directory that is going away.
    await allOf(
      request.files.map(async (file) => {
        open.push(await writeNew(place, join(directory, file.name), file.content));
      }),
    );
  } catch (error) {
    await closeAll(open);
    await fs.remove(directory).catch(() => undefined);
    throw error;
  }
  const durable = finish(place, directory, allOf(open.map(syncAndClose)), async () => {
    // The caller starts its check first, which takes longer than hashing.
    await nextTurn();
    return makeStamp(request.stamp, { ...frame, files: request.files.map(stampFile) });
  });
  durable.catch(() => undefined);
  return { directory, durable };
}

async function finish(
  place: StagePlace,
  directory: string,
  syncing: Promise<void>,
  stamping: () => Promise<{ stamp: Stamp; content: Pieces }>,
): Promise<Stamp> {
  // The stamp comes last: where it is, whole, the files it covers are on disk.
  const [{ stamp, content }] = await Promise.all([stamping(), syncing]);
  await syncAndClose(await writeNew(place, join(directory, STAMP_FILE), content));
  await place.fs.syncDirectory(directory);
  return stamp;
}

/**
 * A new file that has its final owner and mode before its first byte. It starts as 0600 and not as 0640, so that the
 * group it is born with cannot open it and read on later.
 */
async function writeNew({ fs, fileGroup }: StagePlace, path: string, content: Pieces): Promise<CacheFile> {
  const file = await fs.open(path, 'create', 0o600);
  try {
    if (fileGroup !== null) await file.chown(-1, fileGroup);
    await file.chmod(FILE_MODE);
    await file.write(content);
    return file;
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
}

async function syncAndClose(file: CacheFile): Promise<void> {
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function closeAll(files: readonly CacheFile[]): Promise<void> {
  await Promise.allSettled(files.map((file) => file.close()));
}

/** Waits for all, then rejects with the first error. */
async function allOf(work: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function stampFile({ name, content }: PublishRequest['files'][number]): StampedFile {
  const mode = `0${FILE_MODE.toString(8)}`;
  return { name, size: sizeOf(content), mode, sha256: sha256OfPieces(content) };
}
