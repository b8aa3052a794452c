import type { ListedOrder } from '../api/list.ts';
import { PoSyncError } from '../core/errors.ts';
import { existingOf } from '../ledger/adopt.ts';
import { policyOf } from '../ledger/environment-ledger.ts';
import { createLedgerRebuild } from '../reconcile/ledger-rebuild.ts';
import { type ReadList, withoutStop } from './api-list.ts';
import { compareWithList, type Differences } from './compare-with-list.ts';
import type { OperatorContext } from './operator-context.ts';

/** The API's list, read once from `listedFrom` (Redis time), and where it differs from the ledger. */
export type Comparison = { listed: readonly ListedOrder[]; listedFrom: number; found: Differences };

/** What a repair added to the ledger, and the differences that are left. */
export type Repaired = { added: number; left: Differences };

export type Reconciliation = ReturnType<typeof createReconciliation>;

/** Compares the ledger with the API's list, and adds to the ledger what only the API has. */
export function createReconciliation(context: OperatorContext, read: ReadList) {
  const { ledger, clock, config, operator, breaker, store, owner, log } = context;
  const { redis, keys, time } = store;
  const rebuild = createLedgerRebuild({
    store: { redis, keys, time },
    ledger,
    clock,
    owner,
    policy: policyOf(config),
    log,
    refresh: () => breaker.refresh(true),
    list: read,
  });

  /** Throws PoSyncError `list-unavailable`, `list-failed`. */
  async function compare(): Promise<Comparison> {
    const listedFrom = time.now();
    const listed: ListedOrder[] = [];
    const end = await read((order) => listed.push(order));
    if (end.kind === 'unavailable') throw listUnavailable(end.said.message, (await rebuild.pending()) !== undefined);
    if (end.kind !== 'complete') throw listFailed(end.said.message);
    return { listed, listedFrom, found: await differences(listed, listedFrom) };
  }

  /** `epoch`: the rebuild that was pending before the list was read; it is complete now. */
  async function repair({ listed, listedFrom }: Comparison, epoch: string | undefined): Promise<Repaired> {
    const added = await rebuild.takeIn(listed.map(existingOf), operator.did('rebuilt'));
    if (epoch !== undefined) await rebuild.finish(epoch);
    return { added, left: await differences(listed, listedFrom) };
  }

  function differences(listed: readonly ListedOrder[], listedFrom: number): Promise<Differences> {
    return compareWithList(listed, listedFrom, config.delivery.settle, context);
  }

  return { compare, repair, pending: rebuild.pending, finish: rebuild.finish };
}

/** How many differences a repair can settle. */
export function repairable({ unknown, differing }: Differences): number {
  return unknown.length + differing.filter(({ here }) => here !== 'accepted').length;
}

export function differenceCount({ missing, unknown, differing }: Differences): number {
  return missing.length + unknown.length + differing.length;
}

function listFailed(message: string): PoSyncError {
  const reason = withoutStop(message);
  return new PoSyncError('list-failed', `The API's list could not be read: ${reason}.`, {
    remedy: 'Try again. Run po-sync doctor to check the connection.',
    facts: { reason },
  });
}

function listUnavailable(message: string, deliveryWaits: boolean): PoSyncError {
  const reason = withoutStop(message);
  return new PoSyncError('list-unavailable', `This API does not offer its list: ${reason}.`, {
    remedy: deliveryWaits
      ? "Ask the API's owner for the scope read. To resume delivery without the list, at your own risk, run po-sync reconcile --repair --without-list."
      : "Ask the API's owner for the scope read; without the list there is nothing to compare with.",
    facts: { reason },
  });
}
