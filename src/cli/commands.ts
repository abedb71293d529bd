import type { OptionOrigin } from '../config/load.ts';
import type { OptionName, Options } from '../config/options.ts';
import type { ExitCode } from '../core/errors.ts';

/** What a command gets. Output for people or machines goes to `out`; logs and errors to standard error. */
export interface CommandContext {
  readonly options: Options;
  readonly origins: Readonly<Record<OptionName, OptionOrigin>>;
  readonly args: readonly string[];
  readonly switches: ReadonlySet<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  out(text: string): void;
}

export type Command = (context: CommandContext) => Promise<ExitCode | number>;

export interface CommandSpec {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  /** Shown by `birdfeed COMMAND --help`, below the usage. */
  readonly details: string;
  readonly examples: readonly string[];
  /** Flags without a value that only this command has, with their help. */
  readonly switches: Readonly<Record<string, string>>;
  /** Words that may follow, for suggestions; null: free text. */
  readonly words: readonly string[] | null;
  load(): Promise<Command>;
}

/** The first one is what runs without a command word. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'watch',
    usage: 'birdfeed [watch] [OPTIONS]',
    summary: 'watch the datastore, render, publish, tell BIRD, for ever (the default); with --onetime once',
    details:
      'Renders whenever the datastore, a template or a resource file changes, publishes each rendering as one\n' +
      'generation in the cache, has BIRD load it and reads back that it did. Starts from the cache when the datastore\n' +
      'is unreachable. SIGHUP re-reads conf.d and templates; SIGTERM ends in order and leaves BIRD running.',
    examples: [
      'birdfeed --fixtures examples/mesh --node-name n1 --bird bird2',
      'birdfeed --etcd-endpoints https://10.0.0.1:2379 --cache /var/lib/birdfeed --control-socket /run/bird/bird.ctl',
      'birdfeed --onetime --wait 60s --require-fresh',
    ],
    switches: {},
    words: [],
    load: async () => (await import('./watch.ts')).watch,
  },
  {
    name: 'diff',
    usage: 'birdfeed diff [OPTIONS]',
    summary: 'show what the datastore would change in the current generation; exits 1 when something would',
    details:
      'Renders once and compares with the current generation: lines, sessions added and removed, and which ones reset.',
    examples: ['birdfeed diff --fixtures examples/mesh --node-name n1 --bird bird2'],
    switches: {},
    words: [],
    load: async () => (await import('./diff.ts')).diff,
  },
  {
    name: 'render',
    usage: 'birdfeed render [--context] [OPTIONS]',
    summary: 'print the rendered files, or with --context what a template sees, as JSON',
    details:
      'Publishes nothing and asks no BIRD. Passwords are printed as they would be rendered, except with --context.',
    examples: ['birdfeed render --context --fixtures examples/mesh --node-name n1 --bird bird2'],
    switches: { context: 'print the names and values that templates see' },
    words: [],
    load: async () => (await import('./render.ts')).render,
  },
  {
    name: 'explain',
    usage: 'birdfeed explain PEER|ADDRESS|NODE [--json] [OPTIONS]',
    summary: 'say why this node has a BGP session, or why it has none',
    details:
      'Reads the datastore once, computes this node and says by which resource and rule a session exists, with both ends;\n' +
      'or what is against it: a selector that fails (and its term), a missing address, another BGPPeer that comes first, a\n' +
      'quarantined resource, a missing password, a mesh that is off. Takes the name of a BGPPeer or a node (BGPPeer/x and\n' +
      'Node/x where both exist), an address, or the name of a protocol in the rendered configuration.',
    examples: [
      'birdfeed explain n2 --fixtures examples/mesh --node-name n1 --bird bird2',
      'birdfeed explain Mesh_10_0_0_2 --json --fixtures examples/mesh --node-name n1 --bird bird2',
    ],
    switches: {},
    words: null,
    load: async () => (await import('./explain.ts')).explain,
  },
  {
    name: 'generations',
    usage: 'birdfeed generations list | show [N] | rollback N | resume',
    summary: 'list, show, roll back to a generation (pins it), or resume following the datastore',
    details:
      'rollback verifies generation N, makes it current and pins it until resume; a running birdfeed has BIRD load it.',
    examples: [
      'birdfeed generations list',
      'birdfeed generations rollback 41',
      'birdfeed generations resume',
    ],
    switches: {},
    words: ['list', 'show', 'rollback', 'resume'],
    load: async () => (await import('./generations.ts')).generations,
  },
  {
    name: 'approve',
    usage: 'birdfeed approve [DIGEST]',
    summary: 'approve the change that the guard holds',
    details:
      'The digest (from birdfeed status) makes sure that what is approved is what you looked at; without it, whatever is held now.',
    examples: ['birdfeed approve', 'birdfeed approve 3f9a1c22'],
    switches: {},
    words: null,
    load: async () => (await import('./approve.ts')).approve,
  },
  {
    name: 'probe',
    usage: 'birdfeed probe ready | live',
    summary: 'the same answers as /readyz and /livez, for exec probes: exit 0 or 1',
    details: 'Asks the running birdfeed over CACHE/admin.sock.',
    examples: ['birdfeed probe ready --cache /var/lib/birdfeed'],
    switches: {},
    words: ['ready', 'live'],
    load: async () => (await import('./probe.ts')).probe,
  },
  {
    name: 'status',
    usage: 'birdfeed status [--json]',
    summary: 'what a running birdfeed knows and does: datastore, generation, BIRD, problems',
    details: 'Asks the running birdfeed over CACHE/admin.sock; without one, says what the cache holds.',
    examples: ['birdfeed status', 'birdfeed status --json'],
    switches: {},
    words: [],
    load: async () => (await import('./status.ts')).status,
  },
];

export const GLOBAL_SWITCHES: Readonly<Record<string, string>> = {
  help: 'this text; after a command, that command’s',
  version: 'print the version',
  'print-config': 'print every option’s value and where it came from, without secrets, and exit',
};
