import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The one takes half an hour, the other wants LibreOffice and Chromium: each has a configuration of its own.
    exclude: ['test/faults/**', 'test/desktop/**', 'test/trouble/**'],
    // Far beyond what any needs: a slow machine must not fail a test that only takes its time.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    setupFiles: ['test/support/fixed-seed.ts'],
    // Two cores: more files at once would only make real processes wait for each other.
    maxWorkers: 2,
    pool: 'forks',
  },
});
