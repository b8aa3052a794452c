import type { Batch, Batches } from '../ledger/batches/batches.ts';
import type { RowClaim } from '../ledger/commits.ts';
import { readOpenDeadLetters } from '../ledger/dead-letters.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { createRowClaims, isUnderWay, type TakenRow } from '../ledger/row-claims.ts';
import { batchTitle } from '../order/batch.ts';
import { ALREADY_CORRECTED, LEADING_ZEROS_LOST, ROWS_LEFT_OUT } from '../order/fixing.ts';
import { type CheckedOrder, type InvalidOrder, keptArticles, type ValidOrder } from '../order/order.ts';
import type { FixTarget, SourceRecord } from '../order/record.ts';
import type { Store } from '../redis/store.ts';

type Deps = Pick<Store, 'redis' | 'keys'> & {
  ledger: Pick<Ledger, 'lookup'>;
  batches: Pick<Batches, 'find' | 'nameOf'>;
};

/** Holds orders of a fix file that another order of the ledger puts in doubt. */
export function createFixGuard(deps: Deps) {
  const withoutZeros = createZeroGuard(deps);
  const { remember } = createRowClaims(deps);
  return {
    /** Checks the numbers of a page, and keeps which rows its records were first. */
    async page({ batch }: Pick<Batch, 'batch'>, page: readonly CheckedOrder[]): Promise<CheckedOrder[]> {
      await Promise.all(page.map(({ records }) => remember(batch, records)));
      return await Promise.all(page.map(withoutZeros));
    },
    rows: createRowGuard(deps),
  };
}

/** Maximum length of numbers with leading zeros that are searched. */
const LONGEST = 40;

/**
 * Holds orders whose number lost its leading zeros in a spreadsheet: 10, where 0010 waits for a person and 10 is unknown.
 * If it were sent, it would be another order.
 */
function createZeroGuard({ ledger, redis, keys }: Deps) {
  return async (order: CheckedOrder): Promise<CheckedOrder> => {
    if (!order.valid || !isBare(order.number)) return order;
    const padded = Array.from({ length: LONGEST - order.number.length }, (_, i) => '0'.repeat(i + 1) + order.number);
    const [own, ...others] = await redis.hmget(keys.waiting, order.number, ...padded);
    const was = padded[others.findIndex((marks) => marks !== null)];
    if (was === undefined || own !== null) return order;
    const [known] = await ledger.lookup([order.number]);
    if (known?.kind !== 'nothing') return order;
    const message = `${order.number} looks like ${was} without its leading zeros, which a spreadsheet removed. Restore them, or drop the row in a file without the _error_ columns if ${order.number} is correct`;
    return heldBack(order, LEADING_ZEROS_LOST, message);
  };
}

/** A number as a spreadsheet writes it. */
function isBare(number: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(number) && number.length < LONGEST;
}

function heldBack(valid: ValidOrder, code: string, message: string): InvalidOrder {
  const { ordinal, number, place, records, order } = valid;
  const problem = { line: place.line, field: '', code, value: number, message };
  const articles = keptArticles(order.items.map(({ articleCode }) => articleCode));
  return { ordinal, number, place, records, valid: false, problems: [problem], articles };
}

/** The batch that a fix file names, and the number of each of its dead letters, by place. */
export type Corrects = { batch: string; numbers: ReadonlyMap<string, string> };

/** The rows that each order takes, or the order as it is held, because another order has one of them. */
export type Guarded = ReadonlyMap<ValidOrder, readonly RowClaim[] | InvalidOrder>;

/**
 * Holds orders whose row is already another order: one that another fix file brought, or the one of its dead letter, where
 * that was sent again. What it returns is claimed in the step that enters the order, so that of two fix files at once one
 * waits.
 */
function createRowGuard({ ledger, redis, keys, batches }: Deps) {
  const claims = createRowClaims({ redis, keys, ledger });

  /** The order of the dead letter that a row comes from, if it came with that batch or later and has not ended. */
  async function sentSince(
    { number }: ValidOrder,
    { batch, place }: FixTarget,
    corrects: Corrects | undefined,
    own: string,
  ): Promise<TakenRow | undefined> {
    const was = corrects?.batch === batch ? corrects.numbers.get(place) : undefined;
    if (was === undefined || was === '' || was === number) return undefined;
    const [[known], named] = await Promise.all([ledger.lookup([was]), batches.find(batch)]);
    const from = (named?.repeats && (await batches.find(named.repeats.batch))) ?? named;
    if (known === undefined || from === undefined) return undefined;
    const no = known.kind === 'accepted' ? known.compact.batchNo : isUnderWay(known) ? known.entry.batchNo : -1;
    if (no < from.no) return undefined;
    const name = (await batches.nameOf(no)) ?? batch;
    // Rows of one order that a person gives two numbers are two orders.
    return name === own ? undefined : { row: { batch, place }, by: { number: was, batch: name } };
  }

  /** The batch in which the number of an order waits for a person, with other rows than those of this order. */
  async function replaced(
    { number, records }: ValidOrder,
    corrects: Corrects | undefined,
  ): Promise<string | undefined> {
    if (corrects === undefined || records.some((record) => mayBeRowOf(number, record, corrects))) return undefined;
    const [waits] = readOpenDeadLetters((await redis.hget(keys.waiting, number)) ?? '');
    return waits && batchTitle(waits.batch, (await batches.find(waits.batch))?.name);
  }

  return async (
    { batch, no }: Pick<Batch, 'batch' | 'no'>,
    orders: readonly ValidOrder[],
    corrects: Corrects | undefined,
  ): Promise<Guarded> => {
    const guard = async (order: ValidOrder): Promise<readonly RowClaim[] | InvalidOrder> => {
      const rows = order.records.flatMap(({ fixTarget }) => fixTarget ?? []);
      if (order.records.every(({ isConfirmed }) => isConfirmed)) return [];
      const found = await claims.claim({ number: order.number, batch, no }, rows);
      const taken = 'by' in found ? found : await firstFound(rows, (row) => sentSince(order, row, corrects, batch));
      if (taken !== undefined) return heldBack(order, ALREADY_CORRECTED, readings(order, taken));
      const other = await replaced(order, corrects);
      if (other !== undefined) return heldBack(order, ROWS_LEFT_OUT, sentAlone(order, other));
      return 'by' in found ? [] : found;
    };
    return new Map(await Promise.all(orders.map(async (order) => [order, await guard(order)] as const)));
  };
}

/** Whether a record of a fix file may be a row of the dead letter with this number: not if it was one of another order. */
function mayBeRowOf(number: string, { fixTarget }: SourceRecord, { batch, numbers }: Corrects): boolean {
  if (fixTarget === undefined) return false;
  return fixTarget.batch !== batch || (numbers.get(fixTarget.place) ?? number) === number;
}

async function firstFound<T, Found>(
  all: readonly T[],
  find: (one: T) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  for (const one of all) {
    const found = await find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

function readings({ number }: ValidOrder, { row: { batch, place }, by }: TakenRow): string {
  return `${place} of batch ${batch} is already order ${by.number}, from batch ${by.batch}: ${number} can be a second correction of the same row, or another order. If it is the same order, discard this one. If it is another order, write confirmed into _error_check of its rows`;
}

function sentAlone({ number }: ValidOrder, other: string): string {
  return `order ${number} waits for a person in ${other}, and none of its rows is here: this order would replace it. If this belongs to ${number}, put it next to the rows of ${number} in the fix file, or add it on the page of ${number} in the dashboard: with the same article and quantity, this row is settled too, with other values discard it here. If this is all of ${number}, write confirmed into _error_check`;
}
