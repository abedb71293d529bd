import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The folder of the checkout. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs a program with this one's output and no input; resolves to its exit status, or the signal that ended it. */
export function run([program, ...args], options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], ...options });
    child.on('error', (error) => {
      console.error(`${program}: ${error.message}`);
      resolve(127);
    });
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
}
