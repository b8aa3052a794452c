import { toError } from '../core/errors.ts';
import type { OrderTable, Range, Row } from './database.ts';

/** Whether an order is durable now, or its number already existed. */
export type Stored = 'stored' | 'taken';

/** An order as it is stored; `items` is JSON text, exactly as the list will show it. */
export type NewOrder = { number: string; state: 'NEW'; items: string };

/** The order table in another thread; calls run in the order they are made. */
export type RemoteTable = {
  [Name in keyof OrderTable]: (
    ...given: Parameters<OrderTable[Name]>
  ) => Promise<ReturnType<OrderTable[Name]>>;
};

export type OrderStore = {
  /**
   * Calls `done` when the order is on disk, or with the error; orders that arrive together are committed together.
   * Takes a callback because each promise in a call costs about 2 % of the throughput.
   */
  create(order: NewOrder, done: (outcome: Stored | Error) => void): void;
  /** All orders stored up to `until` (milliseconds since 1970); later orders do not change the range. */
  range(until: number): Promise<Range>;
  /** Narrows a range to its oldest or newest orders. */
  capped(range: Range, most: number, keep: 'oldest' | 'newest'): Promise<Range>;
  /** The orders with a number, oldest first. */
  find(number: string): Promise<Row[]>;
  /** The rows of a range in storage order, read page by page. */
  pages(range: Range): AsyncIterable<readonly Row[]>;
};

/** Groups in flight: one is written to disk, the next waits behind it. */
const GROUPS = 2;
/** Maximum characters of items in a group, because a group is copied between threads. */
const GROUP_TEXT = 4 * 1024 * 1024;
/** Fewest orders that start a group while another is in flight; fewer wait until that one is on disk. */
const WORTH_A_GROUP = 24;

type Waiting = { order: NewOrder; done: (outcome: Stored | Error) => void };

/** Creates the store of one environment's orders on top of its table. */
export function createOrderStore(table: RemoteTable): OrderStore {
  const waiting: Waiting[] = [];
  let isScheduled = false;
  let inFlight = 0;

  function nextGroup(): Waiting[] {
    let text = 0;
    const cut = waiting.findIndex(({ order }) => {
      text += order.items.length;
      return text > GROUP_TEXT;
    });
    return waiting.splice(0, cut < 0 ? waiting.length : Math.max(cut, 1));
  }

  /** Stores the waiting orders and calls them back once they are on disk. */
  async function storeWaiting(): Promise<void> {
    const group = nextGroup();
    inFlight += 1;
    try {
      const numbers = group.map(({ order }) => order.number);
      const stored = await table.insert({ numbers, items: group.map(({ order }) => order.items) });
      for (const [nth, one] of group.entries()) one.done(stored[nth] === true ? 'stored' : 'taken');
    } catch (thrown) {
      for (const one of group) one.done(toError(thrown));
    }
    inFlight -= 1;
    if (waiting.length > 0) schedule();
  }

  /** Orders that arrive before the group starts belong to it. */
  function schedule(): void {
    if (isScheduled || inFlight >= GROUPS) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      if (inFlight === 0 || waiting.length >= WORTH_A_GROUP) void storeWaiting();
    });
  }

  return {
    create(order, done) {
      waiting.push({ order, done });
      schedule();
    },
    range: table.range,
    capped: table.capped,
    find: table.find,
    async *pages({ first, last }) {
      for (let next = first; next <= last; ) {
        const rows = await table.page({ first: next, last });
        const end = rows.at(-1);
        if (end === undefined) return;
        yield rows;
        next = end.id + 1;
      }
    },
  };
}
