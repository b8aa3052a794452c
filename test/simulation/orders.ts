import type { LetterRef } from '../../src/order/letter-id.ts';
import type { CheckedOrder, Item } from '../../src/order/order.ts';
import { UNKNOWN_ARTICLE } from './partner-api.ts';
import type { Random } from './random.ts';
import type { Weather } from './weather.ts';

/** The content of an order before it has a place in a file. Without items it fails a check. */
export type Draft = { number: string; items?: Item[]; from?: LetterRef };

/** Mostly good orders; a few that the API refuses, a few that fail a check, and a few numbers that occur twice. */
export function makeDrafts({ orders: count, rollback }: Weather, random: Random): Draft[] {
  const contents = rollback === 'none' ? 2 : 1;
  const refused = random.chance(0.3) ? random.pick([0.1, 0.1, 0.7]) : 0;
  const twice = random.chance(0.3) ? 0.1 : 0;
  const invalid = random.chance(0.3) ? 0.1 : 0;
  return Array.from({ length: count }, (_, i) => {
    const number = `PO-${i > 0 && random.chance(twice) ? random.below(i) : i}`;
    if (random.chance(invalid)) return { number: random.chance(0.2) ? '' : number };
    const articleCode = random.chance(refused) ? UNKNOWN_ARTICLE : 'A-1';
    return { number, items: [{ articleCode, quantity: 1 + random.below(contents) }] };
  });
}

/** The orders of a file, as they are read from it. */
export function ordersIn(drafts: readonly Draft[]): CheckedOrder[] {
  return drafts.map(checked);
}

function checked({ number, items, from }: Draft, ordinal: number): CheckedOrder {
  const line = ordinal + 2;
  const place = { line };
  const cells = [number, JSON.stringify(items ?? 'abc')];
  const records = [{ kind: 'row' as const, place, cells, ...(from ? { from } : {}) }];
  const common = { ordinal, number, place, records };
  if (items === undefined) {
    const problem = {
      line,
      field: 'quantity',
      code: 'not-a-number',
      facts: { of: 'quantity' },
      value: 'abc',
    } as const;
    return { ...common, valid: false, problems: [problem] };
  }
  return {
    ...common,
    valid: true,
    order: { purchaseOrderNumber: number, orderState: 'NEW', items },
  };
}

/** Whether the API refuses these items. */
export function isRefused(items: readonly Item[]): boolean {
  return items.some(({ articleCode }) => articleCode === UNKNOWN_ARTICLE);
}

/** The content that the API accepts. */
export function goodItems(quantity = 1): Item[] {
  return [{ articleCode: 'A-1', quantity }];
}
