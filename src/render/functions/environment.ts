import { text } from './args.ts';
import type { TemplateFunction } from './types.ts';

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The process's environment does not change while it runs, so this counts as pure. */
export function environmentFunctions(variables: EnvironmentVariables): readonly TemplateFunction[] {
  return [
    {
      name: 'getenv',
      signature: 'getenv(name, default)',
      doc: 'An environment variable; the default (or empty text) when it is unset or empty.',
      example: null,
      as: 'function',
      pure: true,
      call: (name, fallback = '') => {
        const value = variables[text(name, 'the name')];
        return value === undefined || value === '' ? fallback : value;
      },
    },
  ];
}
