// etcd's own proxy, which has clients that watch the same range share one watcher of etcd.

import { freePorts } from './etcd.mjs';
import { Background, whenReady } from './processes.mjs';

export class GrpcProxy {
  static async start(binary, etcd) {
    const [port] = await freePorts(1);
    const proxy = new GrpcProxy(binary, etcd, port);
    await proxy.launch();
    return proxy;
  }

  constructor(binary, etcd, port) {
    this.binary = binary;
    this.address = `127.0.0.1:${port}`;
    this.url = `http://${this.address}`;
    this.args = ['grpc-proxy', 'start', '--endpoints', etcd.url.slice('http://'.length)];
    this.process = null;
  }

  /** Starts it, also again: on the same port. */
  async launch() {
    this.process = new Background(this.binary, [...this.args, '--listen-addr', this.address]);
    // What it answers there is etcd's.
    const answers = () =>
      fetch(`${this.url}/metrics`).then(
        ({ ok }) => ok,
        () => false,
      );
    await whenReady(this.process, answers, 'grpc-proxy');
  }

  get pid() {
    return this.process.pid;
  }

  stop() {
    return this.process.stop('SIGKILL');
  }
}
