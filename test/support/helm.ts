import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { skipSuite } from './binaries.ts';

const CHART = fileURLToPath(new URL('../../deploy/kubernetes/chart', import.meta.url));

/**
 * The helm that test/support/helm/go.mod names. Builds nothing: where it has not been built, the file or suite being collected
 * is skipped, and the reason says how.
 */
export function requireHelm(): {
  lint(args: readonly string[]): string;
  template(args: readonly string[]): string;
} {
  const build = spawnSync(fileURLToPath(new URL('helm/build.sh', import.meta.url)), ['--built'], {
    encoding: 'utf8',
  });
  const helm = build.stdout.trim();
  if (build.status !== 0) skipSuite(`helm is missing: ${build.stderr.trim()}`, false);
  const run = (args: readonly string[]) => execFileSync(helm, args, { encoding: 'utf8', stdio: 'pipe' });
  return {
    lint: (args) => run(['lint', '--strict', CHART, ...args]),
    template: (args) => run(['template', 'birdfeed', CHART, '--namespace', 'kube-system', ...args]),
  };
}
