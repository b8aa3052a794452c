import { type Batch, type Batches, namedBatch } from '../ledger/batches/batches.ts';
import type { RowClaim } from '../ledger/commits.ts';
import { isSameContent } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { createNumberClaims, createOldNumbers } from '../ledger/number-claims.ts';
import type { RowOwner, TakenRow } from '../ledger/row-claims.ts';
import { digestOf } from '../order/digest.ts';
import { type InvalidOrder, keptAsRead, type ValidOrder } from '../order/order.ts';
import type { Fault } from '../order/problem.ts';
import type { FixTarget, SourceRecord } from '../order/record.ts';

/** `place`: that of the row that is meant. */
export function heldBack(valid: ValidOrder, fault: Fault, place = valid.place): InvalidOrder {
  const { ordinal, number, records, order } = valid;
  const problem = { ...place, ...fault, field: '', value: number };
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
  const [of, from] = await Promise.all([
    namedBatch(row.batch, batches),
    namedBatch(by.batch, batches),
  ]);
  const others = records.filter(({ fixTarget }) => fixTarget !== target);
  const isFree = async ({ fixTarget }: SourceRecord) =>
    fixTarget === undefined || !(await isTaken(fixTarget));
  const isWhole =
    (await firstFound(others, async (one) => (await isFree(one)) || undefined)) === undefined;
  const own = { place: row.place, from: of, isWhole };
  const facts = { number, as: by.number, from, row: own };
  const { place } = records.find(({ fixTarget }) => fixTarget === target) ?? order;
  return heldBack(order, { code: 'already-corrected', facts }, place);
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
      namedBatch(by.batch, deps.batches),
    ]);
    const digest =
      known?.kind === 'accepted'
        ? known.compact.digest
        : known?.kind === 'open' && known.entry.digest;
    const isSame = digest && isSameContent(digest, digestOf(order.order));
    const items = isSame ? 'same' : digest ? 'other' : 'unknown';
    const now = { items, isOpen: known?.kind === 'open' } as const;
    const facts = { number: order.number, as: by.number, from, now };
    return heldBack(order, { code: 'already-corrected', facts });
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
      const from = await namedBatch(by.batch, batches);
      const facts = { number: order.number, as: by.number, from };
      return heldBack(order, { code: 'already-corrected', facts });
    };
    return new Map(
      await Promise.all(orders.map(async (order, i) => [order, await guard(order, i)] as const)),
    );
  };
}
