// `npm run demo`: what birdfeed does, on a machine with nothing but Node and this checkout. No etcd, no BIRD, no root.
//
// It works on a copy of examples/route-reflectors below the system's temporary directory and removes it at the end.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = join(root, 'dist/birdfeed.js');
const NODE_NAME = 'rr1';
/** Nothing here takes a second on a quiet machine. */
const PATIENCE_MS = 20_000;

const WORKER_4 = `---
apiVersion: projectcalico.org/v3
kind: Node
metadata:
  name: worker4
spec:
  bgp:
    ipv4Address: 10.0.0.24/24
`;

async function main() {
  if (!existsSync(program)) await build();
  const folder = await mkdtemp(join(tmpdir(), 'birdfeed-demo-'));
  const daemons = new Set();
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort(new Error('interrupted')));
  process.once('SIGTERM', () => interrupted.abort(new Error('interrupted')));
  try {
    await show({ folder, daemons, signal: interrupted.signal });
  } finally {
    await Promise.all([...daemons].map((daemon) => daemon.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

async function show({ folder, daemons, signal }) {
  const fixtures = join(folder, 'cluster');
  const cache = join(folder, 'cache');
  const workers = join(fixtures, 'workers.yaml');
  const common = ['--fixtures', fixtures, '--node-name', NODE_NAME, '--bird', 'bird2', '--cache', cache];
  const start = (...options) => {
    const daemon = startDaemon([...common, '--listen', 'none', ...options], signal);
    daemons.add(daemon);
    return daemon;
  };
  await cp(join(root, 'examples/route-reflectors'), fixtures, { recursive: true });

  heading('A cluster, a node, a generation');
  say(`examples/route-reflectors is a Calico cluster as YAML: two route reflectors, three workers and a top-of-rack
switch. It stands in for etcd or Kubernetes. We render BIRD's configuration for the reflector ${NODE_NAME}.`);
  await run(['--onetime', ...common], { folder, hideLog: true });
  const first = await currentGeneration(cache);
  printGeneration(first, folder);
  printSessions(first.stamp.sessions);
  say(`For its clients ${NODE_NAME} is a reflector, so their sessions have the cluster id; the other reflector has the
same cluster id, so the session with it is an ordinary one:`);
  print(excerpt(await configuration(first), 'Node_10_0_0_21'));

  heading('A live change');
  say('Now birdfeed watches the cluster, and the node worker4 joins it.');
  const watching = start('--show-diff', 'always');
  await watching.log((line) => line.msg === 'ready');
  await appendFile(workers, WORKER_4);
  const joined = await watching.log((line) => line.msg === 'generation published');
  print(await watching.diff());
  say(`generation ${joined.generation} is published; ${joined.changes}`);

  heading('A change that resets sessions');
  say('worker4 becomes a reflector, too. Who is told what follows from its cluster id and label.');
  const before = await readFile(workers, 'utf8');
  const spec = '  name: worker4\nspec:\n  bgp:\n';
  const labelled =
    '  name: worker4\n  labels:\n    route-reflector: "true"\nspec:\n  bgp:\n    routeReflectorClusterID: 244.0.0.1\n';
  await writeFile(workers, before.replace(spec, labelled));
  const promoted = await watching.log(
    (line) => line.msg === 'generation published' && line.generation > joined.generation,
  );
  say(`generation ${promoted.generation} is published; ${promoted.changes}`);
  await run(['generations', 'list', '--cache', cache], { folder });
  await watching.stop();

  heading('The datastore is gone');
  say('birdfeed has ended, and the cluster is taken away. A new birdfeed starts on the same cache.');
  await rm(fixtures, { recursive: true });
  const cached = start();
  const inPlace = await cached.log((line) => line.msg === 'generation in place');
  await cached.log((line) => line.msg === 'datastore lost');
  say(`generation ${inPlace.generation} was verified and is in place: BIRD has its configuration, and birdfeed goes on trying.
It is alive, but not ready: a rolling update stops here.`);
  await run(['probe', 'ready', '--cache', cache], { folder });
  await run(['status', '--cache', cache], { folder, lines: 5 });
  await cached.stop();

  heading('That was all');
  say(`The copy and its cache are removed. What next:

  node dist/birdfeed.js --fixtures examples/mesh --node-name n1 --bird bird2     edit a file there, see the diff
  examples/README.md                                                            more of them
  node dist/birdfeed.js --help                                                  everything else`);
}

// ---- birdfeed ----

/** Runs a command in the foreground and prints it with its output. Its exit status is shown, and is part of the show. */
async function run(args, { folder, hideLog = false, lines = Number.POSITIVE_INFINITY }) {
  print(`${dim('$')} birdfeed ${args.join(' ').replaceAll(folder, '$DEMO')}`);
  const { code, out, log } = await collect(
    spawn(process.execPath, [program, ...args], { env: environment() }),
  );
  const shown = out.replaceAll(folder, '$DEMO').trimEnd().split('\n');
  if (out !== '') print(shown.slice(0, lines).join('\n'));
  if (shown.length > lines) print(dim('...'));
  if (!hideLog && log !== '') print(dim(log.trimEnd()));
  if (code > 1) throw new Error(`birdfeed ended with ${code}: ${log}`);
  if (code !== 0) print(dim(`(exit status ${code})`));
}

/** birdfeed in watch mode. `log` resolves with the first line of its log that fits, `diff` with what it printed. */
function startDaemon(args, signal) {
  const child = spawn(process.execPath, [program, ...args], {
    env: environment(),
    signal,
    killSignal: 'SIGTERM',
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const lines = [];
  const waiters = new Set();
  let printed = '';
  child.on('error', () => {});
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  createInterface(child.stderr).on('line', (line) => {
    lines.push(parseLine(line));
    for (const look of waiters) look();
  });
  ended.then(() => {
    for (const look of waiters) look(true);
  });
  const log = (fits) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => look(true), PATIENCE_MS);
      const look = (isLast = false) => {
        const found = lines.find(fits);
        if (found === undefined && !isLast) return;
        clearTimeout(timer);
        waiters.delete(look);
        if (found !== undefined) resolve(found);
        else
          reject(
            signal.reason ??
              new Error(`birdfeed did not get there: ${lines.map((line) => line.msg).join('; ')}`),
          );
      };
      waiters.add(look);
      look();
    });
  return {
    log,
    /** The diff is written right after its line in the log. */
    async diff() {
      const deadline = Date.now() + PATIENCE_MS;
      while (!printed.endsWith('\n') && Date.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 10));
      const diff = printed.trimEnd();
      printed = '';
      return coloured(diff);
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Options come from the command line only, whatever this shell has for a real birdfeed. */
function environment() {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }), NO_COLOR: '1' };
}

function parseLine(line) {
  try {
    return JSON.parse(line);
  } catch {
    return { msg: line };
  }
}

function collect(child) {
  return new Promise((resolve, reject) => {
    let out = '';
    let log = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      log += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, log }));
  });
}

async function currentGeneration(cache) {
  const args = ['generations', 'show', '--json', '--cache', cache];
  const { out, log } = await collect(spawn(process.execPath, [program, ...args], { env: environment() }));
  if (out === '') throw new Error(log);
  return JSON.parse(out);
}

function configuration({ directory, stamp }) {
  return readFile(join(directory, stamp.files[0].name), 'utf8');
}

async function build() {
  print('dist/ is not there yet: building it');
  const { code, log } = await collect(spawn(process.execPath, [join(root, 'scripts/build.mjs')]));
  if (code !== 0) throw new Error(`the build failed: ${log}`);
}

// ---- output ----

function heading(text) {
  print(`\n${paint('bold', text)}\n${'-'.repeat(text.length)}`);
}

function say(text) {
  print(`${text}\n`);
}

function print(text) {
  process.stdout.write(`${text}\n`);
}

function printGeneration({ directory, stamp }, folder) {
  const short = (path) => path.replace(folder, '$DEMO');
  print(`
generation  ${stamp.generation}, content ${stamp.contentDigest.slice(0, 12)}, for node ${stamp.nodeName} in the dialect ${stamp.dialect}
files       ${stamp.files.map(({ name, size, mode }) => `${short(join(directory, name))} (${size} bytes, mode ${mode})`).join('\n            ')}
BIRD reads  ${short(join(directory, '../../current', stamp.files[0].name))}
$DEMO is    ${folder}
`);
}

function printSessions(sessions) {
  const rows = [
    ['session', 'neighbour', 'AS', 'from'],
    ...sessions.map(({ name, address, asNumber, type }) => [name, address, String(asNumber), type]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column].length)));
  for (const [index, row] of rows.entries()) {
    const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
    print(index === 0 ? dim(line) : line);
  }
  print('');
}

/** The lines of one protocol, with the comment above it; its password is not for the screen. */
function excerpt(text, name) {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`protocol bgp ${name} `));
  const end = lines.indexOf('}', start);
  return lines
    .slice(start - 1, end + 1)
    .map((line) => `  ${line.replace(/password ".*"/, 'password "[redacted]"')}`)
    .map((line) => (line.includes('cluster id') ? paint('cyan', line) : line))
    .join('\n');
}

function coloured(diff) {
  const style = (line) => (line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : 'reset');
  return diff
    .split('\n')
    .map((line) => paint(style(line), `  ${line}`))
    .join('\n');
}

function dim(text) {
  return paint('dim', text);
}

function paint(style, text) {
  const isPlain = !process.stdout.isTTY || (process.env.NO_COLOR ?? '') !== '' || style === 'reset';
  return isPlain ? text : styleText(style, text, { validateStream: false });
}

try {
  await main();
} catch (error) {
  process.stderr.write(`demo: ${error.message}\n`);
  process.exitCode = 1;
}
