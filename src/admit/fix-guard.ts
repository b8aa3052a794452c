import type { Batch } from '../ledger/batches/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Known } from '../ledger/transitions/admission.ts';
import { ALREADY_CORRECTED, LEADING_ZEROS_LOST, placeText } from '../order/fixing.ts';
import type { CheckedOrder, InvalidOrder, ValidOrder } from '../order/order.ts';
import type { FixTarget } from '../order/record.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';

type Deps = { ledger: Pick<Ledger, 'lookup'>; redis: Redis; keys: Keys };

/** Holds orders of a fix file that another order of the ledger puts in doubt. */
export function createFixGuard(deps: Deps) {
  const withoutZeros = createZeroGuard(deps);
  const byRow = createRowGuard(deps);
  return async (batch: Pick<Batch, 'batch' | 'no'>, page: readonly CheckedOrder[]): Promise<CheckedOrder[]> =>
    await byRow(batch, await Promise.all(page.map(withoutZeros)));
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

function heldBack({ ordinal, number, place, records }: ValidOrder, code: string, message: string): InvalidOrder {
  const problem = { line: place.line, field: '', code, value: number, message };
  return { ordinal, number, place, records, valid: false, problems: [problem] };
}

/** The order that a row became: its number, and the batch that brought it. */
type Claim = { number: string; batch: string; no: number };

/** Holds orders whose row is already another order. A row that comes back in several fix files is that of the first. */
function createRowGuard({ ledger, redis, keys }: Deps) {
  async function firstOf({ batch, place }: FixTarget): Promise<FixTarget> {
    const from = await redis.hget(keys.corrected(batch), `from ${place}`);
    return from === null ? { batch, place } : (JSON.parse(from) as FixTarget);
  }

  async function rowsOf(order: CheckedOrder, batch: string): Promise<FixTarget[]> {
    const targets = order.records.flatMap(({ fixTarget, place }) => (fixTarget ? [{ fixTarget, place }] : []));
    return await Promise.all(
      targets.map(async ({ fixTarget, place }) => {
        const first = await firstOf(fixTarget);
        await redis.hset(keys.corrected(batch), `from ${placeText(place)}`, JSON.stringify(first));
        return first;
      }),
    );
  }

  /** Claims a row for an order; the other order that has it, if that is accepted or may be. */
  async function claim({ batch, place }: FixTarget, own: Claim, here: ReadonlySet<string>): Promise<Claim | undefined> {
    const [key, field, value] = [keys.corrected(batch), `as ${place}`, JSON.stringify(own)];
    if ((await redis.hsetnx(key, field, value)) === 1) return undefined;
    const other = JSON.parse((await redis.hget(key, field)) ?? value) as Claim;
    if (other.number === own.number) return undefined;
    const [known] = await ledger.lookup([other.number]);
    if ((other.batch === own.batch && here.has(other.number)) || isOf(known, other)) return other;
    await redis.hset(key, field, value);
    return undefined;
  }

  return async ({ batch, no }: Pick<Batch, 'batch' | 'no'>, page: readonly CheckedOrder[]): Promise<CheckedOrder[]> => {
    const rows = await Promise.all(page.map((order) => rowsOf(order, batch)));
    const here = new Set(page.map(({ number }) => number));
    return await Promise.all(
      page.map(async (order, i) => {
        const own = rows[i] ?? [];
        if (!order.valid || own.length === 0 || order.records.every(({ isConfirmed }) => isConfirmed)) return order;
        const others = await Promise.all(own.map((row) => claim(row, { number: order.number, batch, no }, here)));
        const at = others.findIndex((one) => one !== undefined);
        const [other, row] = [others[at], own[at]];
        if (other === undefined || row === undefined) return order;
        return heldBack(order, ALREADY_CORRECTED, readings(order, other, row));
      }),
    );
  };
}

/** Whether the ledger has the order of a claim, and it is accepted, in progress or in doubt. */
function isOf(known: Known | undefined, { batch, no }: Claim): boolean {
  if (known?.kind === 'accepted') return known.compact.batchNo === no;
  if (known?.kind !== 'open' || known.entry.batch !== batch) return false;
  return known.entry.state !== 'refused' && known.entry.state !== 'failed' && known.entry.state !== 'conflict';
}

function readings({ number }: ValidOrder, other: Claim, { batch, place }: FixTarget): string {
  return `${place} of batch ${batch} is already order ${other.number}, from batch ${other.batch}: ${number} can be a second correction of the same row, or a further order. Leave it out, or write confirmed into _error_check of its rows if it is a further order`;
}
