import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../../src/core/clock.ts';
import { sha256 } from '../../../src/core/digest.ts';
import { silentLogger } from '../../../src/core/log.ts';
import { MARK_NAME } from '../../../src/reload/bird.ts';
import { BirdClient } from '../../../src/reload/socket-client.ts';
import type { WantedGeneration } from '../../../src/reload/targets.ts';
import { type BirdBinary, binaries } from '../../support/binaries.ts';

export interface BirdUnderTest {
  readonly name: string;
  readonly binary: BirdBinary | undefined;
  /** 1.6 has no channels. */
  readonly channel: string;
  readonly major: number;
}

export const BIRDS: readonly BirdUnderTest[] = [
  { name: 'bird16', binary: binaries.bird16, channel: '', major: 1 },
  { name: 'bird6_16', binary: binaries.bird6_16, channel: '', major: 1 },
  { name: 'bird20', binary: binaries.bird20, channel: 'ipv4 { import all; };', major: 2 },
  { name: 'bird217', binary: binaries.bird217, channel: 'ipv4 { import all; };', major: 2 },
  { name: 'bird31', binary: binaries.bird31, channel: 'ipv4 { import all; };', major: 3 },
];

export const MARK_A = sha256('a').slice(0, 32);
export const MARK_B = sha256('b').slice(0, 32);

/** A configuration that every BIRD accepts. `mark` null leaves the mark out. */
export function config(mark: string | null, more = ''): string {
  const define = mark === null ? '' : `define ${MARK_NAME} = "${mark}";\n`;
  return `router id 10.0.0.1;\n${define}protocol device {}\n${more}`;
}

/** `count` passive sessions; another hold time resets each of them. Passwords would cost seconds: the kernel's key list is linear. */
export function peers(bird: BirdUnderTest, count: number, holdTime: number): string {
  const isV6 = bird.name.startsWith('bird6');
  return Array.from({ length: count }, (_, i) => {
    const address = isV6 ? `fd00::${(i + 1).toString(16)}` : `127.1.${i >> 8}.${i & 255}`;
    return `protocol bgp p${i} { local as 64512; neighbor ${address} as 64512; multihop; passive; hold time ${holdTime}; ${bird.channel} }\n`;
  }).join('');
}

export const BROKEN = 'router id 10.0.0.1;\nprotocol device {}\nnonsense here;\n';

/** Writes a generation's directory and says what is wanted of it. */
export async function generation(
  parent: string,
  number: number,
  files: Readonly<Record<string, string>>,
  marks: Readonly<Record<string, string | null>>,
): Promise<WantedGeneration> {
  const directory = join(parent, String(number).padStart(8, '0'));
  await mkdir(directory, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
  return { generation: number, directory, digest: sha256(JSON.stringify(files)), marks };
}

export function connect(
  path: string,
  onNotice: (text: string) => void = () => {},
  timeoutMs = 5_000,
): Promise<BirdClient> {
  return BirdClient.connect({ path, clock: systemClock, log: silentLogger, timeoutMs, onNotice });
}
