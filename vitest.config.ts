import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The one takes half an hour, the other wants LibreOffice and Chromium: each has a configuration of its own.
    exclude: ['test/faults/**', 'test/desktop/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores: more files at once would only make real processes wait for each other.
    maxWorkers: 2,
    pool: 'forks',
  },
});
