import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createAdoption } from '../../src/ledger/adopt.ts';
import { createBatches } from '../../src/ledger/batches/batches.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createRetention } from '../../src/ledger/retention.ts';
import { keepHouse } from '../../src/put-away/housekeeping.ts';
import { capturedLog } from '../support/captured-log.ts';
import { openTestRedis } from '../support/open-redis.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

/** A configuration whose dashboard has a fixed port. */
function configOf(path: string) {
  return { reports: { path, keep: 90 * 86_400_000 }, admin: { host: '127.0.0.1', port: 9464 } };
}

it('a machine whose clock is ahead forgets no order', async () => {
  await using store = await openTestRedis();
  await using reports = await makeTempFolder();
  const day = 86_400_000;
  await createAdoption(store)(
    [{ purchaseOrderNumber: '4711', digest: 'A'.repeat(16) }],
    store.time.now(),
  );
  await keepHouse({
    config: { ...configOf(reports.path), sources: [] },
    batches: createBatches({ ...store, owner: 'test' }),
    retention: createRetention({ ...store, keep: 30 * day }),
    clock: { ...systemClock, now: () => Date.now() + 365 * day },
    time: store.time,
    log: capturedLog().log,
  });
  const [known] = await createLedger(store).lookup(['4711']);
  expect(known?.kind).toBe('accepted');
});
