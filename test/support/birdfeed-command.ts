import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The built program, for tests that run birdfeed as its users do. `npm test` builds it before any test; BIRDFEED_TEST_PROGRAM
 * names another one, such as an installed one.
 */
export function builtProgram(): string {
  const given = process.env['BIRDFEED_TEST_PROGRAM'];
  if (given !== undefined && given !== '') return given;
  const path = fileURLToPath(new URL('../../dist/birdfeed.js', import.meta.url));
  if (!existsSync(path)) throw new Error(`${path} is missing: run npm run build`);
  return path;
}
