import type { CheckedOrder } from './checked-order.ts';

/** Gathers orders into pages that take little memory, be the orders short or long. */
export type Pager = {
  /** The pages that are full with this order. */
  add: (order: CheckedOrder) => CheckedOrder[][];
  /** What is left, possibly nothing. */
  rest: () => CheckedOrder[];
};

/** Rows or objects of a page, unless one order alone has more. */
const RECORDS = 4_000;

/** Pages of at most `most` orders. */
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
