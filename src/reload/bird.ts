import { type Clock, sleep } from '../core/clock.ts';
import { asBirdfeedError, BirdfeedError } from '../core/errors.ts';
import { blamesOtherFile, parseBirdMessage, unreadableReason } from './bird-message.ts';
import type { Reply } from './reply.ts';
import { type BirdStatus, type ProtocolRow, parseProtocols, parseStatus } from './show.ts';
import type { BirdClient } from './socket-client.ts';
import type { ReloadOutcome } from './types.ts';

/**
 * Name of the constant in which a configuration carries the digest of its content: `define birdfeed_mark = "HEX";`. A
 * string, because `eval` of a string constant prints the bare text in 1.6, 2.x and 3.x (measured with 1.6.8, 2.0.12,
 * 2.17.6, 3.1.8), where the largest number is 32 bits.
 */
export const MARK_NAME = 'birdfeed_mark';

const MARK_DEFINITION = new RegExp(`^\\s*define\\s+${MARK_NAME}\\s*=\\s*"([^"\\n]+)"\\s*;`);

/** The mark that a configuration file defines, or null: what BIRD will answer once it runs this file. */
export function findMark(content: Uint8Array): string | null {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  // Line by line only where the name stands: a regular expression over megabytes takes milliseconds.
  for (let at = text.indexOf(MARK_NAME); at !== -1; at = text.indexOf(MARK_NAME, at + 1)) {
    const start = text.lastIndexOf('\n', at) + 1;
    const end = text.indexOf('\n', at);
    const line = text.toString('latin1', start, end === -1 ? text.length : end);
    const mark = MARK_DEFINITION.exec(line)?.[1];
    if (mark !== undefined) return mark;
  }
  return null;
}

export interface LoadOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** The mark that the file defines; null when it defines none, which makes the acknowledgement weak. */
  readonly mark: string | null;
  /** Until BIRD answers `configure`, milliseconds. A mass hard change keeps it busy for seconds. */
  readonly configureTimeoutMs?: number;
  /** Until a reconfiguration that BIRD called "in progress" has ended, milliseconds. */
  readonly settleTimeoutMs?: number;
  /** Let BIRD undo the change by itself after this many seconds, unless {@link confirm} comes first. */
  readonly undoAfterSeconds?: number;
}

/**
 * Makes BIRD load a file and reads back what it runs. Never rejects: whatever goes wrong is the outcome's condition, so
 * that the previous configuration, which BIRD keeps, can be told from a refusal. `path` is absolute, as BIRD sees it.
 */
export async function loadFile(
  client: BirdClient,
  path: string,
  options: LoadOptions,
): Promise<ReloadOutcome> {
  try {
    const suffix = options.undoAfterSeconds === undefined ? '' : ` timeout ${options.undoAfterSeconds}`;
    const command = `configure ${quotePath(path)}${suffix}`;
    const reply = await client.command(command, options.configureTimeoutMs ?? 60_000);
    const failure = judgeConfigure(reply, path, client);
    if (failure !== null) return failure;
    if (reply.code !== '0003') await settle(client, options);
    return await readBack(client, path, options.mark);
  } catch (error) {
    return { type: 'condition', error: asBirdfeedError(error) };
  }
}

/** The mark of the configuration that BIRD runs, or null when that defines none. Rejects as `command` does. */
export async function readMark(client: BirdClient, timeoutMs?: number): Promise<string | null> {
  const reply = await client.command(`eval ${MARK_NAME}`, timeoutMs);
  if (reply.code === '0023') return reply.text.trim();
  // 9001 is "no such symbol" in every version; anything else is not an answer to the question.
  if (reply.code.startsWith('9')) return null;
  throw unexpected(client, 'eval', reply);
}

export async function showStatus(client: BirdClient, timeoutMs?: number): Promise<BirdStatus> {
  const reply = await client.command('show status', timeoutMs);
  if (reply.code !== '0013') throw unexpected(client, 'show status', reply);
  return parseStatus(reply);
}

export async function showProtocols(client: BirdClient): Promise<ProtocolRow[]> {
  const reply = await client.command('show protocols');
  if (reply.code !== '0000') throw unexpected(client, 'show protocols', reply);
  if (reply.truncated)
    throw new BirdfeedError('BF_BIRD_PROTOCOL', `"show protocols" on ${client.path} is too long`);
  return parseProtocols(reply);
}

/** Keeps a configuration that was loaded with `undoAfterSeconds`. False when there was nothing to confirm. */
export async function confirm(client: BirdClient): Promise<boolean> {
  const reply = await client.command('configure confirm');
  if (reply.code === '0018') return true;
  if (reply.code === '0019') return false;
  throw unexpected(client, 'configure confirm', reply);
}

/** Goes back to the configuration before the last one, waiting until that is done. False when there is none: one level only. */
export async function undo(client: BirdClient, options: Omit<LoadOptions, 'mark'>): Promise<boolean> {
  const reply = await client.command('configure undo', options.configureTimeoutMs ?? 60_000);
  if (reply.code === '0019') return false;
  if (!CONFIGURED.has(reply.code)) throw unexpected(client, 'configure undo', reply);
  if (reply.code !== '0003') await settle(client, options);
  return true;
}

/** `configure check`: parses without loading. Scan for what crashes BIRD before: the daemon itself parses. */
export function checkOnSocket(client: BirdClient, path: string, timeoutMs: number): Promise<Reply> {
  return client.command(`configure check ${quotePath(path)}`, timeoutMs);
}

/** A path as a string of BIRD's, which knows no escapes. */
export function quotePath(path: string): string {
  if (!path.startsWith('/') || /["\x00-\x1f\x7f]/.test(path)) {
    const message = `BIRD cannot be told a path that is not absolute, or has quotes or control characters: ${JSON.stringify(path)}`;
    throw new BirdfeedError('BF_USAGE', message);
  }
  return `"${path}"`;
}

/** 0003 done, 0004 in progress, 0005 queued behind one in progress. */
const CONFIGURED = new Set(['0003', '0004', '0005']);

function judgeConfigure(reply: Reply, path: string, client: BirdClient): ReloadOutcome | null {
  if (CONFIGURED.has(reply.code)) return null;
  if (reply.code !== '8002') return { type: 'condition', error: unexpected(client, 'configure', reply) };
  const message = parseBirdMessage(reply.text);
  const reason = unreadableReason(message, path);
  if (reason === null && !blamesOtherFile(message)) {
    return { type: 'refused', message: reply.text, birdVersion: client.version };
  }
  const text = reason === null ? `BIRD: ${reply.text}` : unreadableMessage(path, reason);
  return {
    type: 'condition',
    error: new BirdfeedError('BF_BIRD_FILE', text, { details: { socket: client.path } }),
  };
}

export function unreadableMessage(path: string, reason: string): string {
  const remedy = reason.startsWith('Permission')
    ? "give BIRD's user the group of the cache (--file-group)"
    : "mount the cache at the same path in BIRD's container";
  return `BIRD cannot read ${path}: ${reason}; ${remedy}`;
}

async function settle(client: BirdClient, options: Omit<LoadOptions, 'mark'>): Promise<void> {
  const { clock, signal, settleTimeoutMs = 60_000 } = options;
  const deadline = clock.monotonic() + settleTimeoutMs;
  for (let pause = 5; ; pause = Math.min(250, pause * 2)) {
    const { state } = await showStatus(client);
    if (state === 'running') return;
    if (state === 'shutting-down') throw shuttingDown(client);
    if (signal?.aborted || clock.monotonic() >= deadline) {
      const message = `BIRD on ${client.path} has been reconfiguring for ${settleTimeoutMs} ms and is not done`;
      throw new BirdfeedError('BF_BIRD_TIMEOUT', message, { details: { socket: client.path } });
    }
    await sleep(clock, pause, signal);
  }
}

/** Whether BIRD runs what it was told to: by the mark, or by its word (`weak`) where there is none. Rejects as `command` does. */
export async function readBack(
  client: BirdClient,
  path: string,
  mark: string | null,
): Promise<ReloadOutcome> {
  if (mark === null) return { type: 'applied', ack: 'weak' };
  const running = await readMark(client);
  if (running === mark) return { type: 'applied', ack: 'mark' };
  const message = `BIRD on ${client.path} took ${path} but runs ${running ?? 'a configuration without a mark'}, not ${mark}`;
  return {
    type: 'condition',
    error: new BirdfeedError('BF_BIRD_MISMATCH', message, { details: { running, mark } }),
  };
}

function shuttingDown(client: BirdClient): BirdfeedError {
  return new BirdfeedError('BF_BIRD_UNREACHABLE', `BIRD on ${client.path} is shutting down`);
}

function unexpected(client: BirdClient, command: string, reply: Reply): BirdfeedError {
  const details = { socket: client.path, command, code: reply.code };
  if (reply.code === '0006') return shuttingDown(client);
  if (reply.code === '8007') {
    const message = `BIRD denies "${command}" on ${client.path}: the socket is restricted`;
    return new BirdfeedError('BF_BIRD_PERMISSION', message, { details });
  }
  const message = `BIRD answered "${command}" on ${client.path} with ${reply.code} ${reply.text.slice(0, 200)}`;
  return new BirdfeedError('BF_BIRD_PROTOCOL', message, { details });
}
