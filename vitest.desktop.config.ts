import { defineConfig } from 'vitest/config';

/** With programs of a desktop, a spreadsheet and a browser: `npm run test:desktop`. */
export default defineConfig({
  test: {
    include: ['test/desktop/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // LibreOffice and Chromium are heavy enough one at a time.
    maxWorkers: 1,
    pool: 'forks',
  },
});
