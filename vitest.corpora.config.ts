import { defineConfig } from 'vitest/config';

/** The long runs over hostile files: `npm run test:corpora`. */
export default defineConfig({
  test: {
    include: ['test/corpora/**/*.corpus.ts'],
    testTimeout: 600_000,
    maxWorkers: 2,
    pool: 'forks',
  },
});
