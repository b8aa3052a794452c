import { withStatus } from '../api/classify.ts';
import type { Clock } from '../core/clock.ts';
import { withoutStop } from '../core/format.ts';
import { collectExisting } from '../ledger/adopt.ts';
import { createListRequests } from '../ledger/list-requests.ts';
import { fileListRead, rebuildImpossible } from '../log/events/delivery.ts';
import type { Log } from '../log/log.ts';
import type { Store } from '../redis/store.ts';
import type { LedgerRebuild } from './ledger-rebuild.ts';
import { withListLease } from './list-lease.ts';
import { createListNews, listState, paceLists } from './list-pace.ts';
import type { ListProof } from './list-proof.ts';

type FileListsDeps = {
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
 * Builds the step that reads the API's list for files that wait for it: one read for all that asked before it began, never
 * two lists at a time over all daemons. The files wait while it fails, and an API without a list ends their wait.
 */
export function createFileLists({
  store,
  clock,
  owner,
  settle,
  log,
  stopping,
  rebuild,
  proof,
}: FileListsDeps) {
  const { time } = store;
  const requests = createListRequests(store);
  const isNews = createListNews(time.now);
  let isOffered = true;

  /** One read, if a file waits for it. */
  async function tick(): Promise<void> {
    const { asked, served } = await requests.state();
    if (asked <= served || time.now() < (await listState(store)).forFilesAt) return;
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
    const { asked } = await requests.state();
    const began = time.now();
    const { listed, take } = collectExisting();
    const end = await proof.read(take);
    if (stopping.aborted) return;
    const durationMs = time.now() - began;
    await paceLists(store, settle, { end, durationMs, isForFiles: true });
    if (end.kind === 'unavailable') {
      if (isOffered) rebuildImpossible(log, { reason: withoutStop(withStatus(end.said)) });
      isOffered = false;
      return requests.serve(asked);
    }
    isOffered = true;
    // Redis lost a part of the ledger meanwhile: what it does not know may be its own.
    if ((await rebuild.pending()) !== undefined) return;
    const added = end.kind === 'complete' ? await rebuild.takeIn(listed, { isIntact: true }) : 0;
    if (end.kind === 'complete') await requests.serve(asked);
    const reason = end.kind === 'complete' ? {} : { reason: withStatus(end.said) };
    const facts = { orders: listed.length, added, durationMs, outcome: end.kind, ...reason };
    fileListRead(log, facts, added > 0 || isNews(end.kind));
  }

  return { tick };
}
