import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../config/options.ts';
import { readResourceFiles } from '../config/resource-files.ts';
import { parseResources, type Resource } from '../config/resources.ts';
import { type Clock, nextTurn } from '../core/clock.ts';
import { BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { didYouMean } from '../core/suggest.ts';
import { loadLastGood } from '../generation/last-good.ts';
import { DEFAULT_SET, layoutOf } from '../generation/layout.ts';
import type { Destination } from '../generation/types.ts';
import { compatOptions, type ModelOptions, modelOptions } from '../model/bgp/options.ts';
import { type CalicoProducer, createCalicoProducer } from '../model/bgp/producer.ts';
import { KEY_FUNCTION_NAMES } from '../model/keys/functions.ts';
import { createKeysProducer, type KeysProducer, type KeysResult } from '../model/keys/producer.ts';
import { compileSchemas } from '../model/keys/schema.ts';
import type { ProducerResult } from '../model/types.ts';
import { createEngine, type Engine } from '../render/engine.ts';
import { sealContent } from '../render/mark.ts';
import { type RenderJob, renderResources } from '../render/render-resources.ts';
import { createLookups, type Lookups, renderResolved } from '../render/resolve.ts';
import { SHIPPED_TEMPLATES } from '../render/shipped-templates.ts';
import { fileExists, systemDns } from '../render/system-lookups.ts';
import { DIALECTS, type Dialect } from '../render/types.ts';
import { findGroup, findUser } from './file-group.ts';
import { growingParts } from './growing-view.ts';
import { configurationDirectories } from './paths.ts';
import type { Computation, Rendering, SetPlan } from './set-plan.ts';
import { unionMounts } from './union-mounts.ts';

export interface PlanDeps {
  readonly options: Options;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nodeName: string;
  readonly dialect: Dialect | null;
  readonly cacheDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** What an earlier plan of this process looked up for a set; null at first. */
  lookupsOf(set: string): Lookups | null;
  /** The time that templates of a set were last rendered with, by the stamp of its current generation. */
  renderTimeOf(set: string): Promise<number | null>;
}

/**
 * Reads conf.d and templates and makes the plans of all sets that this dialect uses.
 * @throws the first finding; BF_RESOURCE_FILE when there is nothing to render
 */
export async function loadPlans(deps: PlanDeps): Promise<readonly SetPlan[]> {
  const { options, dialect } = deps;
  const directories = configurationDirectories(options);
  const read = readResourceFiles(directories.map((directory) => join(directory, 'conf.d')));
  const parsed = parseResources(read.files, {
    dialects: DIALECTS,
    models: ['calico', 'keys'],
    defaultSet: DEFAULT_SET,
    globalPrefix: options.prefix ?? '',
  });
  throwAll([...read.errors, ...parsed.errors]);
  for (const warning of parsed.warnings) deps.log.warn({ warning }, 'a resource file looks wrong');
  const used = parsed.resources.filter(({ model, dialects }) =>
    dialects === null
      ? model !== 'calico' || dialect !== null
      : dialect !== null && dialects.includes(dialect),
  );
  if (used.length === 0) {
    const where = directories.map((directory) => join(directory, 'conf.d')).join(' and ');
    throw new BirdfeedError(
      'BF_RESOURCE_FILE',
      `no resource in ${where} is for --bird ${options.bird}: nothing to render`,
    );
  }
  const templateDirs = directories.map((directory) => join(directory, 'templates'));
  const engine = createEngine({
    templateDirs,
    contextFunctions: KEY_FUNCTION_NAMES,
    environment: deps.env,
    precompiled: SHIPPED_TEMPLATES,
  });
  throwAll(used.flatMap((resource) => templateFault(resource, engine, templateDirs)));
  const sets = [...new Set(used.map((resource) => resource.set))];
  return Promise.all(
    sets.map(async (set) => {
      const lookups = deps.lookupsOf(set) ?? (await newLookups(set, deps));
      const resources = used.filter((resource) => resource.set === set);
      return makePlan(set, resources, engine, { ...deps, lookups });
    }),
  );
}

function templateFault({ file, src }: Resource, engine: Engine, dirs: readonly string[]): BirdfeedError[] {
  const fault = engine.problems.get(src);
  if (fault !== undefined) return [fault];
  if (engine.names.includes(src)) return [];
  const message = `${file}: src: there is no ${src} in ${dirs.join(' or ')}${didYouMean(src, engine.names)}`;
  return [new BirdfeedError('BF_TEMPLATE_MISSING', message, { details: { file, field: 'src' } })];
}

function throwAll(errors: readonly BirdfeedError[]): void {
  const [first, ...more] = errors;
  if (first === undefined) return;
  const others = more.map((error) => `\n  ${error.message}`).join('');
  throw new BirdfeedError(first.code, `${first.message}${others}`, { cause: first, details: first.details });
}

/** A resource with the producer that feeds it. Resources of one set share the calico producer. */
interface Part {
  readonly resource: Resource;
  readonly producer: CalicoProducer | KeysProducer;
}

async function makePlan(
  set: string,
  resources: readonly Resource[],
  engine: Engine,
  deps: PlanDeps & { readonly lookups: Lookups },
): Promise<SetPlan> {
  const { dialect, nodeName, cacheDir } = deps;
  const lastGood = loadLastGood(layoutOf(cacheDir, set).lastGood).values;
  const isBird = dialect !== null && resources.some(({ model }) => model === 'calico');
  const calico = isBird ? createCalicoProducer({ nodeName, model: modelOf(dialect, deps), lastGood }) : null;
  const parts: Part[] = [];
  for (const resource of resources) {
    const producer = resource.model === 'calico' ? calico! : await keysProducer(resource, lastGood);
    parts.push({ resource, producer });
  }
  const producers = [...new Set(parts.map(({ producer }) => producer))];
  const mounts = unionMounts(producers.flatMap((producer) => producer.mounts));
  const results = new Map<Part['producer'], ProducerResult>();
  /** What is rendered: the results, but for sessions that are kept for a while. */
  let shown: ReadonlyMap<Part['producer'], ProducerResult> = results;
  return {
    name: set,
    dialect: isBird ? dialect : null,
    mounts,
    templatesDigest: engine.digest,
    // What another file includes is loaded with that one.
    daemonFiles: resources
      .filter(({ model, checkMain }) => model === 'calico' && checkMain === null)
      .map(({ name }) => name),
    destinations: resources.flatMap(destinationOf),
    // A file that another one includes is checked through that one.
    checks: resources.flatMap((resource) =>
      commandOf(resource, resource.checkCmd, resource.checkMain ?? resource.name),
    ),
    reloads: resources.flatMap((resource) => commandOf(resource, resource.reloadCmd, resource.name)),
    prepare: (entries) => calico?.prepare(entries),
    async warmUp(view) {
      if (calico === null || results.has(calico)) return;
      const jobs = parts.filter(({ producer }) => producer === calico);
      const isAlwaysThere = (key: string): boolean => key.endsWith(`/${nodeName}`);
      const prefixes = mounts.map(({ prefix }) => prefix);
      await growingParts(view, prefixes, isAlwaysThere, async (part) => {
        results.set(calico, calico.compute(part, results.get(calico)));
        await nextTurn();
        renderResources(jobsOf(jobs, results), engine, deps.lookups.table());
      }).catch(() => undefined);
    },
    compute(view) {
      for (const producer of producers) results.set(producer, producer.compute(view, results.get(producer)));
      // Not while warming up, which reads a part only. Left are what was listed again unchanged, and what came and went.
      calico?.forgetPrepared();
      shown = results;
      return computationOf(parts, results, mounts);
    },
    model: () => (calico === null ? null : calico.modelOf(shown.get(calico)!)),
    reflectorHalf: () => (calico === null ? null : calico.halfOf(results.get(calico)!)),
    keep(served, kept) {
      if (calico !== null)
        shown = new Map(results).set(calico, calico.keep(results.get(calico)!, served, kept));
      return joined([...shown.values()], (result) => result.sessions);
    },
    contexts: () =>
      new Map(parts.map(({ resource, producer }) => [resource.src, shown.get(producer)!.context])),
    explain: (subject) => (calico === null ? null : calico.explain(results.get(calico)!, subject)),
    render: () => renderParts(parts, shown, engine, deps.lookups),
    lookups: deps.lookups,
  };
}

function commandOf(
  { file: resource, destination }: Resource,
  command: string | null,
  file: string,
): SetPlan['checks'] {
  return command === null ? [] : [{ resource, file, command, dest: destination }];
}

async function newLookups(set: string, { clock, renderTimeOf }: PlanDeps): Promise<Lookups> {
  return createLookups({ clock, dns: systemDns, fileExists, time: await renderTimeOf(set) });
}

function modelOf(dialect: Dialect, { options, env }: PlanDeps): ModelOptions {
  return modelOptions(dialect, {
    compat: compatOptions(options.calicoCompat),
    routerId: options.routerId ?? 'auto',
    passiveOrder: options.passiveOrder,
    advertiseClusterIPs: options.advertiseClusterIps,
    secretsNamespace: options.secretsNamespace,
    kubernetesNodeName: env['CALICO_K8S_NODE_REF'] ?? null,
    usePodCidr: options.usePodCidr,
  });
}

async function keysProducer(
  resource: Resource,
  lastGood: ReadonlyMap<string, string>,
): Promise<KeysProducer> {
  const check = await compileSchemas(
    resource.schema.map((rule) => ({ ...rule, text: readSchema(rule.file, resource.file) })),
  );
  const { file, keys, minKeys } = resource;
  return createKeysProducer({ resource: file, keys, minKeys, check, lastGood });
}

function readSchema(file: string, resource: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new BirdfeedError(
      'BF_RESOURCE_FILE',
      `${resource}: schema: cannot read ${file}: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

function destinationOf(resource: Resource): readonly Destination[] {
  const { destination, name, mode, uid, gid, owner, group } = resource;
  if (destination === null) return [];
  return [
    {
      file: name,
      path: destination,
      mode,
      uid: owner === null ? uid : known(findUser(owner), resource, 'owner', owner),
      gid: group === null ? gid : known(findGroup(group), resource, 'group', group),
    },
  ];
}

function known(id: number | null, { file }: Resource, field: 'owner' | 'group', name: string): number {
  if (id !== null) return id;
  const [what, number] = field === 'owner' ? ['user', 'uid'] : ['group', 'gid'];
  const remedy = `give a ${what} of this machine (or container), or ${number} with its number`;
  throw new BirdfeedError(
    'BF_RESOURCE_FILE',
    `${file}: ${field} is ${JSON.stringify(name)}, which is unknown here: ${remedy}`,
    {
      details: { file, field },
    },
  );
}

function computationOf(
  parts: readonly Part[],
  results: ReadonlyMap<Part['producer'], ProducerResult>,
  planMounts: SetPlan['mounts'],
): Computation {
  const all = [...results.values()];
  const keys = parts.flatMap(({ resource, producer }) => {
    if (producer.name !== 'keys') return [];
    const { keyCount, minKeys } = results.get(producer) as KeysResult;
    return [{ resource: resource.file, next: keyCount, minKeys }];
  });
  return {
    problems: joined(all, (result) => result.problems),
    sessions: joined(all, (result) => result.sessions),
    census: all.find((result) => result.census !== null)?.census ?? null,
    keys,
    lastGood: new Map(all.flatMap((result) => [...result.lastGood])),
    mounts: unionMounts([...planMounts, ...all.flatMap((result) => result.mounts)]),
  };
}

/** What each result has, one after the other; of a single result the very array, which may be long. */
function joined<T>(
  results: readonly ProducerResult[],
  listOf: (result: ProducerResult) => readonly T[],
): readonly T[] {
  const [first, ...more] = results;
  return first !== undefined && more.length === 0 ? listOf(first) : results.flatMap(listOf);
}

async function renderParts(
  parts: readonly Part[],
  results: ReadonlyMap<Part['producer'], ProducerResult>,
  engine: Engine,
  lookups: Lookups,
): Promise<Rendering> {
  const jobs = jobsOf(parts, results);
  const {
    files: texts,
    errors,
    asked,
    unresolved,
  } = await renderResolved((table) => renderResources(jobs, engine, table), lookups);
  const endless = unresolved.length === 0 ? [] : [endlessLookups(parts)];
  const { files, contentDigest } = sealContent(texts);
  return { files, contentDigest, faults: [...errors.values(), ...endless], asked };
}

function jobsOf(
  parts: readonly Part[],
  results: ReadonlyMap<Part['producer'], ProducerResult>,
): readonly RenderJob[] {
  return parts.map(({ resource: { file, src, name }, producer }) => ({
    file,
    src,
    name,
    context: results.get(producer)!.context,
  }));
}

function endlessLookups(parts: readonly Part[]): BirdfeedError {
  const files = parts.map(({ resource }) => resource.file).join(', ');
  return new BirdfeedError('BF_TEMPLATE_FAILED', `${files}: look-ups lead to more look-ups without end`);
}
