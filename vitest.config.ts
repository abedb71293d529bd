import { defineConfig } from 'vitest/config';
import { ClosingLineReporter } from './test/support/closing-line-reporter.ts';

export default defineConfig({
  test: {
    reporters: ['default', new ClosingLineReporter()],
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text-summary', 'html'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          pool: 'threads',
          // Property tests take seconds on a busy machine.
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          // Processes, since these tests start daemons, send signals and change directories. Two at a time: each may run
          // several daemons, and timings under test suffer on a crowded machine.
          pool: 'forks',
          maxWorkers: 2,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // These tests wait for real daemons with real time-outs; a machine that stalls for seconds is no finding.
          // What is wrong fails twice.
          retry: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          // What `npm test` runs of it is decided in scripts/test.mjs.
          name: 'network',
          include: ['test/network/**/*.test.ts'],
          // A dozen daemons each: one cluster at a time.
          pool: 'forks',
          maxWorkers: 1,
          testTimeout: 300_000,
          retry: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          // A few runs of each fault; `npm run test:faults` makes all of them.
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          pool: 'forks',
          maxWorkers: 2,
          hookTimeout: 60_000,
          retry: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
