// Of the Kubernetes client package only the kubeconfig goes into the bundle.

const NAMESPACE = 'kubeconfig-only';

/** What the kubeconfig's module imports for the parts that are not used here, and what it gets instead. */
const STAND_INS = {
  './gen/index.js': `const unused = () => { throw new Error('the API client is not part of this bundle'); };
    export const createConfiguration = unused;
    export class ServerConfiguration { constructor() { unused(); } }`,
  'node-fetch': 'export const Headers = globalThis.Headers;',
};

/**
 * An esbuild plugin. The package's kubeconfig can also make clients for its 60 MB of generated API, which drag along
 * hundreds of KB; birdfeed has its own requests. A name that a later version imports beyond these fails the build.
 */
export const kubeconfigOnly = {
  name: NAMESPACE,
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(\.\/gen\/index\.js|node-fetch)$/ }, ({ path, importer }) =>
      /@kubernetes\/client-node\/dist\/config\.js$/.test(importer) ? { path, namespace: NAMESPACE } : null,
    );
    onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
      contents: STAND_INS[path],
      loader: 'js',
    }));
  },
};
