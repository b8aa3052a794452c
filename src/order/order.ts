import type { Problem } from './problem.ts';
import type { Place, SourceRecord } from './record.ts';
import { shorten } from './text.ts';

/** Further fields that the API takes, by name. */
export type Fields = Readonly<Record<string, string | number>>;

/** One line of a purchase order, as the API takes it (API part 2). */
export type Item = { articleCode: string; quantity: number; fields?: Fields };

/** A purchase order. */
export type Order = {
  purchaseOrderNumber: string;
  orderState: string;
  items: Item[];
  fields?: Fields;
};

/** An order as the API shows it; `items` is absent where the API leaves them out. */
export type ShownOrder = { purchaseOrderNumber: string; items?: Item[] };

/** Path of create and list, below the base address (API part 4). */
export const ORDERS_PATH = '/purchase-orders';

/** The only state in which an order can be created. */
export const NEW = 'NEW';

/** JSON body of the create call: exactly the documented fields, in their order, and further ones of the mapping. */
export function payloadOf({ purchaseOrderNumber, items, fields }: Order): string {
  const lines = items.map(({ articleCode, quantity, fields: more }) => ({
    articleCode,
    quantity,
    ...more,
  }));
  return JSON.stringify({ purchaseOrderNumber, orderState: NEW, ...fields, items: lines });
}

/**
 * All records of one order number, after mapping, grouping and checks. `ordinal` counts the orders of a file from 0 and
 * is the same whenever the same bytes are read.
 */
export type CheckedOrder = ValidOrder | InvalidOrder;

type Common = {
  ordinal: number;
  /** As read, possibly invalid; "" when there is none. */
  number: string;
  /** Place of the first record; of an invalid order, of the first record with a problem. */
  place: Place;
  records: readonly SourceRecord[];
};

/** An order that may be sent. */
export type ValidOrder = Common & { valid: true; order: Order };

/** An order that is not sent, with every problem of its records. */
export type InvalidOrder = Common & { valid: false; problems: readonly Problem[] };

/** Groups orders into pages of bounded memory. */
type Pager = {
  /** Adds an order and returns the pages that are now full. */
  add: (order: CheckedOrder) => CheckedOrder[][];
  /** Returns the last page, possibly empty. */
  rest: () => CheckedOrder[];
};

/** Rows or objects in a page, unless a single order has more. */
const RECORDS = 4_000;

/** Builds a pager for pages of at most `most` orders. */
export function createPager(most: number): Pager {
  let page: CheckedOrder[] = [];
  let records = 0;

  function rest(): CheckedOrder[] {
    const done = page;
    page = [];
    records = 0;
    return done;
  }

  return {
    add(order) {
      const isTooMuch = page.length > 0 && records + order.records.length > RECORDS;
      const full = isTooMuch ? [rest()] : [];
      page.push(order);
      records += order.records.length;
      return page.length >= most || records >= RECORDS ? [...full, rest()] : full;
    },
    rest,
  };
}

/** The items of a stored payload, which is an order as it was to be sent. */
export function itemsIn(payload: unknown): readonly Item[] {
  const items =
    typeof payload === 'object' && payload !== null && 'items' in payload
      ? payload.items
      : undefined;
  return Array.isArray(items) ? (items as Item[]) : [];
}

/** The items of an order in conflict by article, wherever they are shown: two orders can then be compared by eye. */
export function byArticle(items: readonly Item[]): Item[] {
  return items.toSorted(({ articleCode: a }, { articleCode: b }) => (a < b ? -1 : Number(a > b)));
}

/** `A-1 × 5`, `B-2 × 1`, by article. */
export function itemTexts(items: readonly Item[]): string[] {
  const texts = byArticle(items).map(({ articleCode, quantity }) => `${articleCode} × ${quantity}`);
  return texts.length > MOST_ITEMS
    ? [...texts.slice(0, MOST_ITEMS), `${texts.length - MOST_ITEMS} more`]
    : texts;
}

const MOST_ITEMS = 20;
const FIRST_ITEMS = 5;

/** `A-1 × 5, B-2 × 1`: the first five items, and how many more there are. */
export function firstItems(items: readonly Item[]): string {
  // Codes have no limit at some APIs, and the page is bounded.
  const text = ({ articleCode, quantity }: Item) => `${shorten(articleCode, 40)} × ${quantity}`;
  const first = items.slice(0, FIRST_ITEMS).map(text).join(', ');
  return items.length > FIRST_ITEMS ? `${first} and ${items.length - FIRST_ITEMS} more` : first;
}
