import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Their long forms take half an hour and have a configuration of their own.
    exclude: ['test/faults/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores: more files at once would only make real processes wait for each other.
    maxWorkers: 2,
    pool: 'forks',
  },
});
