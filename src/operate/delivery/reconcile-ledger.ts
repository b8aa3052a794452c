import type { Said } from '../../api/classify.ts';
import { type ListedOrder, listRemedy } from '../../api/list.ts';
import { environmentOf, startCommandOf } from '../../config/config.ts';
import { PoSyncError } from '../../core/errors.ts';
import { withoutStop } from '../../core/format.ts';
import { createListBudget, existingOf, timesListed } from '../../ledger/adopt.ts';
import { type Entry, type EntryState, UNSHOWN } from '../../ledger/entry.ts';
import { policyOf } from '../../ledger/environment-ledger.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { createExcuse } from '../../ledger/retention.ts';
import { digestOf } from '../../order/digest.ts';
import { compareLedger } from '../../reconcile/compare-ledger.ts';
import type { Unproved } from '../../reconcile/evidence.ts';
import { createTakeIn } from '../../reconcile/ledger-rebuild.ts';
import { expectOrders, type Look, unprovedBy } from '../../reconcile/list-proof.ts';
import { createRebuildRequest } from '../../reconcile/rebuild-request.ts';
import type { OperatorContext } from '../operator-context.ts';

/**
 * The API's list, read once from `listedFrom` (Redis time), where it differs from the ledger, and why
 * it does not show what else the API has.
 */
export type Comparison = {
  listed: readonly ListedOrder[];
  listedFrom: number;
  found: Differences;
  unproved: Unproved | undefined;
};

/**
 * What a repair added to the ledger, and the remaining differences. `waits`: delivery still does, until a daemon has read what
 * people cancelled or discarded.
 */
export type Repaired = { added: number; left: Differences; waits: boolean };

export type Reconciliation = ReturnType<typeof createReconciliation>;

/** Compares the ledger with the API's list, and adds to the ledger what only the API has. */
export function createReconciliation(context: OperatorContext, read: Look) {
  const { ledger, config, operator, breaker, store, log } = context;
  const { time } = store;
  const mode = environmentOf(config).list;
  const takeIn = createTakeIn({ store, ledger, policy: policyOf(config), log });
  const request = createRebuildRequest(store);
  const excuse = createExcuse(store);

  /** A person says how many orders the API has: it counts as long as the list is not proved otherwise. */
  async function expect(orders: number): Promise<void> {
    if ((await unprovedBy(store, mode)) === undefined) return;
    await expectOrders(store, orders);
    await request.hasten();
  }

  /**
   * `expected`: a person says how many orders the API has; a list with so many lacks nothing that is there. Throws PoSyncError
   * `list-unavailable`, `list-failed`.
   */
  async function compare(expected = Number.POSITIVE_INFINITY): Promise<Comparison> {
    const listedFrom = time.now();
    const listed: ListedOrder[] = [];
    const count = createListBudget();
    const end = await read((order) => {
      count(order);
      listed.push(order);
    });
    if (end.kind === 'unavailable') throw listUnavailable(end.said);
    if (end.kind !== 'complete') throw listFailed(end.said.message, startCommandOf(config));
    await ledger.listedTwice.replace(timesListed(listed));
    const found = await differences(listed, listedFrom);
    if (found.listed < expected) return { listed, listedFrom, found, unproved: end.unproved };
    await excuse(found.missing.map(({ order }) => order));
    return { listed, listedFrom, found, unproved: undefined };
  }

  /** `epoch`: the rebuild that was pending before the list was read; it is complete now. */
  async function repair(
    { listed, listedFrom }: Comparison,
    epoch: string | undefined,
  ): Promise<Repaired> {
    // A ledger that waits for its list lost something, and with it perhaps the attempts of orders that it has.
    const pending = await request.pending();
    const isIntact = pending?.why !== 'rolled-back';
    const operatorAction = operator.did('rebuilt');
    const added = await takeIn(listed.map(existingOf), { isIntact, epoch, operatorAction });
    // The daemon that reads the list next ends the wait, by the rules of a new ledger.
    await request.hasten();
    const left = await differences(listed, listedFrom);
    return { added, left, waits: pending !== undefined };
  }

  /** Ends the wait for the list, and its pause, as the configuration says: without a proof. */
  async function finish(epoch: string): Promise<void> {
    await request.finish(epoch, { assumed: mode });
    await breaker.refresh(true);
  }

  function differences(listed: readonly ListedOrder[], listedFrom: number): Promise<Differences> {
    return compareWithList(listed, listedFrom, config.delivery.settle, context);
  }

  return { expect, compare, repair, pending: request.pending, finish };
}

/** How many differences a repair changes. */
export function repairable({ unknown, differing }: Differences): number {
  return unknown.length + differing.filter(isRepairable).length;
}

/** The list settles an order with the same items. With different items, it is in conflict, unless it waits for a person. */
function isRepairable({ here, sameItems }: Differences['differing'][number]): boolean {
  return here !== 'accepted' && (sameItems || (here !== 'conflict' && here !== 'inDoubt'));
}

export function differenceCount({ missing, unknown, differing, twice }: Differences): number {
  return missing.length + unknown.length + differing.length + twice.length;
}

/** Another time the list can be read. */
export function listFailed(message: string, start: ReturnType<typeof startCommandOf>): PoSyncError {
  const reason = withoutStop(message);
  return new PoSyncError('list-failed', `The API's list could not be read: ${reason}.`, {
    remedy:
      start === 'npm start'
        ? 'Try again while npm start is running: it includes this API. Run po-sync doctor to check the connection.'
        : 'Try again. Run po-sync doctor to check the connection.',
    facts: { reason },
  });
}

function listUnavailable(said: Said): PoSyncError {
  const reason = withoutStop(said.message);
  return new PoSyncError('list-unavailable', `This API does not offer its list: ${reason}.`, {
    remedy: `${listRemedy(said)} With list: none, po-sync reconcile --repair ends a wait for the list, at your own risk.`,
    facts: { reason },
  });
}

/** Where the ledger and the API's list differ. */
export type Differences = {
  /** Accepted in the ledger, but not in the list. */
  missing: { order: string; acceptedAt: number }[];
  /** In the list, but not in the ledger. */
  unknown: { order: string }[];
  /** Accepted in the ledger with different items than in the list; or in the list, but not accepted in the ledger. */
  differing: { order: string; here: 'accepted' | EntryState; sameItems: boolean }[];
  /** In the list more than once: created twice. */
  twice: { order: string; times: number }[];
  /** Orders in the list, orders accepted in the ledger, and how many of these are too recent to be in the list. */
  listed: number;
  accepted: number;
  young: number;
  /** Orders in the list whose outcome the daemon does not know yet. */
  inProgress: number;
};

type LedgerStore = Pick<OperatorContext, 'ledger' | 'store'>;

const PAGE = 500;

/**
 * Compares the API's list with the ledger. Reading the list began at `listedFrom` (Redis time); orders accepted less
 * than two `settle` times before may be absent.
 */
export async function compareWithList(
  listed: readonly ListedOrder[],
  listedFrom: number,
  settle: number,
  context: LedgerStore,
): Promise<Differences> {
  const found: Differences = {
    missing: [],
    unknown: [],
    differing: [],
    twice: [],
    listed: new Set(listed.map(numberOf)).size,
    accepted: 0,
    young: 0,
    inProgress: 0,
  };
  found.twice = [...timesListed(listed)].map(([order, times]) => ({ order, times }));
  for (let i = 0; i < listed.length; i += PAGE)
    await comparePage(listed.slice(i, i + PAGE), found, context.ledger);
  const { take, compare } = compareLedger(context.store);
  listed.forEach(take);
  const { accepted, young } = await compare({ from: listedFrom, settle }, ({ number, at }) =>
    found.missing.push({ order: number, acceptedAt: at }),
  );
  return { ...found, accepted, young };
}

async function comparePage(
  page: readonly ListedOrder[],
  found: Differences,
  ledger: Ledger,
): Promise<void> {
  const known = await ledger.lookup(page.map(numberOf));
  for (const [i, { purchaseOrderNumber: order, items }] of page.entries()) {
    const one = known[i];
    const digest = items === undefined ? undefined : digestOf({ items });
    if (one === undefined || one.kind === 'nothing') found.unknown.push({ order });
    else if (one.kind === 'accepted') {
      if (!isSame(one.compact.digest, digest))
        found.differing.push({ order, here: 'accepted', sameItems: false });
    } else if (isInProgress(one.entry)) found.inProgress += 1;
    else {
      found.differing.push({
        order,
        here: one.entry.state,
        sameItems: isSame(one.entry.digest, digest),
      });
    }
  }
}

/** The daemon settles these without a person. */
function isInProgress({ state, repeats }: Entry): boolean {
  return state === 'sending' || state === 'unknown' || repeats === true;
}

/** If either side does not show the items, they count as the same. */
function isSame(here: string, listed: string | undefined): boolean {
  return listed === undefined || here === UNSHOWN || here === listed;
}

function numberOf({ purchaseOrderNumber }: ListedOrder): string {
  return purchaseOrderNumber;
}
