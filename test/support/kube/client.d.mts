type KubeObject = Record<string, unknown>;

export declare class KubeError extends Error {
  readonly status: number;
}

export declare class KubeClient {
  constructor(access: { readonly url: string; readonly ca: Buffer; readonly token: string });
  static fromKubeconfig(file: string): KubeClient;
  get(path: string): Promise<KubeObject>;
  post(path: string, body: object): Promise<KubeObject>;
  put(path: string, body: object): Promise<KubeObject>;
  patch(path: string, body: object): Promise<KubeObject>;
  delete(path: string): Promise<KubeObject>;
  close(): void;
}
