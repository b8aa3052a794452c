import type { ListedOrder, ReadList } from '../../api/list.ts';
import { openPartner, type Partner } from '../../api/partner.ts';
import { environmentOf } from '../../config/config.ts';
import { loadNetwork } from '../../config/network.ts';
import { loadSecrets } from '../../config/secrets.ts';
import type { Variables } from '../../config/variables.ts';
import { interruption, PoSyncError } from '../../core/errors.ts';
import { withoutStop } from '../../core/format.ts';
import type { Unproved } from '../../reconcile/evidence.ts';
import { takeListLease } from '../../reconcile/list-lease.ts';
import { type Look, lookingList } from '../../reconcile/list-proof.ts';
import { countedList } from '../../reconcile/reconciliation.ts';
import type { Lease } from '../../redis/lease.ts';
import type { Listed } from '../dead-letters/retry-dead-letters.ts';
import type { OperatorContext } from '../operator-context.ts';

/** Of a list that shows only what it shows. */
const UNPROVED = 'it is not proved complete, so it does not show which orders are new';

/** Pause between two attempts to get the lease of the list, in milliseconds. */
const TRY_AGAIN = 200;

/**
 * Opens the API's list with the environment's own token. It is never read while a daemon reads it.
 * Throws like `loadSecrets` and `loadNetwork`.
 */
export async function openApiList(context: OperatorContext, env: Variables) {
  const partner = openPartner(context, {
    secrets: await loadSecrets(context.config, env),
    network: await loadNetwork(context.config, env),
  });
  return {
    read: readInTurn(context, partner),
    [Symbol.asyncDispose]: () => partner[Symbol.asyncDispose](),
  };
}

/**
 * Why the list could not be read, or, with `unproved`, why it proves nothing about orders that it does
 * not show. `isOffered`: this API has one; another time it can be read.
 */
export type ListTrouble = { reason: string; isOffered: boolean; unproved?: Unproved };

/** Why a read of the list does not show what is absent, if so. Throws PoSyncError `interrupted`. */
export async function troubleOf(reading: ReturnType<Look>): Promise<ListTrouble | undefined> {
  try {
    const { unproved, ...end } = await reading;
    if (end.kind === 'complete') return unproved && { reason: UNPROVED, isOffered: true, unproved };
    return { reason: withoutStop(end.said.message), isOffered: end.kind !== 'unavailable' };
  } catch (error) {
    if (!(error instanceof PoSyncError) || error.code === 'interrupted') throw error;
    return { reason: withoutStop(error.message), isOffered: true };
  }
}

/** Reads the list with an open partner, never while a daemon reads it. Throws PoSyncError `interrupted`. */
export function readInTurn(
  context: Omit<OperatorContext, 'operator'>,
  partner: Pick<Partner, 'list'>,
): Look {
  const counted = countedList(context, partner);
  const { config, store } = context;
  const inTurn: ReadList = async (onOrder, query) => {
    const lease = await waitForLease(context);
    try {
      return await counted(onOrder, query);
    } finally {
      await lease.release();
    }
  };
  const rules = { mode: environmentOf(config).list, settle: config.delivery.settle };
  return lookingList(store, rules, inTurn, store.time.now);
}

type LeaseContext = Pick<OperatorContext, 'store' | 'owner' | 'clock' | 'stopping'>;

async function waitForLease({ store, owner, clock, stopping }: LeaseContext): Promise<Lease> {
  for (;;) {
    const lease = await takeListLease(store, owner);
    if (lease) return lease;
    if (stopping.aborted) throw interruption('Interrupted while another process reads the list.');
    await clock.sleep(TRY_AGAIN, stopping);
  }
}

/** What the API's list shows of some orders; `trouble`: why it could not be read, or proves nothing, without a final period. */
export type ListCheck = { listed: Listed; trouble?: string };

/** Looks orders up in the API's list, if it can be read. Throws PoSyncError `interrupted`. */
export function checkList(
  numbers: ReadonlySet<string>,
  context: OperatorContext,
  env: Variables,
): Promise<ListCheck> {
  return findListed(numbers, async (onOrder) => {
    await using list = await openApiList(context, env);
    return await list.read(onOrder);
  });
}

/** Looks orders up in the API's list. */
export async function findListed(numbers: ReadonlySet<string>, read: Look): Promise<ListCheck> {
  const listed = new Map<string, ListedOrder>();
  if (numbers.size === 0) return { listed };
  const trouble = await troubleOf(
    read((order) => {
      if (numbers.has(order.purchaseOrderNumber)) listed.set(order.purchaseOrderNumber, order);
    }),
  );
  if (trouble === undefined) return { listed };
  return { listed: trouble.unproved && listed, trouble: trouble.reason };
}

/** What a person must know of the list before deciding; empty where it shows what it must. */
export function listTroubleText({ listed, trouble }: ListCheck): string {
  if (trouble === undefined) return '';
  const what = listed ? 'may lack orders that the API has' : 'could not be read';
  return `The API's list ${what}: ${trouble}.`;
}
