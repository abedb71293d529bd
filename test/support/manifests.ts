import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { PodSpec } from './pod.ts';

export const MANIFEST_DIR = fileURLToPath(new URL('../../deploy/kubernetes/', import.meta.url));

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

/** The objects of a YAML file, as Kubernetes reads it: YAML 1.1, in which 0440 is octal. */
export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text, { version: '1.1' })
    .map((document) => document.toJS() as Manifest | null)
    .filter((object) => object !== null);
}

export function readManifests(name: string): Manifest[] {
  return parseManifests(readFileSync(join(MANIFEST_DIR, name), 'utf8'));
}

/** The pod that the DaemonSet or Deployment among these objects makes. */
export function podOf(manifests: readonly Manifest[]): PodSpec {
  const workload = manifests.find(({ kind }) => kind === 'DaemonSet' || kind === 'Deployment');
  if (workload === undefined) throw new Error('there is neither a DaemonSet nor a Deployment');
  return (workload['spec'] as { template: { spec: PodSpec } }).template.spec;
}
