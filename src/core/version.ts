/** The product's version; the bundler replaces the identifier with package.json's. */
declare const __BIRDFEED_VERSION__: string | undefined;

export const VERSION: string =
  typeof __BIRDFEED_VERSION__ === 'string' ? __BIRDFEED_VERSION__ : '0.0.0-source';
