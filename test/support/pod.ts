import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DaemonProcess } from './daemon-process.ts';

/** Of a pod's specification, what {@link Pod} acts on. */
export interface PodSpec {
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly securityContext?: { readonly fsGroup?: number };
  readonly automountServiceAccountToken?: boolean;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
  }[];
  readonly securityContext?: {
    readonly runAsUser?: number;
    readonly runAsGroup?: number;
    readonly readOnlyRootFilesystem?: boolean;
    readonly capabilities?: { readonly add?: readonly string[] };
  };
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle?: { readonly preStop?: { readonly exec: { readonly command: readonly string[] } } };
  readonly readinessProbe?: HttpProbe;
  readonly livenessProbe?: HttpProbe;
}

export interface HttpProbe {
  readonly httpGet: { readonly host: string; readonly port: string; readonly path: string };
}

interface Volume {
  readonly name: string;
  readonly hostPath?: { readonly path: string };
  readonly emptyDir?: object;
  readonly secret?: { readonly secretName: string; readonly defaultMode?: number };
  readonly configMap?: { readonly name: string };
}

/** What a container engine has of an image. */
export interface Image {
  /** The folder with its content; `/` for this machine's, with a /run and a /var/lib of its own. */
  readonly root: string;
  readonly entrypoint: readonly string[];
  readonly path: string;
  /** In a network of its own, so that what runs touches no routes of this machine. */
  readonly ownNetwork?: boolean;
}

export interface PodOptions {
  /** Stands for the node's disk and for what the kubelet keeps; the pod's volumes are in it. */
  readonly dir: string;
  readonly images: Readonly<Record<string, Image>>;
  readonly nodeName: string;
  /** Files of Secrets and ConfigMaps, by the name of the object. */
  readonly objects?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** What a pod gets that has its service account's token mounted. */
  readonly serviceAccount?: {
    readonly token: string;
    readonly ca: string;
    readonly namespace: string;
    readonly server: string;
  };
  /** Variables with other values than in the specification, such as where etcd is. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Whether this machine lets the tests do what a container engine does. */
export function canRunPods(): boolean {
  return process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;
}

/**
 * Runs a pod's containers from unpacked images as a kubelet and a container engine do: a root of its own, read-only when it
 * says so, the volumes mounted at their paths with the owners that they have on a node, user, groups and capabilities as
 * given, no new privileges, and no environment but its own. Not what is around that: cgroups, seccomp, other namespaces.
 */
export class Pod {
  readonly spec: PodSpec;
  readonly #options: PodOptions;

  constructor(spec: PodSpec, options: PodOptions) {
    this.spec = spec;
    this.#options = options;
    for (const volume of spec.volumes ?? []) this.#makeVolume(volume);
    if (spec.automountServiceAccountToken) this.#makeToken();
  }

  /** Runs the init containers one after the other; throws with the output of the one that fails. */
  async init(): Promise<void> {
    for (const { name } of this.spec.initContainers ?? []) {
      const container = this.start(name);
      await container.ended();
      if (container.exit !== 0) throw new Error(`${name} ended with ${container.exit}: ${container.output}`);
    }
  }

  /** Starts a container, or what `command` names in its place. */
  start(name: string, command?: readonly string[]): DaemonProcess {
    const container = this.container(name);
    const image = this.#options.images[container.image];
    if (image === undefined) throw new Error(`there is no image ${container.image}`);
    const words = command ?? [...(container.command ?? image.entrypoint), ...(container.args ?? [])];
    const [program, ...args] = this.#inContainer(container, image, words) as [string, ...string[]];
    return new DaemonProcess(program, args, image.ownNetwork ? { netns: 'private' } : {});
  }

  /** Runs something in a container as `kubectl exec` does: its exit code and what it printed. */
  async exec(name: string, command: readonly string[]): Promise<{ code: unknown; output: string }> {
    const process = this.start(name, command);
    await process.ended();
    return { code: process.exit, output: process.output };
  }

  container(name: string): Container {
    const all = [...(this.spec.initContainers ?? []), ...this.spec.containers];
    const found = all.find((container) => container.name === name);
    if (found === undefined) throw new Error(`the pod has no container ${name}`);
    return found;
  }

  /** Where a volume is on this machine. */
  volume(name: string): string {
    return join(this.#options.dir, name);
  }

  /** Asks as the kubelet does. */
  async probe(name: string, kind: 'readinessProbe' | 'livenessProbe'): Promise<boolean> {
    const { ports, [kind]: probe } = this.container(name);
    if (probe === undefined) throw new Error(`${name} has no ${kind}`);
    const { host, port, path } = probe.httpGet;
    const number = ports?.find((candidate) => candidate.name === port)?.containerPort;
    return fetch(`http://${host}:${number}${path}`, { signal: AbortSignal.timeout(3_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  #makeVolume({ name, hostPath, emptyDir, secret, configMap }: Volume): void {
    const { dir, objects = {} } = this.#options;
    const path = join(dir, name);
    mkdirSync(path, { recursive: true });
    const group = this.spec.securityContext?.fsGroup ?? 0;
    // A hostPath is made for root, whatever the pod says, and stays as it is.
    if (hostPath !== undefined) return;
    chownSync(path, 0, group);
    chmodSync(path, emptyDir === undefined ? 0o755 : 0o2777);
    const files = objects[secret?.secretName ?? configMap?.name ?? ''] ?? {};
    for (const [file, text] of Object.entries(files)) {
      writeFileSync(join(path, file), text);
      chmodSync(join(path, file), secret?.defaultMode ?? 0o644);
      chownSync(join(path, file), 0, group);
    }
  }

  /** Readable for all, as the kubelet has it for pods with an fsGroup or not. */
  #makeToken(): void {
    if (this.#options.serviceAccount === undefined) throw new Error('the pod needs a service account');
    const { token, ca, namespace } = this.#options.serviceAccount;
    mkdirSync(this.volume(TOKEN), { recursive: true });
    for (const [name, text] of Object.entries({ token, 'ca.crt': ca, namespace }))
      writeFileSync(join(this.volume(TOKEN), name), text);
  }

  #inContainer(container: Container, image: Image, words: readonly string[]): string[] {
    const { securityContext = {}, env = [], volumeMounts = [] } = container;
    const { runAsUser: uid = 0, runAsGroup: gid = 0, capabilities, readOnlyRootFilesystem } = securityContext;
    const groups = String(this.spec.securityContext?.fsGroup ?? gid);
    const root = join(this.#options.dir, `root-${container.name}`);
    mkdirSync(root, { recursive: true });
    const { automountServiceAccountToken: hasToken } = this.spec;
    const token = { name: TOKEN, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true };
    // The image of this machine is not for programs that would need it.
    const all = hasToken && image.root !== '/' ? [...volumeMounts, token] : volumeMounts;
    const mounts = all.flatMap(({ name, mountPath, readOnly }) => [
      this.volume(name),
      mountPath,
      readOnly ? 'ro' : 'rw',
    ]);
    const kept = (capabilities?.add ?? []).map((name) => `+${name.toLowerCase()}`).join(',');
    // The capability to chroot is the one too many: a user other than root loses it with all others.
    const bounding = ['-all', '+sys_chroot', ...(uid === 0 ? [] : ['+setuid', '+setgid']), kept].filter(
      Boolean,
    );
    const become = [
      '/usr/bin/setpriv',
      '--no-new-privs',
      '--inh-caps=-all',
      `--bounding-set=${bounding.join(',')}`,
    ];
    const user =
      uid === 0
        ? [...become, `--regid=${gid}`, `--groups=${groups}`, '/usr/sbin/chroot', root]
        : [...become, '/usr/sbin/chroot', `--userspec=${uid}:${gid}`, `--groups=${groups}`, root];
    const variables = [
      ...Object.entries(this.#serviceVariables()).map(([name, value]) => `${name}=${value}`),
      ...env.map((one) => `${one.name}=${this.#valueOf(one)}`),
    ];
    return [
      ...['unshare', '--mount', '--propagation', 'private', '/bin/sh', '-c', ENTER, 'sh'],
      ...[root, image.root, readOnlyRootFilesystem ? 'ro' : 'rw', ...mounts, '--'],
      ...['/usr/bin/env', '-i', `PATH=${image.path}`, ...variables, ...user, ...words],
    ];
  }

  /** Where the API server is, as the kubelet tells every container. */
  #serviceVariables(): Readonly<Record<string, string>> {
    const { server } = this.#options.serviceAccount ?? {};
    if (server === undefined) return {};
    const { hostname, port } = new URL(server);
    return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
  }

  #valueOf({ name, value, valueFrom }: NonNullable<Container['env']>[number]): string {
    const given = this.#options.env?.[name];
    if (given !== undefined) return given;
    if (valueFrom === undefined) return value ?? '';
    const { fieldPath } = valueFrom.fieldRef;
    if (fieldPath !== 'spec.nodeName')
      throw new Error(`${name} is from ${fieldPath}, which no node has here`);
    return this.#options.nodeName;
  }
}

/** Of the volume with the token, by which no volume of a specification can be called. */
const TOKEN = 'serviceaccount.token';

/** Arguments: new root, image, ro or rw, then SOURCE TARGET MODE of each mount, `--`, and the command. */
const ENTER = `
set -e
new=$1 image=$2 mode=$3; shift 3
mount --rbind "$image" "$new"
if [ "$image" = / ]; then
  mount -t tmpfs tmpfs "$new/run"; mount -t tmpfs tmpfs "$new/var/lib"
else
  mount --rbind /dev "$new/dev"; mount --rbind /proc "$new/proc"
fi
while [ "$1" != -- ]; do
  mkdir -p "$new$2"
  mount --bind "$1" "$new$2"
  mount -o "remount,bind,$3" "$new$2"
  shift 3
done
shift
mount -o "remount,bind,$mode" "$new"
exec "$@"
`;
