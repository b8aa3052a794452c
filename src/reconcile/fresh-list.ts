import { withStatus } from '../api/classify.ts';
import type { Clock } from '../core/clock.ts';
import { withoutStop } from '../core/format.ts';
import { collectExisting } from '../ledger/adopt.ts';
import { createListAge } from '../ledger/list-age.ts';
import { fileListRead, rebuildImpossible } from '../log/events/delivery.ts';
import type { Log } from '../log/log.ts';
import type { Store } from '../redis/store.ts';
import type { LedgerRebuild } from './ledger-rebuild.ts';
import { withListLease } from './list-lease.ts';
import { createListNews, listState, paceLists } from './list-pace.ts';
import type { ListProof } from './list-proof.ts';

type FreshListDeps = {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  clock: Clock;
  owner: string;
  settle: number;
  log: Log;
  stopping: AbortSignal;
  rebuild: Pick<LedgerRebuild, 'pending' | 'takeIn'>;
  proof: Pick<ListProof, 'read'>;
};

/** Milliseconds. Longer than any list takes. */
const LONGEST = 3_600_000;

/**
 * Builds the step that reads the API's list where orders wait for a newer one, never two lists at a time over all daemons. They
 * wait while it fails, and an API without a list ends their wait.
 */
export function createFreshList({
  store,
  clock,
  owner,
  settle,
  log,
  stopping,
  rebuild,
  proof,
}: FreshListDeps) {
  const { time } = store;
  const { took } = createListAge(store);
  const isNews = createListNews(time.now);
  let isOffered = true;

  /** One read, if orders wait for it. */
  async function tick(): Promise<void> {
    const { isWanted, nextAt, failure } = await listState(store);
    if (!isWanted || (failure && time.now() < nextAt)) return;
    // That one is read first, by other rules.
    if ((await rebuild.pending()) !== undefined) return;
    await withListLease(store, owner, () => untilStop(read()));
  }

  /** A list may take minutes: a stop does not wait for it. */
  async function untilStop(reading: Promise<void>): Promise<void> {
    const ended = new AbortController();
    const end = () => ended.abort();
    reading.then(end, end);
    await clock.sleep(LONGEST, AbortSignal.any([stopping, ended.signal]));
    if (!stopping.aborted) await reading;
  }

  async function read(): Promise<void> {
    const from = time.now();
    const { listed, take } = collectExisting();
    const end = await proof.read(take);
    if (stopping.aborted) return;
    const durationMs = time.now() - from;
    await paceLists(store, settle, { end, durationMs, isAlone: true });
    if (end.kind === 'unavailable') {
      if (isOffered) rebuildImpossible(log, { reason: withoutStop(withStatus(end.said)) });
      isOffered = false;
      return took({ from, at: time.now() });
    }
    isOffered = true;
    // Redis lost a part of the ledger meanwhile: what it does not know may be its own.
    if ((await rebuild.pending()) !== undefined) return;
    const isComplete = end.kind === 'complete';
    const added = isComplete ? await rebuild.takeIn(listed, { isIntact: true }) : 0;
    if (isComplete) await took({ from, at: time.now() });
    const reason = isComplete ? {} : { reason: withStatus(end.said) };
    const facts = { orders: listed.length, added, durationMs, outcome: end.kind, ...reason };
    fileListRead(log, facts, added > 0 || isNews(end.kind));
  }

  return { tick };
}
