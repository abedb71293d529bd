import { type BirdBinary, binaries } from '../support/binaries.ts';
import type { Network } from '../support/netns.ts';
import { flavourOf } from './lab/flavour.ts';
import { hostsOf, Lab, type LabSpec } from './lab/lab.ts';
import type { Report } from './lab/report.ts';
import { Tor } from './lab/tor.ts';
import { CLUSTER_AS } from './scenarios/cluster.ts';
import { withoutCache } from './scenarios/contrast.ts';
import { dayTwo } from './scenarios/day-two.ts';
import { mesh } from './scenarios/mesh.ts';
import { perFile } from './scenarios/per-file.ts';
import { CLIENTS, REFLECTORS, reflectors } from './scenarios/reflectors.ts';
import { NODES, type Standalone, standalone } from './scenarios/standalone.ts';
import { story } from './scenarios/story.ts';

/** Scenarios that are played one after the other in one cluster. */
export interface Play {
  readonly name: string;
  readonly title: string;
  /** Whether it belongs to every test run; the others are in `npm run test:network`. */
  readonly isEssential: boolean;
  /** Rejects when a scenario cannot go on; what was found until then is in the report. */
  perform(report: Report): Promise<void>;
}

const six = [...REFLECTORS, ...CLIENTS] as const;

export const PLAYS: readonly Play[] = [
  {
    name: 'bird-2.0',
    title: 'six nodes with BIRD 2.0.12: mesh, a restart without etcd, reflectors',
    isEssential: true,
    perform: (report) => sixNodes(binaries.bird20!, report),
  },
  {
    name: 'bird-1.6',
    title: 'six nodes with BIRD 1.6.8: mesh, a restart without etcd, reflectors',
    isEssential: false,
    perform: (report) => sixNodes(binaries.bird16!, report),
  },
  {
    name: 'day-two',
    title: 'reflectors and clients with BIRD 2.0.12: what happens to a cluster in its life',
    isEssential: false,
    perform: (report) => sevenNodes(binaries.bird20!, report),
  },
  {
    name: 'day-two-1.6',
    title: 'reflectors and clients with BIRD 1.6.8: what happens to a cluster in its life',
    isEssential: false,
    perform: (report) => sevenNodes(binaries.bird16!, report),
  },
  {
    name: 'standalone',
    title: 'a route reflector with BIRD 2.0.12 outside a cluster with BIRD 1.6.8',
    isEssential: false,
    perform: outside,
  },
  {
    name: 'contrast',
    title: 'the outage without a cache, with BIRD 2.0.12; files published one by one, with BIRD 1.6.8',
    isEssential: false,
    perform: contrast,
  },
  ...(['bird217', 'bird31'] as const).map((key) => ({
    name: key === 'bird217' ? 'bird-2.17' : 'bird-3.1',
    title: `three nodes with BIRD ${key === 'bird217' ? '2.17.6' : '3.1.8'}: mesh, a restart without etcd`,
    isEssential: false,
    perform: (report: Report) => threeNodes(binaries[key]!, report),
  })),
];

async function sixNodes(binary: BirdBinary, report: Report): Promise<void> {
  const hosts = hostsOf(six, flavourOf(binary));
  await withLab({ hosts, others: ['tor'] }, async (lab) => {
    await mesh(lab, report);
    await story(lab, report);
    await withTor(lab.network, (tor) => reflectors(lab, tor, report));
  });
}

async function sevenNodes(binary: BirdBinary, report: Report): Promise<void> {
  const hosts = hostsOf([...six, 'n7'] as const, flavourOf(binary));
  await withLab({ hosts, others: ['tor'] }, (lab) => withTor(lab.network, (tor) => dayTwo(lab, tor, report)));
}

async function threeNodes(binary: BirdBinary, report: Report): Promise<void> {
  await withLab({ hosts: hostsOf(['n1', 'n2', 'n3'], flavourOf(binary)) }, async (lab) => {
    await mesh(lab, report);
    await story(lab, report);
  });
}

async function outside(report: Report): Promise<void> {
  const rr = { flavour: flavourOf(binaries.bird20!), hasPods: false };
  const hosts = { rr, ...hostsOf(NODES, flavourOf(binaries.bird16!)) };
  await withLab<Standalone>({ hosts }, (lab) => standalone(lab, report));
}

async function contrast(report: Report): Promise<void> {
  await withLab({ hosts: hostsOf(['n1', 'n2', 'n3', 'n4'], flavourOf(binaries.bird20!)) }, async (lab) => {
    await mesh(lab, report);
    await withoutCache(lab, report);
  });
  await withLab({ hosts: hostsOf(['n1', 'n2'], flavourOf(binaries.bird16!)) }, async (lab) => {
    await mesh(lab, report);
    await perFile(lab, report);
  });
}

async function withLab<Name extends string>(
  spec: Omit<LabSpec<Name>, 'etcd'>,
  use: (lab: Lab<Name>) => Promise<void>,
): Promise<void> {
  const lab = await Lab.open({ ...spec, etcd: binaries.etcd35! });
  try {
    await use(lab);
  } finally {
    await lab.close();
  }
}

async function withTor({ nodes }: Network<string>, use: (tor: Tor) => Promise<void>): Promise<void> {
  const peers = REFLECTORS.map((name) => nodes[name]!);
  const tor = await Tor.start(binaries.bird20!, nodes['tor']!, peers, CLUSTER_AS);
  try {
    await use(tor);
  } finally {
    await tor.close();
  }
}
