import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { fileMissing, isGone } from '../core/regular-file.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import { createListRequests, type ListRequests } from '../ledger/list-requests.ts';
import type { ClaimedFile } from '../order/batch.ts';
import type { Store } from '../redis/store.ts';

type Deps = { batches: Pick<Batches, 'isCancelled' | 'waitsForList'>; clock: Clock };

type ListWaitDeps = Deps & {
  config: Pick<Config, 'delivery'>;
  store: Pick<Store, 'redis' | 'keys'>;
};

/**
 * Builds the wait of one file: it ends when its orders may be admitted; false when the signal aborted first. Throws PoSyncError
 * `file-missing` where somebody removed the file meanwhile.
 */
export type ListWait = (file: ClaimedFile, signal: AbortSignal) => () => Promise<boolean>;

/** Milliseconds between two looks at whether the list was read. */
const LOOK_AGAIN = 200;

/**
 * Builds what the orders of each file wait for with `readList: eachFile`: a read of the API's list that began after the file
 * was claimed. It is asked for once for each file, when the first of its orders is ready.
 */
export function createListWait({ config, store, ...deps }: ListWaitDeps): ListWait {
  const requests = createListRequests(store);
  return (file, signal) => {
    if (config.delivery.readList === 'newLedger') return async () => true;
    let waiting: Promise<boolean> | undefined;
    return () => {
      waiting ??= waitForList(file, signal, { ...deps, requests });
      return waiting;
    };
  };
}

async function waitForList(
  { batch, path }: ClaimedFile,
  signal: AbortSignal,
  { requests, batches, clock }: Deps & { requests: ListRequests },
): Promise<boolean> {
  let number = await requests.ask();
  await batches.waitsForList(batch, true);
  while (!signal.aborted) {
    const [{ asked, served }, isCancelled] = await Promise.all([
      requests.state(),
      batches.isCancelled(batch),
    ]);
    // None of its orders is sent, so they need not wait.
    if (served >= number || isCancelled) {
      await batches.waitsForList(batch, false);
      if (await isGone(path)) throw fileMissing(path, undefined);
      return true;
    }
    // Redis lost the request.
    if (asked < number) number = await requests.ask();
    await clock.sleep(LOOK_AGAIN, signal);
  }
  return false;
}
