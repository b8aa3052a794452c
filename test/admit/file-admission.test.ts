import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createFileAdmission } from '../../src/admit/file-admission.ts';
import type { Source } from '../../src/config/config.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createExportVersions } from '../../src/intake/export-versions.ts';
import { createAdoption } from '../../src/ledger/adopt.ts';
import { createEnvironmentLedger } from '../../src/ledger/environment-ledger.ts';
import { capturedLog } from '../support/captured-log.ts';
import { configOf, LEAST } from '../support/config-text.ts';
import { exportSource } from '../support/inbox-source.ts';
import { journalsInMemory } from '../support/journals-in-memory.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
/** When each export was read last. */
const READ = { erp: START + 5 * DAY, shop: START + 40 * DAY, removed: START };

let store: OpenRedis;
beforeAll(async () => {
  store = await openTestRedis();
});
afterAll(() => store[Symbol.asyncDispose]());
beforeEach(() => store.redis.flushall());

/** How many orders, settled on the days 4 to 6 of the year, are forgotten on its hundredth day. */
async function forgotten(names: readonly (keyof typeof READ)[]): Promise<number> {
  const sources: Source[] = names.map((name) => exportSource(`/${name}.csv`, { name }));
  const config = { ...configOf(LEAST).config, sources, ledger: { keep: 30 * DAY } };
  const { redis, keys } = store;
  const { log } = capturedLog();
  const stopping = new AbortController().signal;
  const open = { ...store, plain: redis, private: false, isSteady: () => true };
  const context = { config, store: open, owner: 'test', clock: systemClock, log, stopping };
  const book = createEnvironmentLedger(context);
  for (const [source, at] of Object.entries(READ)) {
    const versions = {
      config,
      redis,
      keys,
      batches: book.batches,
      time: { now: () => at },
      owner: 'test',
      clock: systemClock,
      journals: journalsInMemory(),
    };
    const name = `${source}.csv`;
    const copy = {
      batch: 'b',
      source,
      kind: 'export',
      name,
      path: '/none/b/x',
      draft: '',
    } as const;
    const { claim, wasRead } = createExportVersions(versions);
    await claim({ ...copy, sha256: 'a', bytes: 1 });
    await wasRead(copy, 'a', true);
  }
  for (const day of [4, 5, 6])
    await createAdoption({ redis, keys })(
      [{ purchaseOrderNumber: `PO-${day}`, digest: 'A'.repeat(16) }],
      START + day * DAY,
    );
  const { retention } = createFileAdmission({
    context,
    book,
    queue: {} as never,
    inspections: new Map(),
    discard: async () => undefined,
  });
  return retention.forget(START + 100 * DAY);
}

it('an order is not forgotten while an export that may show it does not change', async () => {
  // What was settled before the version of `erp` was read, and not shown by it, is gone from it.
  expect(await forgotten(['erp', 'shop'])).toBe(1);
});

it('an export that changes, or is no longer configured, keeps no order', async () => {
  expect(await forgotten(['shop'])).toBe(3);
});
