import type { LookupScope } from '../lookup-table.ts';
import { BIRD_FILTERS } from './bird.ts';
import { DATA_FUNCTIONS } from './data.ts';
import { type EnvironmentVariables, environmentFunctions } from './environment.ts';
import { lookupFunctions } from './lookups.ts';
import { NUMBER_FUNCTIONS } from './numbers.ts';
import { REGEX_FUNCTIONS } from './regex.ts';
import { SORTING_FUNCTIONS } from './sorting.ts';
import { TEXT_FUNCTIONS } from './text.ts';
import type { TemplateFunction } from './types.ts';

/** Our functions under the headings of the template reference. */
export function functionGroups(
  scope: () => LookupScope,
  variables: EnvironmentVariables,
): Readonly<Record<string, readonly TemplateFunction[]>> {
  return {
    'BIRD values': BIRD_FILTERS,
    Text: TEXT_FUNCTIONS,
    'Regular expressions': REGEX_FUNCTIONS,
    Numbers: NUMBER_FUNCTIONS,
    'Lists, objects and encodings': DATA_FUNCTIONS,
    Sorting: SORTING_FUNCTIONS,
    Environment: environmentFunctions(variables),
    'Time, DNS and files': lookupFunctions(scope),
  };
}
