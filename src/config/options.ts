import { DIALECTS } from '../render/types.ts';

/**
 * The one option table. Flags, environment variables, config-file entries, `--help`, `--print-config` and the table
 * in README.md all come from it; nothing else in the project names an option.
 */
export type OptionType = 'text' | 'list' | 'flag' | 'integer' | 'share' | 'duration' | 'choice';

export interface OptionSpec {
  /** Long flag without the dashes; the config-file entry is the same with underscores. */
  readonly flag: string;
  readonly type: OptionType;
  /** Environment variables, first set one wins. Calico's names come with and without `CALICO_`, which wins. */
  readonly env: readonly string[];
  /** Text form of the default as help shows it; null: no default. Parsed like user input. */
  readonly default: string | null;
  readonly choices?: readonly string[];
  /** Placeholder in help. */
  readonly value?: string;
  readonly help: string;
  readonly group: OptionGroup;
  /** Never printed. */
  readonly secret?: true;
}

export const OPTION_GROUPS = [
  'Run',
  'Datastore',
  'Rendering',
  'Cache',
  'BIRD',
  'Safety',
  'Observing',
] as const;
export type OptionGroup = (typeof OPTION_GROUPS)[number];

function calico(name: string): readonly string[] {
  return [`CALICO_${name}`, name];
}

export const OPTIONS = {
  onetime: {
    flag: 'onetime',
    type: 'flag',
    env: ['BIRDFEED_ONETIME'],
    default: 'false',
    group: 'Run',
    help: 'render once, publish, tell BIRD, and exit (an init container)',
  },
  noop: {
    flag: 'noop',
    type: 'flag',
    env: ['BIRDFEED_NOOP'],
    default: 'false',
    group: 'Run',
    help: 'render and compare only; write nothing. With --onetime exits 1 when something would change',
  },
  wait: {
    flag: 'wait',
    type: 'duration',
    env: ['BIRDFEED_WAIT'],
    default: '30s',
    value: 'DURATION',
    group: 'Run',
    help: 'how long --onetime waits for the datastore, the lock and BIRD',
  },
  requireFresh: {
    flag: 'require-fresh',
    type: 'flag',
    env: ['BIRDFEED_REQUIRE_FRESH'],
    default: 'false',
    group: 'Run',
    help: '--onetime fails with 75 rather than succeed from the cache',
  },
  cachedExitCode: {
    flag: 'cached-exit-code',
    type: 'integer',
    env: ['BIRDFEED_CACHED_EXIT_CODE'],
    default: '0',
    value: 'N',
    group: 'Run',
    help: 'exit code of --onetime when it succeeded from the cache',
  },
  config: {
    flag: 'config',
    type: 'text',
    env: ['BIRDFEED_CONFIG'],
    default: null,
    value: 'FILE',
    group: 'Run',
    help: 'configuration file (TOML); default /etc/birdfeed/birdfeed.toml, then $XDG_CONFIG_HOME/birdfeed/birdfeed.toml, if there',
  },

  nodeName: {
    flag: 'node-name',
    type: 'text',
    env: ['BIRDFEED_NODE_NAME', ...calico('NODENAME')],
    default: null,
    value: 'NAME',
    group: 'Datastore',
    help: 'the Calico node to render for; default: what --node-name-file has, else $HOSTNAME or the host name, in lower case',
  },
  nodeNameFile: {
    flag: 'node-name-file',
    type: 'text',
    env: ['BIRDFEED_NODE_NAME_FILE', 'CALICO_NODENAME_FILE'],
    default: '/var/lib/calico/nodename',
    value: 'FILE',
    group: 'Datastore',
    help: 'where calico-node keeps the name that it chose; read when no name is given, if it is there',
  },
  datastore: {
    flag: 'datastore',
    type: 'choice',
    choices: ['auto', 'etcd', 'kubernetes', 'fixtures', 'env'],
    env: ['BIRDFEED_DATASTORE', ...calico('DATASTORE_TYPE')],
    default: 'auto',
    value: 'KIND',
    group: 'Datastore',
    help: 'where the data is; auto: fixtures when --fixtures is given, else etcd',
  },
  fixtures: {
    flag: 'fixtures',
    type: 'text',
    env: ['BIRDFEED_FIXTURES'],
    default: null,
    value: 'DIR',
    group: 'Datastore',
    help: 'read Calico YAML or plain key trees from this directory or file',
  },
  etcdEndpoints: {
    flag: 'etcd-endpoints',
    type: 'list',
    env: ['BIRDFEED_ETCD_ENDPOINTS', ...calico('ETCD_ENDPOINTS')],
    default: 'http://127.0.0.1:2379',
    value: 'URL,...',
    group: 'Datastore',
    help: 'etcd v3 endpoints, tried in random order',
  },
  etcdCaFile: {
    flag: 'etcd-ca-file',
    type: 'text',
    env: ['BIRDFEED_ETCD_CA_FILE', ...calico('ETCD_CA_CERT_FILE')],
    default: null,
    value: 'FILE',
    group: 'Datastore',
    help: 'CA certificate that signed the etcd servers’ certificates (PEM)',
  },
  etcdCertFile: {
    flag: 'etcd-cert-file',
    type: 'text',
    env: ['BIRDFEED_ETCD_CERT_FILE', ...calico('ETCD_CERT_FILE')],
    default: null,
    value: 'FILE',
    group: 'Datastore',
    help: 'client certificate for etcd (PEM)',
  },
  etcdKeyFile: {
    flag: 'etcd-key-file',
    type: 'text',
    env: ['BIRDFEED_ETCD_KEY_FILE', ...calico('ETCD_KEY_FILE')],
    default: null,
    value: 'FILE',
    group: 'Datastore',
    help: 'private key of the client certificate (PEM)',
  },
  etcdUsername: {
    flag: 'etcd-username',
    type: 'text',
    env: ['BIRDFEED_ETCD_USERNAME', ...calico('ETCD_USERNAME')],
    default: null,
    value: 'NAME',
    group: 'Datastore',
    help: 'etcd user name',
  },
  etcdPassword: {
    flag: 'etcd-password',
    type: 'text',
    env: ['BIRDFEED_ETCD_PASSWORD', ...calico('ETCD_PASSWORD')],
    default: null,
    value: 'TEXT',
    secret: true,
    group: 'Datastore',
    help: 'etcd password; better in the environment than on a command line',
  },
  kubeconfig: {
    flag: 'kubeconfig',
    type: 'text',
    env: ['BIRDFEED_KUBECONFIG', ...calico('KUBECONFIG')],
    default: null,
    value: 'FILE',
    group: 'Datastore',
    help: 'kubeconfig of the cluster; default: the service account of the pod, else ~/.kube/config',
  },
  k8sContext: {
    flag: 'k8s-context',
    type: 'text',
    env: ['BIRDFEED_K8S_CONTEXT', ...calico('K8S_CURRENT_CONTEXT')],
    default: null,
    value: 'NAME',
    group: 'Datastore',
    help: 'context of the kubeconfig; default: its current one',
  },
  k8sApiEndpoint: {
    flag: 'k8s-api-endpoint',
    type: 'list',
    env: ['BIRDFEED_K8S_API_ENDPOINT', ...calico('K8S_API_ENDPOINT')],
    default: null,
    value: 'URL,...',
    group: 'Datastore',
    help: 'Kubernetes API servers, instead of the one that the kubeconfig or the pod names',
  },
  k8sCaFile: {
    flag: 'k8s-ca-file',
    type: 'text',
    env: ['BIRDFEED_K8S_CA_FILE', ...calico('K8S_CA_FILE')],
    default: null,
    value: 'FILE',
    group: 'Datastore',
    help: 'CA certificate that signed the API server’s certificate (PEM), instead of the kubeconfig’s',
  },
  k8sCertFile: {
    flag: 'k8s-cert-file',
    type: 'text',
    env: ['BIRDFEED_K8S_CERT_FILE', ...calico('K8S_CERT_FILE')],
    default: null,
    value: 'FILE',
    group: 'Datastore',
    help: 'client certificate for the API server (PEM), instead of the kubeconfig’s',
  },
  k8sKeyFile: {
    flag: 'k8s-key-file',
    type: 'text',
    env: ['BIRDFEED_K8S_KEY_FILE', ...calico('K8S_KEY_FILE')],
    default: null,
    value: 'FILE',
    group: 'Datastore',
    help: 'private key of that client certificate (PEM)',
  },
  k8sInsecure: {
    flag: 'k8s-insecure-skip-tls-verify',
    type: 'flag',
    env: ['BIRDFEED_K8S_INSECURE_SKIP_TLS_VERIFY', ...calico('K8S_INSECURE_SKIP_TLS_VERIFY')],
    default: 'false',
    group: 'Datastore',
    help: 'believe any certificate of the API server',
  },
  calicoApiGroup: {
    flag: 'calico-api-group',
    type: 'text',
    env: ['BIRDFEED_CALICO_API_GROUP', 'CALICO_API_GROUP'],
    default: null,
    value: 'GROUP/VERSION',
    group: 'Datastore',
    help: 'projectcalico.org/v3 or crd.projectcalico.org/v1; default: the newer one where only that is there',
  },
  secretsDir: {
    flag: 'secrets-dir',
    type: 'text',
    env: ['BIRDFEED_SECRETS_DIR'],
    default: null,
    value: 'DIR',
    group: 'Datastore',
    help: 'BGP passwords as files, NAMESPACE/NAME/KEY or NAME/KEY (mounted Secrets), for datastores without Secrets',
  },
  secretsNamespace: {
    flag: 'secrets-namespace',
    type: 'text',
    env: ['BIRDFEED_SECRETS_NAMESPACE', 'NAMESPACE'],
    default: 'kube-system',
    value: 'NAME',
    group: 'Datastore',
    help: 'namespace of the Secrets that BGPPeers refer to',
  },
  endpointStatusDir: {
    flag: 'endpoint-status-dir',
    type: 'text',
    env: ['BIRDFEED_ENDPOINT_STATUS_DIR'],
    default: null,
    value: 'DIR',
    group: 'Datastore',
    help: 'Felix’s endpoint-status directory, for local workload peers; default $CALICO_ENDPOINT_STATUS_PATH_PREFIX/endpoint-status when that is set',
  },
  relistInterval: {
    flag: 'relist-interval',
    type: 'duration',
    env: ['BIRDFEED_RELIST_INTERVAL'],
    default: '30m',
    value: 'DURATION',
    group: 'Datastore',
    help: 'read everything anew this often, whatever the watch says',
  },

  bird: {
    flag: 'bird',
    type: 'choice',
    choices: ['auto', ...DIALECTS, 'none'],
    env: ['BIRDFEED_BIRD'],
    default: 'auto',
    value: 'DIALECT',
    group: 'Rendering',
    help: 'dialect: bird1 (1.6), bird2 (2.x, 3.x), bird1-calico (the fork); none: no BIRD resources. auto: what the cache, the control socket or the local binary says',
  },
  confdir: {
    flag: 'confdir',
    type: 'text',
    env: ['BIRDFEED_CONFDIR'],
    default: null,
    value: 'DIR',
    group: 'Rendering',
    help: 'directory with conf.d/ and templates/, added to the shipped ones; a template of the same name replaces the shipped one. Default /etc/birdfeed if there',
  },
  prefix: {
    flag: 'prefix',
    type: 'text',
    env: ['BIRDFEED_PREFIX'],
    default: null,
    value: 'PREFIX',
    group: 'Rendering',
    help: 'put in front of the prefix of every plain resource',
  },
  routerId: {
    flag: 'router-id',
    type: 'text',
    env: ['BIRDFEED_ROUTER_ID', 'CALICO_ROUTER_ID'],
    default: null,
    value: 'ID|hash',
    group: 'Rendering',
    help: 'router id: an address, or "hash" of the node name; default: the IPv4 address, or the hash without one',
  },
  advertiseClusterIps: {
    flag: 'advertise-cluster-ips',
    type: 'text',
    env: ['BIRDFEED_ADVERTISE_CLUSTER_IPS', 'CALICO_ADVERTISE_CLUSTER_IPS'],
    default: null,
    value: 'CIDR',
    group: 'Rendering',
    help: 'overrides serviceClusterIPs of the BGPConfiguration',
  },
  usePodCidr: {
    flag: 'use-pod-cidr',
    type: 'flag',
    env: ['BIRDFEED_USE_POD_CIDR', ...calico('USE_POD_CIDR')],
    default: 'false',
    group: 'Rendering',
    help: 'blocks are the nodes’ pod CIDRs (host-local IPAM)',
  },
  calicoCompat: {
    flag: 'calico-compat',
    type: 'flag',
    env: ['BIRDFEED_CALICO_COMPAT'],
    default: 'false',
    group: 'Rendering',
    help: 'Calico confd’s less safe defaults; see docs',
  },
  passiveOrder: {
    flag: 'passive-order',
    type: 'choice',
    choices: ['text', 'numeric'],
    env: ['BIRDFEED_PASSIVE_ORDER'],
    default: 'text',
    value: 'ORDER',
    group: 'Rendering',
    help: 'which end of a session waits: text compares addresses as Calico does, numeric as numbers. A fleet must agree',
  },

  cache: {
    flag: 'cache',
    type: 'text',
    env: ['BIRDFEED_CACHE'],
    default: null,
    value: 'DIR',
    group: 'Cache',
    help: 'cache directory, host-mounted; default /var/lib/birdfeed, with --fixtures $XDG_STATE_HOME/birdfeed',
  },
  fileGroup: {
    flag: 'file-group',
    type: 'text',
    env: ['BIRDFEED_FILE_GROUP'],
    default: null,
    value: 'GROUP',
    group: 'Cache',
    help: 'group (name or id) of rendered files, so that BIRD’s user can read them',
  },
  set: {
    flag: 'set',
    type: 'text',
    env: ['BIRDFEED_SET'],
    default: 'default',
    value: 'NAME',
    group: 'Cache',
    help: 'which set `generations` looks at or rolls back; BIRD’s is "default", a plain resource’s is named after its file',
  },
  keep: {
    flag: 'keep',
    type: 'integer',
    env: ['BIRDFEED_KEEP'],
    default: '10',
    value: 'N',
    group: 'Cache',
    help: 'generations to keep',
  },

  controlSocket: {
    flag: 'control-socket',
    type: 'list',
    env: ['BIRDFEED_CONTROL_SOCKET'],
    default: null,
    value: 'PATH',
    group: 'BIRD',
    help: 'BIRD’s control socket (repeatable: bird, then bird6; or FILE=PATH). Default /run/bird/bird.ctl (and bird6.ctl for 1.6)',
  },
  reload: {
    flag: 'reload',
    type: 'choice',
    choices: ['auto', 'socket', 'command', 'none'],
    env: ['BIRDFEED_RELOAD'],
    default: 'auto',
    value: 'HOW',
    group: 'BIRD',
    help: 'socket: configure over the control socket and read back; command: only reload_cmd of the resources; none. auto: none with --fixtures and no --control-socket, else socket',
  },
  birdBinary: {
    flag: 'bird-binary',
    type: 'text',
    env: ['BIRDFEED_BIRD_BINARY'],
    default: null,
    value: 'PATH',
    group: 'BIRD',
    help: 'bird for syntax checks (bird6 beside it); default: from PATH',
  },
  syntaxCheck: {
    flag: 'syntax-check',
    type: 'choice',
    choices: ['auto', 'required', 'off'],
    env: ['BIRDFEED_SYNTAX_CHECK'],
    default: 'auto',
    value: 'WHEN',
    group: 'BIRD',
    help: 'check with bird -p or over the socket before publishing; required: publish nothing unchecked',
  },

  guardShare: {
    flag: 'guard-share',
    type: 'share',
    env: ['BIRDFEED_GUARD_SHARE'],
    default: '50%',
    value: 'SHARE',
    group: 'Safety',
    help: 'hold a change that loses more than this share of the nodes, BGPPeers or pools at once; 100% never holds for that',
  },
  quiet: {
    flag: 'quiet',
    type: 'duration',
    env: ['BIRDFEED_QUIET'],
    default: '20ms',
    value: 'DURATION',
    group: 'Safety',
    help: 'after a first change, wait for this much quiet before the next run',
  },
  quietMax: {
    flag: 'quiet-max',
    type: 'duration',
    env: ['BIRDFEED_QUIET_MAX'],
    default: '250ms',
    value: 'DURATION',
    group: 'Safety',
    help: 'never wait longer than this for quiet',
  },
  checkTimeout: {
    flag: 'check-timeout',
    type: 'duration',
    env: ['BIRDFEED_CHECK_TIMEOUT'],
    default: '30s',
    value: 'DURATION',
    group: 'Safety',
    help: 'time-out of a check command',
  },
  reloadTimeout: {
    flag: 'reload-timeout',
    type: 'duration',
    env: ['BIRDFEED_RELOAD_TIMEOUT'],
    default: '60s',
    value: 'DURATION',
    group: 'Safety',
    help: 'time-out of a reload command and of configure',
  },
  splayHard: {
    flag: 'splay-hard',
    type: 'duration',
    env: ['BIRDFEED_SPLAY_HARD'],
    default: '0',
    value: 'DURATION',
    group: 'Safety',
    help: 'spread changes that reset sessions over this time, each node at a moment of its own, route reflectors in two halves; other changes never wait, nor does --onetime. 0: off',
  },
  splayStart: {
    flag: 'splay-start',
    type: 'duration',
    env: ['BIRDFEED_SPLAY_START'],
    default: '0',
    value: 'DURATION',
    group: 'Safety',
    help: 'with a configuration from the cache in place, first ask the datastore at a random moment within this time, so that a fleet that starts at once does not list at once; without one, and with --onetime, there is no wait. 0: off',
  },
  peerRemovalGrace: {
    flag: 'peer-removal-grace',
    type: 'duration',
    env: ['BIRDFEED_PEER_REMOVAL_GRACE'],
    default: '0',
    value: 'DURATION',
    group: 'Safety',
    help: 'keep sessions with a node that has vanished from the datastore for this long. 0: they go at once',
  },
  commitConfirm: {
    flag: 'commit-confirm',
    type: 'integer',
    env: ['BIRDFEED_COMMIT_CONFIRM'],
    default: '0',
    value: 'SECONDS',
    group: 'Safety',
    help: 'load on trial: BIRD goes back after so many seconds unless the sessions that were up have come back. 0: off; with trials at least 30, sessions need time',
  },
  unreadyWhenStale: {
    flag: 'unready-when-stale',
    type: 'duration',
    env: ['BIRDFEED_UNREADY_WHEN_STALE'],
    default: null,
    value: 'DURATION',
    group: 'Safety',
    help: 'not ready after this long without the datastore; off by default, since it can take every node down at once',
  },

  listen: {
    flag: 'listen',
    type: 'text',
    env: ['BIRDFEED_LISTEN'],
    default: '127.0.0.1:9568',
    value: 'ADDR:PORT',
    group: 'Observing',
    help: 'HTTP address of /livez, /readyz, /status and /metrics; "none" for no listener',
  },
  logLevel: {
    flag: 'log-level',
    type: 'choice',
    choices: ['debug', 'info', 'warn', 'error'],
    env: ['BIRDFEED_LOG_LEVEL'],
    default: 'info',
    value: 'LEVEL',
    group: 'Observing',
    help: 'least severe level to log',
  },
  logFormat: {
    flag: 'log-format',
    type: 'choice',
    choices: ['auto', 'json', 'text'],
    env: ['BIRDFEED_LOG_FORMAT'],
    default: 'auto',
    value: 'FORMAT',
    group: 'Observing',
    help: 'auto: text on a terminal, JSON lines elsewhere',
  },
  showDiff: {
    flag: 'show-diff',
    type: 'choice',
    choices: ['auto', 'always', 'never'],
    env: ['BIRDFEED_SHOW_DIFF'],
    default: 'auto',
    value: 'WHEN',
    group: 'Observing',
    help: 'print what a new generation changes; auto: with --fixtures on a terminal',
  },
  json: {
    flag: 'json',
    type: 'flag',
    env: ['BIRDFEED_JSON'],
    default: 'false',
    group: 'Observing',
    help: 'machine-readable output of commands',
  },
} as const satisfies Record<string, OptionSpec>;

export type OptionName = keyof typeof OPTIONS;

interface ValueByType {
  text: string;
  list: readonly string[];
  flag: boolean;
  integer: number;
  /** 0 to 1. */
  share: number;
  /** Milliseconds. */
  duration: number;
  choice: string;
}

type ValueOf<N extends OptionName> = (typeof OPTIONS)[N] extends { readonly choices: readonly (infer C)[] }
  ? C
  : ValueByType[(typeof OPTIONS)[N]['type']];

/** The resolved options; null where neither the user nor the table gave a value. */
export type Options = {
  readonly [N in OptionName]: (typeof OPTIONS)[N]['default'] extends null ? ValueOf<N> | null : ValueOf<N>;
};

/** The name an option has in the configuration file. */
export function fileEntry(name: OptionName): string {
  return OPTIONS[name].flag.replaceAll('-', '_');
}

export const OPTION_NAMES = Object.keys(OPTIONS) as readonly OptionName[];
