import { withStatus } from '../api/classify.ts';
import type { ListEnd, ListedOrder } from '../api/list.ts';
import { within } from '../core/semaphore.ts';
import { collectExisting } from '../ledger/adopt.ts';
import { createListAge } from '../ledger/list-age.ts';
import { LIST_INCOMPLETE } from '../ledger/pause-cause.ts';
import { fileListRead } from '../log/events/delivery.ts';
import type { Context, Store } from '../redis/store.ts';
import { compareLedger } from './compare-ledger.ts';
import type { LedgerRebuild } from './ledger-rebuild.ts';
import { withListLease } from './list-lease.ts';
import { createListNews, listState, paceLists } from './list-pace.ts';
import type { ListProof } from './list-proof.ts';

type FreshListDeps = Pick<Context, 'clock' | 'owner' | 'log' | 'stopping'> & {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  settle: number;
  rebuild: Pick<LedgerRebuild, 'pending' | 'takeIn'>;
  proof: Pick<ListProof, 'read' | 'rules' | 'sawCut'>;
};

/** Milliseconds. Longer than any list takes. */
const LONGEST = 3_600_000;

/**
 * Builds the step that reads the API's list where orders wait for a newer one, never two lists at a time over all daemons. They
 * wait while it fails, is not offered, or lacks an order that it must show.
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
  const { took, taken } = createListAge(store);
  const isNews = createListNews(time.now);

  /** One read, if orders wait for it. */
  async function tick(): Promise<void> {
    const { isWanted, nextAt, failure } = await listState(store);
    if (!isWanted || (failure && time.now() < nextAt)) return;
    // That one is read first, by other rules.
    if ((await rebuild.pending()) !== undefined) return;
    // A list may take minutes: a stop does not wait for it.
    await withListLease(store, owner, () => within(LONGEST, read(), clock, stopping));
  }

  /** Reads the list into `take`; one that lacks an order which it must show says nothing about others. */
  async function readWhole(from: number, take: (order: ListedOrder) => void): Promise<ListEnd> {
    const ledger = compareLedger(store);
    const end = await proof.read((order) => {
      take(order);
      ledger.take(order);
    });
    if (end.kind !== 'complete' || proof.rules.mode !== 'prove') return end;
    // What others created since the last one must be in it, too.
    const { at: reach } = await taken();
    const { lacked } = await ledger.compare({ from, settle, reach: reach || undefined });
    proof.sawCut(lacked !== undefined);
    if (lacked === undefined) return end;
    const message = `it lacks order ${lacked}, which it must contain; po-sync reconcile --expect N says how many orders there are`;
    return { kind: 'failed', said: { code: LIST_INCOMPLETE, message } };
  }

  async function read(): Promise<void> {
    const from = time.now();
    if (proof.rules.mode === 'none') return took({ from, at: from });
    const { listed, take } = collectExisting();
    const end = await readWhole(from, take);
    if (stopping.aborted) return;
    const durationMs = time.now() - from;
    await paceLists(store, settle, { end, durationMs, isAlone: true });
    // Redis lost a part of the ledger meanwhile: what it does not know may be its own.
    if ((await rebuild.pending()) !== undefined) return;
    const isComplete = end.kind === 'complete';
    const added = await rebuild.takeIn(listed, { isIntact: true, isPart: !isComplete });
    if (isComplete) await took({ from, at: time.now() });
    const reason = isComplete ? {} : { reason: withStatus(end.said) };
    const facts = { orders: listed.length, added, durationMs, outcome: end.kind, ...reason };
    fileListRead(log, facts, added > 0 || isNews(end.kind));
  }

  return { tick };
}
