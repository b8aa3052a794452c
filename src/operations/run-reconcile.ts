import { environmentOf } from '../config/config.ts';
import { interruption } from '../core/errors.ts';
import { count, counted, iso, orders, withoutStop } from '../core/format.ts';
import {
  type Comparison,
  createReconciliation,
  type Differences,
  differenceCount,
  type Reconciliation,
  repairable,
} from '../operate/delivery/reconcile-ledger.ts';
import type { OperationContext } from '../operate/operation-context.ts';
import type { Unproved } from '../reconcile/evidence.ts';
import type { Act, Plan } from './operation.ts';

type ReconcileInput = {
  limit?: number | undefined;
  repair: boolean;
  expect?: number | undefined;
};

/** `isRepaired`: a repair follows. `isPending`: delivery waits for the list, as after a rollback. */
export type ReconcilePlan = Plan & {
  limit?: number | undefined;
  comparison?: Comparison;
  isRepaired: boolean;
  isPending: boolean;
  /** The rebuild that waits for the list. */
  epoch?: string | undefined;
};

/**
 * Compares the ledger with the API's list, and adds to it what only the API has. PoSyncError `list-unavailable`, `list-failed`.
 */
export const reconcile: Act<ReconcileInput, ReconcilePlan> = {
  async plan(input, context) {
    const { limit, repair, expect } = input;
    if (repair && environmentOf(context.config).list === 'none') return planWithoutList(context);
    const reconciliation = createReconciliation(context, context.readList);
    if (expect !== undefined) await reconciliation.expect(expect);
    const before = repair ? await waitForCallsInFlight(context, reconciliation) : undefined;
    const comparison = await reconciliation.compare(expect);
    const { found, unproved } = comparison;
    const isShort = found.listed < (expect ?? 0);
    const isPending = (await reconciliation.pending()) !== undefined;
    const { environment } = context.config;
    const isRepaired = repair && (repairable(found) > 0 || isPending);
    return {
      on: environment,
      question: `Add what the API has to the ledger (${orders(repairable(found))})?`,
      left: isShort ? shortText(found.listed, expect ?? 0) : '',
      json: { environment, ...differencesJson(found, limit), ...(unproved && { unproved }) },
      isEmpty: !isRepaired,
      needsPerson: differenceCount(found) > 0 || unproved !== undefined || isShort,
      limit,
      comparison,
      isRepaired,
      isPending,
      epoch: before?.epoch,
    };
  },
  async run({ comparison, json, left: short, limit, epoch = '' }, context) {
    const reconciliation = createReconciliation(context, context.readList);
    if (comparison === undefined) {
      await reconciliation.finish(epoch);
      return { text: 'Delivery resumes without the list.', json: { ...json, released: true } };
    }
    const { found, unproved } = comparison;
    const end = await reconciliation.repair(comparison, epoch === '' ? undefined : epoch);
    const settled = settledOf(found, end.left);
    const repaired = {
      added: end.added,
      settled: settled.slice(0, limit),
      left: differencesJson(end.left, limit),
    };
    return {
      text: repairedText({ ...end, settled }, unproved),
      json: { ...json, repaired },
      needsPerson: differenceCount(end.left) > 0 || unproved !== undefined || short !== '',
    };
  },
};

/** After a rollback the list is evidence only when no earlier call can still arrive. Returns the pending rebuild. */
async function waitForCallsInFlight(
  { clock, store, stopping, say }: OperationContext,
  reconciliation: Reconciliation,
) {
  const pending = await reconciliation.pending();
  const wait = (pending?.notBefore ?? 0) - store.time.now();
  if (wait <= 0) return pending;
  say?.(`Waiting ${Math.ceil(wait / 1000)} s until no earlier call can still arrive.`);
  await clock.sleep(wait, stopping);
  if (stopping.aborted) throw interruption('Interrupted before the list was read.');
  return pending;
}

/** Where the configuration says that there is no list, a person resumes delivery after a rollback. */
async function planWithoutList(context: OperationContext): Promise<ReconcilePlan> {
  const { environment } = context.config;
  const waiting = await createReconciliation(context, context.readList).pending();
  return {
    on: environment,
    question:
      'Resume delivery although the ledger may have lost orders? Orders that are dropped again may be created twice.',
    ...(waiting === undefined && { left: 'Delivery is not waiting for the list.' }),
    json: { environment, released: false },
    isEmpty: waiting === undefined,
    isRepaired: true,
    isPending: waiting !== undefined,
    epoch: waiting?.epoch,
  };
}

function differencesJson(
  { missing, unknown, differing, twice, ...totals }: Differences,
  limit = Number.POSITIVE_INFINITY,
) {
  return {
    ...totals,
    unknown: unknown.slice(0, limit),
    differing: differing.slice(0, limit),
    twice: twice.slice(0, limit),
    missing: missing
      .slice(0, limit)
      .map(({ order, acceptedAt }) => ({ order, acceptedAt: iso(acceptedAt) })),
  };
}

/** The orders that a repair settled as accepted. */
function settledOf(found: Differences, left: Differences): string[] {
  const differs = new Set(left.differing.map(({ order }) => order));
  return found.differing.flatMap(({ order }) => (differs.has(order) ? [] : [order]));
}

type Repair = { added: number; settled: readonly string[]; left: Differences; waits: boolean };

function repairedText({ added, settled, ...rest }: Repair, unproved: Unproved | undefined): string {
  const left = differenceCount(rest.left);
  const settledText = settled.length > 0 && `${orders(settled.length)} settled as accepted.`;
  const resumed = rest.waits && 'Delivery resumes when a daemon has read the list.';
  const state =
    left > 0
      ? `${counted(left, 'difference')} ${left === 1 ? 'needs' : 'need'} a person.${LEFT_STEPS}`
      : unproved === undefined
        ? 'Ledger and API agree.'
        : withoutStop(unprovedText(unproved));
  const lines = [`${orders(added)} added to the ledger.`, settledText, resumed, state];
  return lines.filter(Boolean).join(' ');
}

/** What only a person can do about orders that differ. */
export const LEFT_STEPS =
  " Of those that a repair leaves, ask the API's owner; then discard or resolve them with po-sync dead-letters.";

/** What the list does not show may be at the API. */
export function unprovedText({ code }: Unproved): string {
  const why =
    code === 'list-incomplete' ? 'The list is not complete' : 'The list is not proved complete yet';
  return `${why}: the API may have orders that it does not show. If you know how many orders the API has, run po-sync reconcile --expect with that number.`;
}

function shortText(listed: number, expected: number): string {
  return `The list shows ${orders(listed)}, fewer than the ${count(expected)} expected: it is not complete.`;
}
