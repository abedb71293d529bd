import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TestRunner } from 'vitest';

/** Paths of one BIRD. 1.6 has one daemon per family (`bird`, `bird6`); 2.x and 3.x have one for both. */
export interface BirdBinary {
  readonly bird: string;
  readonly bird6?: string;
  readonly birdc: string;
  readonly version: string;
}

export interface EtcdBinary {
  readonly etcd: string;
  readonly etcdctl: string;
  readonly version: string;
}

interface ManifestEntry {
  readonly version: string;
  readonly paths: Readonly<Record<string, string>>;
}

/** What scripts/binaries.mjs leaves in .binaries/manifest.json. Paths are relative to .binaries/. */
interface Manifest {
  readonly binaries: Readonly<Record<string, ManifestEntry>>;
  readonly missing: Readonly<Record<string, string>>;
}

const folder = fileURLToPath(new URL('../../.binaries/', import.meta.url));
const manifest = readManifest();

/** The real binaries that scripts/binaries.mjs provisioned; `undefined` where it could not. */
export const binaries = {
  bird16: bird('bird16'),
  /** The IPv6 daemon of 1.6 under the name `bird`, for code that takes one BIRD. */
  bird6_16: bird6('bird16'),
  bird20: bird('bird20'),
  bird217: bird('bird217'),
  bird31: bird('bird31'),
  etcd34: etcd('etcd34'),
  etcd35: etcd('etcd35'),
} as const;

/**
 * Call at the top of a test file or of a `describe` body. When `binary` is missing, that file or suite is skipped, hooks
 * included, and the reason is listed at the end of the run; with BIRDFEED_TEST_REQUIRE_ALL=1 it fails instead. The value
 * returned in the skipped case is a placeholder which nothing gets to use.
 */
export function requireBinary<T extends object>(binary: T | undefined, name: string): T {
  if (binary !== undefined) return binary;
  skipSuite(`${name} is missing: ${reasonFor(name)}`);
  return new Proxy({}, { get: (_target, key) => `missing-${name}-${String(key)}` }) as T;
}

/** As {@link requireBinary}, for network namespaces. */
export function requireNamespaces(): void {
  if (!canUseNamespaces()) skipSuite('network namespaces cannot be made here (needs root and iproute2)');
}

/** Skips the file or suite being collected; fails it instead when everything is required that can be had here. */
export function skipSuite(reason: string, canBeHad = true): void {
  if (canBeHad && process.env['BIRDFEED_TEST_REQUIRE_ALL'] === '1') throw new Error(reason);
  const collector = TestRunner.getCurrentSuite();
  const suite = collector.suite?.name ? collector.suite : collector.file;
  if (suite === undefined) throw new Error(`skipSuite was called outside a file or describe body: ${reason}`);
  suite.mode = 'skip';
  Object.assign(suite.meta, { skipReason: reason });
}

let namespaces: boolean | undefined;

/** Whether network namespaces with veth pairs can be made: tried once with a throw-away one. */
export function canUseNamespaces(): boolean {
  namespaces ??= tryNamespace();
  return namespaces;
}

function tryNamespace(): boolean {
  if (process.getuid?.() !== 0) return false;
  const name = `bf-try-${process.pid}`;
  const ip = (...args: string[]) => spawnSync('ip', args, { stdio: 'ignore' }).status === 0;
  const made = ip('netns', 'add', name);
  const wired = made && ip('-n', name, 'link', 'add', 'name', 'v0', 'type', 'veth', 'peer', 'name', 'v1');
  if (made) ip('netns', 'del', name);
  return wired;
}

function bird(key: string): BirdBinary | undefined {
  const found = manifest.binaries[key];
  if (found?.paths['bird'] === undefined || found.paths['birdc'] === undefined) return undefined;
  const { bird: daemon, bird6: daemon6, birdc } = found.paths;
  return {
    bird: join(folder, daemon),
    ...(daemon6 === undefined ? {} : { bird6: join(folder, daemon6) }),
    birdc: join(folder, birdc),
    version: found.version,
  };
}

function bird6(key: string): BirdBinary | undefined {
  const found = bird(key);
  return found?.bird6 === undefined ? undefined : { ...found, bird: found.bird6 };
}

function etcd(key: string): EtcdBinary | undefined {
  const found = manifest.binaries[key];
  if (found?.paths['etcd'] === undefined || found.paths['etcdctl'] === undefined) return undefined;
  return {
    etcd: join(folder, found.paths['etcd']),
    etcdctl: join(folder, found.paths['etcdctl']),
    version: found.version,
  };
}

function reasonFor(name: string): string {
  return manifest.missing[name] ?? manifest.missing['*'] ?? 'see `node scripts/binaries.mjs`';
}

function readManifest(): Manifest {
  const missing = { '*': 'run `node scripts/binaries.mjs`' };
  try {
    return JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  } catch {
    return { binaries: {}, missing };
  }
}
