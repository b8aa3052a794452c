import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// One project is one suite: `npm test` runs `fast`, `npm run test:NAME` another; docs/contributing.md says what each proves.

/** Folders that are suites of their own, or no tests. */
const SUITE_FOLDERS = [
  'process',
  'volume',
  'worlds',
  'faults',
  'trouble',
  'desktop',
  'deploy',
  'mutants',
];

/** What takes long by its nature: `npm test` leaves it to `npm run test:process`. */
const SLOW_FILES = 'test/**/*.slow.test.ts';

/** Properties that are worth more cases than `npm test` draws; some of them only those. */
const PROPERTIES = 'test/**/*.property.test.ts';
const SLOW_PROPERTIES = 'test/**/*.slow.property.test.ts';

// Workers keep what they compile where the program does.
process.env['NODE_COMPILE_CACHE'] ??= `${import.meta.dirname}/node_modules/.cache/po-sync`;

const common = {
  setupFiles: ['test/support/fixed-seed.ts'],
  globalSetup: ['test/support/shared-redis.setup.ts'],
  pool: 'forks' as const,
  // Far beyond what any test needs: a slow machine must not fail a test that only takes its time.
  testTimeout: 1_800_000,
  hookTimeout: 600_000,
  maxWorkers: 2,
  provide: { isThorough: true },
};

const SUITES = [
  {
    test: {
      ...common,
      name: 'fast',
      provide: { isThorough: false },
      include: ['test/**/*.test.ts'],
      exclude: [...SUITE_FOLDERS.map((name) => `test/${name}/**`), SLOW_FILES, SLOW_PROPERTIES],
      // Tests clean up after themselves, so files can share a worker and what it has loaded.
      isolate: false,
      // More than two cores: most of these tests wait for a process, a disk or a timer.
      maxWorkers: 5,
    },
  },
  {
    test: {
      ...common,
      name: 'process',
      isolate: false,
      // They wait for most of their time.
      maxWorkers: 8,
      maxConcurrency: 6,
      include: ['test/process/**/*.test.ts', SLOW_FILES],
      exclude: SUITE_FOLDERS.filter((name) => name !== 'process').map((name) => `test/${name}/**`),
    },
  },
  {
    test: {
      ...common,
      name: 'properties',
      include: [PROPERTIES],
      isolate: false,
    },
  },
  { test: { ...common, name: 'volume', include: ['test/volume/**/*.test.ts'] } },
  {
    test: {
      ...common,
      name: 'worlds',
      include: ['test/worlds/**/*.test.ts'],
      // With fewer worlds than usual, as in `.ci/run`, without those that show what each safeguard prevents.
      exclude:
        Number(process.env['WORLDS'] ?? 1_000) < 1_000
          ? ['test/worlds/{safeguards,assumptions}.test.ts']
          : [],
    },
  },
  {
    test: {
      ...common,
      name: 'trouble',
      include: ['test/trouble/**/*.test.ts'],
      isolate: false,
      maxWorkers: 6,
      maxConcurrency: 8,
    },
  },
  // The long forms print their figures, and programs of a desktop are heavy: one at a time.
  {
    test: {
      ...common,
      name: 'faults',
      globalSetup: ['test/support/shared-redis.setup.ts', 'test/faults/failover.setup.ts'],
      include: ['test/faults/**/*.test.ts'],
      maxWorkers: 1,
      disableConsoleIntercept: true,
    },
  },
  { test: { ...common, name: 'desktop', include: ['test/desktop/**/*.test.ts'], maxWorkers: 1 } },
  {
    test: {
      ...common,
      name: 'deploy',
      globalSetup: ['test/support/shared-redis.setup.ts', 'test/faults/failover.setup.ts'],
      include: ['test/deploy/**/*.test.ts'],
    },
  },
];

/** Begins with what waits for processes or runs worlds: only a machine that ran the tests before knows how long each takes. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = Object.groupBy(await super.sort(files), ({ project }) => project.name);
    const isLong = ({ moduleId }: TestSpecification) =>
      /\/(?:end-to-end|simulation|process)\/|\.slow\./.test(moduleId);
    return Object.values(sorted).flatMap((some = []) => [
      ...some.filter(isLong),
      ...some.filter((file) => !isLong(file)),
    ]);
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    // Node.js loads the sources as it loads the program: without a second compiler, and from its own cache.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Suites with different numbers of workers run together only one after the other, as files of several mutants do.
    projects: SUITES.map(({ test }, groupOrder) => ({
      test: { ...test, sequence: { groupOrder } },
    })),
  },
});
