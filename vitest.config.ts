import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// One project is one suite: `npm test` runs `fast`, `npm run test:NAME` another; docs/contributing.md says what each proves.

const SLOW = [
  'process',
  'volume',
  'worlds',
  'faults',
  'trouble',
  'desktop',
  'corpora',
  'deploy',
  'mutants',
];

/** Files with properties that are worth more cases than `npm test` draws. */
const PROPERTIES = [
  'config/yaml-file',
  'ledger/state-machine/next.property',
  'parse/dialect',
  'parse/json/json-scanner',
  'parse/xlsx/workbook',
  'parse/xml/xml',
  'report/fix-file/fix-file',
  'report/fix-file/workbook',
  'report/refresh-report',
  'report/round-trip',
  'sandbox/fuzz',
  'simulation/scripts',
];

/** Files that `npm test` leaves to `npm run test:process`, because they take long. */
const LONG = [
  'test/admin/control-api.test.ts',
  'test/admin/corrections-page.test.ts',
  'test/admin/fix.test.ts',
  'test/admin/full-redis.test.ts',
  'test/admin/in-progress.test.ts',
  'test/admin/metrics.test.ts',
  'test/admin/unreadable-note.test.ts',
  'test/admin/upload.test.ts',
  'test/admin/waiting-pages.test.ts',
  'test/cli/commands/sandbox.test.ts',
  'test/end-to-end/corrected-answers.test.ts',
  'test/end-to-end/dead-letters-close.test.ts',
  'test/end-to-end/exit-code.test.ts',
  'test/end-to-end/export-items.test.ts',
  'test/end-to-end/export.test.ts',
  'test/end-to-end/folders-gone.test.ts',
  'test/end-to-end/held-batch.test.ts',
  'test/end-to-end/former-address.test.ts',
  'test/end-to-end/lost-redis.test.ts',
  'test/end-to-end/missing-file.test.ts',
  'test/end-to-end/moved-inbox.test.ts',
  'test/end-to-end/no-data.test.ts',
  'test/end-to-end/notices.test.ts',
  'test/end-to-end/once.test.ts',
  'test/end-to-end/operate-batches.test.ts',
  'test/end-to-end/operate-doubt.test.ts',
  'test/end-to-end/operate.test.ts',
  'test/end-to-end/order-content.test.ts',
  'test/end-to-end/pm2.test.ts',
  'test/end-to-end/processes.test.ts',
  'test/end-to-end/read-list.test.ts',
  'test/end-to-end/rehearse.test.ts',
  'test/end-to-end/removed-while-paused.test.ts',
  'test/end-to-end/round-trip.test.ts',
  'test/end-to-end/settled-in-export.test.ts',
  'test/end-to-end/shared-inbox.test.ts',
  'test/end-to-end/unread-orders.test.ts',
  'test/end-to-end/workbook.test.ts',
  'test/log/tracing/tracing.test.ts',
  'test/parse/unreadable.test.ts',
  'test/parse/xlsx/raw-workbook.test.ts',
  'test/reconcile/ledger-rebuild.test.ts',
  'test/report/disk.test.ts',
  'test/sandbox/conformance/part-8-limits.test.ts',
  'test/sandbox/faults/fault-control.test.ts',
  'test/sandbox/faults/rehearse.test.ts',
  'test/sandbox/list-text.test.ts',
  'test/sandbox/switches.test.ts',
];

/** Files that `npm test` leaves to `npm run test:properties`, which runs them with more cases. */
const LEFT_TO_PROPERTIES = ['test/parse/xlsx/workbook.test.ts', 'test/sandbox/fuzz.test.ts'];

/** Files that take a minute or more, longest first. One that begins last keeps all others waiting. */
const FIRST = [
  'end-to-end/lost-redis',
  'process/kill',
  'process/pm2',
  'process/canary',
  'end-to-end/round-trip',
  'process/redis-groups',
  'end-to-end/former-address',
  'process/npm-start',
  'process/faults',
  'process/file-modes',
  'process/hostile-neighbor',
  'end-to-end/dead-letters-close',
  'process/neighbors',
  'trouble/surroundings',
  'trouble/doubt',
  'trouble/rollback',
  'trouble/known-orders',
  'trouble/people',
  'trouble/first-start',
  'trouble/rates',
  'trouble/other-orders',
  'deliver/delivery',
];

class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      FIRST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
    const sorted = await super.sort(files);
    const isLong = (file: TestSpecification) => rank(file) !== -1;
    const long = sorted.filter(isLong).sort((one, other) => rank(one) - rank(other));
    return [...long, ...sorted.filter((file) => !isLong(file))];
  }
}

const common = {
  setupFiles: ['test/support/fixed-seed.ts'],
  globalSetup: ['test/support/shared-redis.setup.ts'],
  pool: 'forks' as const,
  // Far beyond what any test needs: a slow machine must not fail a test that only takes its time.
  testTimeout: 400_000,
  hookTimeout: 240_000,
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
      exclude: [...SLOW.map((folder) => `test/${folder}/**`), ...LONG, ...LEFT_TO_PROPERTIES],
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
      maxWorkers: 6,
      // Two tests of a file at once where it says so: the longest file would take longer than all others.
      maxConcurrency: 2,
      include: ['test/process/**/*.test.ts', ...LONG],
    },
  },
  {
    test: {
      ...common,
      name: 'properties',
      include: PROPERTIES.map((name) => `test/${name}.test.ts`),
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
      testTimeout: 600_000,
    },
  },
  {
    test: {
      ...common,
      name: 'trouble',
      globalSetup: ['test/support/shared-redis.setup.ts', 'test/trouble/table.setup.ts'],
      include: ['test/trouble/**/*.test.ts'],
      isolate: false,
      // They wait for most of their time.
      maxWorkers: 6,
      maxConcurrency: 8,
      disableConsoleIntercept: true,
    },
  },
  // The long forms print their figures, and programs of a desktop are heavy: one at a time.
  {
    test: {
      ...common,
      name: 'faults',
      globalSetup: ['test/support/shared-redis.setup.ts', 'test/faults/failover.setup.ts'],
      include: ['test/faults/**/*.test.ts'],
      testTimeout: 1_800_000,
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
      testTimeout: 600_000,
      hookTimeout: 600_000,
    },
  },
  {
    test: {
      ...common,
      name: 'corpora',
      include: ['test/corpora/**/*.corpus.ts'],
      testTimeout: 600_000,
    },
  },
];

export default defineConfig({
  test: {
    sequence: { sequencer: LongFilesFirst },
    // Suites with different numbers of workers run together only one after the other, as files of several mutants do.
    projects: SUITES.map(({ test }, groupOrder) => ({
      test: { ...test, sequence: { groupOrder } },
    })),
  },
});
