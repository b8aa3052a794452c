import { defineConfig } from 'vitest/config';

/** The long forms of the fault suite, one after the other: `npm run test:faults`, or `npm run test:faults -- -t Redis`. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    testTimeout: 1_800_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
    pool: 'forks',
    // Each prints its figures.
    disableConsoleIntercept: true,
  },
});
