declare module 'nunjucks/src/transformer.js' {
  const transformer: { transform(tree: unknown, asyncFilters: readonly string[]): unknown };
  export default transformer;
}
