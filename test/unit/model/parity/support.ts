import { fileURLToPath } from 'node:url';
import { decodePieces } from '../../../../src/core/joined-text.ts';
import { blockKey, calicoKey, endpointStatusKey, kubernetesKey } from '../../../../src/datastore/keys.ts';
import { type ModelDialect, type ModelOptions, modelOptions } from '../../../../src/model/bgp/options.ts';
import { type CalicoProducer, createCalicoProducer } from '../../../../src/model/bgp/producer.ts';
import type { FamilyModel, NodeSettings, Session } from '../../../../src/model/bgp/types.ts';
import type { ProducerResult } from '../../../../src/model/types.ts';
import { createEngine } from '../../../../src/render/engine.ts';
import { NO_LOOKUPS } from '../../../../src/render/lookup-table.ts';
import { sealContent } from '../../../../src/render/mark.ts';
import { createTree } from '../../../../src/tree/tree.ts';

/** Stored values by key, as a datastore has them; a text stands for itself. */
export type Stored = Readonly<Record<string, unknown>>;

type Kind = Parameters<typeof calicoKey>[0];

/** One of Calico's resources under its key. */
export function calico(
  kind: Kind,
  name: string,
  spec: unknown,
  labels?: Readonly<Record<string, string>>,
): Stored {
  const metadata = labels === undefined ? { name } : { name, labels };
  return { [calicoKey(kind, name)]: { kind, apiVersion: 'projectcalico.org/v3', metadata, spec } };
}

/** A Node; addresses as in `spec.bgp`. */
export function nodeAt(
  name: string,
  ipv4Address: string | undefined,
  more: {
    readonly v6?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly bgp?: object;
  } = {},
): Stored {
  return calico('Node', name, { bgp: { ipv4Address, ipv6Address: more.v6, ...more.bgp } }, more.labels);
}

export function blockOf(node: string, cidr: string, state = 'confirmed'): Stored {
  return { [blockKey(node, cidr)!]: { state, deleted: false } };
}

export function secretWith(name: string, data: Readonly<Record<string, string>>): Stored {
  return { [kubernetesKey('Secret', 'kube-system', name)]: { metadata: { name }, stringData: data } };
}

export function kubernetes(kind: 'Service' | 'EndpointSlice', name: string, value: object): Stored {
  return { [kubernetesKey(kind, 'default', name)]: { kind, ...value } };
}

export function statusOf(name: string, value: object): Stored {
  return { [endpointStatusKey(name)]: value };
}

export const NO_MESH = calico('BGPConfiguration', 'default', { nodeToNodeMeshEnabled: false });

const engine = createEngine({
  templateDirs: [fileURLToPath(new URL('../../../../templates', import.meta.url))],
});

const FILES: Readonly<Record<ModelDialect, readonly string[]>> = {
  bird1: ['bird.cfg', 'bird6.cfg'],
  'bird1-calico': ['bird.cfg', 'bird6.cfg'],
  bird2: ['bird.conf'],
};

export interface WorldOptions extends Partial<ModelOptions> {
  readonly nodeName?: string;
  readonly lastGood?: ReadonlyMap<string, string>;
}

/** A datastore with a node's birdfeed on it, without anything of the machine: stored values in, files out. */
export interface World {
  /** Puts some values; `undefined` deletes. */
  change(values: Stored): void;
  /** By the producer that saw every earlier state. */
  readonly result: ProducerResult;
  readonly producer: CalicoProducer;
  readonly node: NodeSettings;
  readonly ipv4: FamilyModel;
  readonly ipv6: FamilyModel;
  readonly sessions: readonly Session[];
  readonly problemIds: readonly string[];
  /** The rendered files, by name. */
  files(): Readonly<Record<string, string>>;
  /** All rendered files, one after the other. */
  text(): string;
}

export function worldOf(values: Stored, options: WorldOptions = {}): World {
  const { nodeName = 'n1', lastGood = new Map(), dialect = 'bird1', ...changes } = options;
  const producer = createCalicoProducer({ nodeName, model: modelOptions(dialect, changes), lastGood });
  const tree = createTree();
  const root = { prefix: '/calico' };
  tree.declare(['/calico']);
  tree.applySnapshot(root, []);
  let result: ProducerResult | undefined;
  const change = (more: Stored): void => {
    tree.applyChanges(
      root,
      Object.entries(more).map(([key, value]) =>
        value === undefined
          ? { type: 'delete', key }
          : { type: 'put', entry: { key, value: textOf(value), revision: 1 } },
      ),
    );
    result = producer.compute(tree, result);
  };
  change(values);
  const context = <T>(name: string): T => result!.context[name] as T;
  const files = (): Readonly<Record<string, string>> => {
    const texts = FILES[dialect].map((name) => ({
      name,
      content: engine.renderWith(`${name}.njk`, result!.context, NO_LOOKUPS).content!,
    }));
    return Object.fromEntries(sealContent(texts).files.map((f) => [f.name, decodePieces(f.content)]));
  };
  return {
    change,
    producer,
    files,
    text: () => Object.values(files()).join('\n'),
    get result() {
      return result!;
    },
    get node() {
      return context<NodeSettings>('node');
    },
    get ipv4() {
      return context<FamilyModel>('ipv4');
    },
    get ipv6() {
      return context<FamilyModel>('ipv6');
    },
    get sessions() {
      return [...context<FamilyModel>('ipv4').sessions, ...context<FamilyModel>('ipv6').sessions];
    },
    get problemIds() {
      return result!.problems.map(({ id }) => id);
    },
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const namesOf = (world: World): readonly string[] => world.sessions.map(({ name }) => name);
