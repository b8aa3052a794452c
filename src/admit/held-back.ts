import type { Batch, Batches } from '../ledger/batches/batches.ts';
import type { RowClaim } from '../ledger/commits.ts';
import { isSameContent } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { createNumberClaims, createOldNumbers } from '../ledger/number-claims.ts';
import type { RowOwner, TakenRow } from '../ledger/row-claims.ts';
import { batchTitle } from '../order/batch.ts';
import { digestOf } from '../order/digest.ts';
import { ALREADY_CORRECTED, CONFIRM } from '../order/fixing.ts';
import { type InvalidOrder, keptAsRead, type ValidOrder } from '../order/order.ts';
import type { FixTarget, SourceRecord } from '../order/record.ts';

/** `place`: that of the row that is meant. */
export function heldBack(
  valid: ValidOrder,
  code: string,
  message: string,
  place = valid.place,
): InvalidOrder {
  const { ordinal, number, records, order } = valid;
  const problem = { ...place, field: '', code, value: number, message };
  const read = order.items.map(({ articleCode, quantity }) => ({
    articleCode,
    quantity: String(quantity),
  }));
  return {
    ordinal,
    number,
    place,
    records,
    valid: false,
    problems: [problem],
    ...keptAsRead(read),
  };
}

/** Holds an order at the row that is another one; of an order whose rows are all taken, nothing is left to send. */
export async function heldAsTaken(
  order: ValidOrder,
  { row, target, by }: TakenRow,
  isTaken: (row: FixTarget) => Promise<boolean>,
  batches: Pick<Batches, 'find'>,
): Promise<InvalidOrder> {
  const { number, records } = order;
  const [from, other] = await Promise.all([batches.find(row.batch), batches.find(by.batch)]);
  const others = records.filter(({ fixTarget }) => fixTarget !== target);
  const isFree = async ({ fixTarget }: SourceRecord) =>
    fixTarget === undefined || !(await isTaken(fixTarget));
  const isWhole =
    (await firstFound(others, async (one) => (await isFree(one)) || undefined)) === undefined;
  const wrong = isWhole
    ? `if ${number} is the same order, discard it`
    : 'leave this row out of this order';
  const sent = `${row.place} of ${from?.name ?? `batch ${row.batch}`} was already sent as ${by.number}, from ${batchTitle(by.batch, other?.name)}`;
  const message = `${sent}: ${wrong}. ${ON_PURPOSE}`;
  const { place } = records.find(({ fixTarget }) => fixTarget === target) ?? order;
  return heldBack(order, ALREADY_CORRECTED, message, place);
}

export async function firstFound<T, Found>(
  all: readonly T[],
  find: (one: T) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  for (const one of all) {
    const found = await find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

const ON_PURPOSE = `If it is ordered twice on purpose, ${CONFIRM}, in each row of this order`;

export function sentAlone({ number }: ValidOrder, other: string): string {
  return `order ${number} waits for a person in ${other}, and none of its rows is here: this order would replace it. If it belongs to ${number}, correct ${number} and discard this. If this is all of ${number}, ${CONFIRM}`;
}

/** The rows that each order takes, or the order as it is held, because another order has one of them. */
export type Guarded = ReadonlyMap<ValidOrder, Held>;
type Held = readonly RowClaim[] | InvalidOrder;

export type Claims = ReturnType<typeof createNumberClaims>;

/** Holds orders of an export under the number that they had before a person gave them another one: with other items, too. */
export function createOldNumberGuard(deps: Parameters<typeof createOldNumbers>[0] & Deps) {
  const { remember, exportOf, ownersOf } = createOldNumbers(deps);
  const { renumbered } = createNumberClaims(deps);

  async function held(order: ValidOrder, by: RowOwner): Promise<InvalidOrder> {
    const [[known], from] = await Promise.all([
      deps.ledger.lookup([by.number]),
      deps.batches.find(by.batch),
    ]);
    const digest =
      known?.kind === 'accepted'
        ? known.compact.digest
        : known?.kind === 'open' && known.entry.digest;
    const isSame = digest && isSameContent(digest, digestOf(order.order));
    const sent = `${order.number} was already sent as ${by.number}, from ${batchTitle(by.batch, from?.name)}`;
    const items = isSame || !digest ? '' : ', and this version of the export has other items';
    const agree = isSame ? '' : `agree on ${digest ? 'the' : 'any'} change with the supplier and `;
    const message = `${sent}${items}: if it is the same order, ${agree}discard it. If it is another order, ${CONFIRM}, in each row of this order`;
    // It may still be refused or cancelled, and nothing would be sent then.
    const wait =
      known?.kind === 'open' ? `. ${by.number} is not accepted yet: decide when it is` : '';
    return heldBack(order, ALREADY_CORRECTED, `${message}${wait}`);
  }

  return {
    /** Of a version of an export, which is admitted. */
    among: async (batch: string, { kind, source }: Of, found: Guarded): Promise<Guarded> => {
      if (kind !== 'export' || source === undefined) return found;
      const numbers = [...found.keys()].map(({ number }) => number);
      const owners = await ownersOf(source, numbers);
      const guard = async ([order, one]: [ValidOrder, Held], i: number) => {
        const by = owners[i];
        if (!('valid' in one)) return [order, by ? await held(order, by) : one] as const;
        const [as] = await renumbered([{ number: order.number, content: digestOf(order.order) }]);
        if (as !== undefined) await remember([batch], order.number, as);
        return [order, one] as const;
      };
      return new Map(await Promise.all([...found].map(guard)));
    },
    /** Of a fix file, by the rows of an order that nobody confirmed. */
    ofFix: async (order: ValidOrder, [row]: readonly FixTarget[]) => {
      const source = row && (await exportOf(row.batch));
      const [by] = source === undefined ? [] : await ownersOf(source, [order.number]);
      return by && (await held(order, by));
    },
  };
}

type Of = { kind: Batch['kind'] | undefined; source: string | undefined };
type Deps = { batches: Pick<Batches, 'find'>; ledger: Pick<Ledger, 'lookup'> };

/** Holds orders of a file that a person gave another number in the fix file of another. `also`: what else may hold one. */
export function createNumberGuard({ unchanged }: Claims, batches: Pick<Batches, 'find'>) {
  return async (
    of: Pick<Batch, 'batch' | 'no'>,
    orders: readonly ValidOrder[],
    also?: (order: ValidOrder) => Promise<Held>,
  ): Promise<Guarded> => {
    const found = await unchanged(
      orders.map(({ number, order }) => ({ number, content: digestOf(order) })),
      of,
    );
    const guard = async (order: ValidOrder, i: number): Promise<Held> => {
      const held = (await also?.(order)) ?? [];
      const by = found[i] ?? [];
      if ('valid' in held) return held;
      if (!('number' in by)) return [...held, ...by];
      const from = batchTitle(by.batch, (await batches.find(by.batch))?.name);
      const sent = `${order.number} with these items was already sent as ${by.number}, from ${from}`;
      return heldBack(
        order,
        ALREADY_CORRECTED,
        `${sent}: if it is the same order, discard it. ${ON_PURPOSE}`,
      );
    };
    return new Map(
      await Promise.all(orders.map(async (order, i) => [order, await guard(order, i)] as const)),
    );
  };
}
