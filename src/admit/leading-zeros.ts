import type { Ledger } from '../ledger/ledger.ts';
import { LEADING_ZEROS_LOST } from '../order/fixing.ts';
import type { CheckedOrder, InvalidOrder, ValidOrder } from '../order/order.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';

/** Maximum length of numbers with leading zeros that are searched. */
const LONGEST = 40;

/**
 * Holds orders of a fix file whose number lost its leading zeros in a spreadsheet: 10, where 0010 waits for a person and
 * 10 is unknown. If it were sent, it would be another order.
 */
export function createZeroGuard({ ledger, redis, keys }: { ledger: Ledger; redis: Redis; keys: Keys }) {
  return (page: readonly CheckedOrder[]): Promise<CheckedOrder[]> => Promise.all(page.map(guarded));

  async function guarded(order: CheckedOrder): Promise<CheckedOrder> {
    if (!order.valid || !isBare(order.number)) return order;
    const padded = Array.from({ length: LONGEST - order.number.length }, (_, i) => '0'.repeat(i + 1) + order.number);
    const [own, ...others] = await redis.hmget(keys.waiting, order.number, ...padded);
    const was = padded[others.findIndex((marks) => marks !== null)];
    if (was === undefined || own !== null) return order;
    const [known] = await ledger.lookup([order.number]);
    return known?.kind === 'nothing' ? heldBack(order, was) : order;
  }
}

/** A number as a spreadsheet writes it. */
function isBare(number: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(number) && number.length < LONGEST;
}

function heldBack({ ordinal, number, place, records }: ValidOrder, was: string): InvalidOrder {
  const message = `${number} looks like ${was} without its leading zeros, which a spreadsheet removed. Restore them, or drop the row in a file without the _error_ columns if ${number} is correct`;
  const problem = { line: place.line, field: '', code: LEADING_ZEROS_LOST, value: number, message };
  return { ordinal, number, place, records, valid: false, problems: [problem] };
}
