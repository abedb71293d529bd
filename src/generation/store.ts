import { join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { type BootResult, findBootable } from './boot.ts';
import { makeSetDirectories, sweepLeftovers } from './directories.ts';
import { type CacheFs, nodeFs } from './fs.ts';
import { fsError, guardFs } from './fs-errors.ts';
import { generationName, type Layout, layoutOf } from './layout.ts';
import { pruneGenerations } from './prune.ts';
import { type StagedFiles, stageFiles } from './stage.ts';
import { withoutPin, withPin } from './state.ts';
import { loadState, type StateStore, stateStore } from './state-file.ts';
import { highestNumber, listInventory, switchCurrent, takeInventory } from './switch.ts';
import type { Generation, PublishRequest, Refusal, Stamp, StampInput } from './types.ts';
import {
  createVerifier,
  type Expectation,
  isRefusal,
  readStamp,
  type Verifier,
  verifyGeneration,
} from './verify.ts';

export interface StoreOptions {
  readonly cacheDir: string;
  readonly set: string;
  /** Product version, for the stamps. */
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Numeric group that files and directories get; null leaves the process's own. */
  readonly fileGroup?: number | null;
  readonly fs?: CacheFs;
}

/** A generation under way: its files can be read in `directory`, and nothing but this process knows of them. */
export interface Stage {
  readonly number: number;
  readonly directory: string;
  /**
   * Waits for the disk, gives the generation its number and makes it `current`. Rejects with BF_GENERATION_HELD while
   * the set is pinned, with BF_CACHE_* when the disk does not play along; `current` is then what it was.
   */
  seal(): Promise<Generation>;
  /** Removes it. Harmless after seal or a former discard. */
  discard(): Promise<void>;
}

export interface ListedGeneration {
  readonly number: number;
  readonly directory: string;
  readonly current: boolean;
  readonly pinned: boolean;
  /** By its stamp alone, or why the stamp cannot be used. */
  readonly found: Generation | Refusal;
}

/**
 * The generations of one set on disk. Reading may be done by any process; everything else needs the cache's lock. After
 * having waited for the lock, open the store again: the former holder wrote meanwhile.
 */
export interface Store {
  readonly layout: Layout;
  readonly state: StateStore;
  /** One line when `state.json` was damaged, see `state-file.ts`. */
  readonly stateProblem: string | null;
  /** What `current` names, once `bootCurrent` has verified it or this process has published it. */
  readonly current: Generation | null;
  /** Finds the generation to start with. Only reads, and synchronously; see {@link BootResult}. */
  bootCurrent(expectation: Expectation, verifier?: Verifier): BootResult;
  /** Makes the directories and sweeps leftovers. */
  prepare(): Promise<void>;
  /** Switches to what `bootCurrent` found, where `current` names something else. */
  putInPlace(generation: Generation): Promise<void>;
  /**
   * Switches to `generation` if number `from` still is `current`; false when something else has become so meanwhile, and
   * stays. For taking back what turned out bad, and for bringing back what did not.
   */
  replaceCurrent(from: number, generation: Generation): Promise<boolean>;
  /** Whether `current` already is this content, still whole by its names and sizes: then there is nothing to publish. */
  isCurrent(input: Pick<StampInput, 'contentDigest' | 'nodeName' | 'dialect'>): Promise<boolean>;
  /** Starts a generation. One at a time: a stage that is still open is superseded and can no longer be sealed. */
  stage(request: PublishRequest): Promise<Stage>;
  /** Ascending. */
  list(): readonly ListedGeneration[];
  /** Verifies generation `number` on disk. */
  verify(number: number, expectation: Expectation): Generation | Refusal;
  /** Verifies, pins and switches. BF_GENERATION_REFUSED when the generation is not fit. */
  rollbackTo(number: number, expectation: Expectation): Promise<Generation>;
  /** Ends a pin. */
  resume(): Promise<void>;
  /**
   * Removes old generations and returns their numbers. Stay: the newest `keep` (at least 1), `current` and its parent, the
   * pinned one, what a target acknowledged, `protect`, and the newest that is older than an hour.
   */
  prune(keep: number, protect?: readonly number[]): Promise<readonly number[]>;
}

/** Opens the store of a set. Reads the state file; writes nothing until `prepare`. */
export function openStore(options: StoreOptions): Store {
  const { set, version, clock, log, fileGroup = null, fs = nodeFs } = options;
  const layout = layoutOf(options.cacheDir, set);
  const loaded = loadState(layout.state, () => evidence(layout), clock.now());
  const state = stateStore(layout.state, loaded.state, { fs, clock });
  let current: Generation | null = null;
  let open: StagedFiles | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  /**
   * What moves `current` goes one after the other: a roll-back that came between looking for a pin and the switch would
   * be undone by what is being sealed.
   */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  }

  async function switchTo(generation: Generation): Promise<void> {
    await switchCurrent(fs, layout, generation.number);
    current = generation;
  }

  async function stage(request: PublishRequest): Promise<Stage> {
    open = null;
    const inventory = await listInventory(fs, layout);
    const number = highestNumber(inventory) + 1;
    // A link that dangles is nobody's parent.
    const parent = inventory.numbers.find((known) => known === inventory.linked) ?? null;
    const place = { fs, generations: layout.generations, fileGroup };
    const staged = await guardFs('cache', 'stage a generation in', layout.generations, () =>
      stageFiles(place, request, { version, generation: number, parent, createdAt: clock.now() }),
    );
    open = staged;
    let over = false;
    return {
      number,
      directory: staged.directory,
      seal: () =>
        inTurn(() => {
          if (open !== staged || over) {
            throw new BirdfeedError(
              'BF_INTERNAL',
              `generation ${number} was superseded, sealed or discarded`,
            );
          }
          if (state.value.pin !== null) throw pinned(state.value.pin.generation);
          over = true;
          return seal(staged, number);
        }),
      async discard() {
        if (over) return;
        over = true;
        await discard(staged);
      },
    };
  }

  async function seal(staged: StagedFiles, number: number): Promise<Generation> {
    const directory = join(layout.generations, generationName(number));
    let stamp: Stamp;
    try {
      stamp = await staged.durable;
      await fs.rename(staged.directory, directory);
    } catch (error) {
      await discard(staged).catch(() => undefined);
      throw fsError(error, 'cache', 'seal', directory);
    }
    const generation: Generation = { number, directory, stamp };
    try {
      await guardFs('cache', 'sync', layout.generations, () => fs.syncDirectory(layout.generations));
      await switchTo(generation);
    } catch (error) {
      await afterFailedSwitch(generation).catch(() => undefined);
      throw error;
    }
    return generation;
  }

  /** A retry takes the next number, so what was sealed in vain must go, unless the link did get there. */
  async function afterFailedSwitch(generation: Generation): Promise<void> {
    const { linked } = await listInventory(fs, layout);
    if (linked === generation.number) current = generation;
    else await fs.remove(generation.directory);
  }

  async function discard(staged: StagedFiles): Promise<void> {
    await staged.durable.catch(() => undefined);
    await guardFs('cache', 'discard', staged.directory, () => fs.remove(staged.directory));
  }

  async function isCurrent(
    input: Pick<StampInput, 'contentDigest' | 'nodeName' | 'dialect'>,
  ): Promise<boolean> {
    const stamp = current?.stamp;
    if (current === null || stamp === undefined) return false;
    const equal =
      stamp.contentDigest === input.contentDigest &&
      stamp.nodeName === input.nodeName &&
      stamp.dialect === input.dialect;
    if (!equal) return false;
    const target = await fs.readlink(layout.current).catch(() => '');
    if (target !== `generations/${generationName(current.number)}`) return false;
    const { directory } = current;
    const sizes = await Promise.all(
      stamp.files.map(async ({ name }) => (await fs.facts(join(directory, name)))?.size),
    );
    return stamp.files.every(({ size }, index) => sizes[index] === size);
  }

  async function rollbackTo(number: number, expectation: Expectation): Promise<Generation> {
    const found = verify(number, expectation);
    if (isRefusal(found))
      throw new BirdfeedError('BF_GENERATION_REFUSED', `cannot roll back: ${found.message}`, {
        details: { ...found },
      });
    const before = state.value.pin;
    // The pin comes first: a death in between is then completed at the next start, instead of being published over.
    await state.update((value) =>
      withPin(value, { generation: number, by: 'operator', since: new Date(clock.now()).toISOString() }),
    );
    try {
      await switchTo(found);
    } catch (error) {
      await state.update((value) => ({ ...value, pin: before })).catch(() => undefined);
      throw error;
    }
    return found;
  }

  function verify(number: number, expectation: Expectation): Generation | Refusal {
    return verifyGeneration(join(layout.generations, generationName(number)), expectation);
  }

  return {
    layout,
    state,
    stateProblem: loaded.problem,
    get current() {
      return current;
    },
    bootCurrent(expectation, verifier = createVerifier()) {
      const result = findBootable(layout, state.value, expectation, verifier);
      if (result.inPlace) current = result.generation;
      return result;
    },
    async prepare() {
      await makeSetDirectories(fs, layout, set, fileGroup);
      const removed = await sweepLeftovers(fs, layout);
      if (removed.length > 0)
        log.info({ stage: 'generation', removed }, 'leftovers of an interrupted run removed');
    },
    putInPlace: (generation) => inTurn(() => switchTo(generation)),
    replaceCurrent: (from, generation) =>
      inTurn(async () => {
        if (current?.number !== from) return false;
        await switchTo(generation);
        return true;
      }),
    isCurrent,
    stage,
    list() {
      const { numbers, linked } = takeInventory(layout);
      return numbers.map((number) => {
        const directory = join(layout.generations, generationName(number));
        const pinned = state.value.pin?.generation === number;
        return { number, directory, current: number === linked, pinned, found: readStamp(directory) };
      });
    },
    verify,
    rollbackTo: (number, expectation) => inTurn(() => rollbackTo(number, expectation)),
    resume: () => state.update(withoutPin),
    prune: (keep, protect = []) =>
      pruneGenerations({ fs, layout, current, now: clock.now(), state: state.value }, keep, protect),
  };
}

function evidence(layout: Layout): { current: number | null; newest: number | null } {
  const { numbers, linked } = takeInventory(layout);
  return { current: linked, newest: numbers.at(-1) ?? null };
}

function pinned(number: number): BirdfeedError {
  return new BirdfeedError(
    'BF_GENERATION_HELD',
    `generation ${number} is pinned: end that with \`birdfeed generations resume\``,
  );
}
