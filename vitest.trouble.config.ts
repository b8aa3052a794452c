import { defineConfig } from 'vitest/config';

/** Trouble that stays, with real processes: `npm run test:trouble`. Each file prints a table or its facts. */
export default defineConfig({
  test: {
    include: ['test/trouble/**/*.test.ts'],
    testTimeout: 180_000,
    maxWorkers: 2,
    pool: 'forks',
    disableConsoleIntercept: true,
  },
});
