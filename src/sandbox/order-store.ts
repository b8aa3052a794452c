import { toError } from '../core/errors.ts';
import type { OrderTable, Range, Row } from './order-table.ts';

/** Whether an order is durable now, or its number was taken already. */
export type Stored = 'stored' | 'taken';

/** An order as it is kept; `items` is JSON text, exactly as it will be listed. */
export type NewOrder = { number: string; state: 'NEW'; items: string };

/** The table of orders where it is elsewhere; calls are done in the order they are made. */
export type RemoteTable = {
  [Name in keyof OrderTable]: (...given: Parameters<OrderTable[Name]>) => Promise<ReturnType<OrderTable[Name]>>;
};

export type OrderStore = {
  /**
   * Tells when the order is on disk, or why it may not be; creates that arrive together are committed together.
   * By callback, because each promise of a call costs it a fiftieth of its pace.
   */
  create(order: NewOrder, tell: (outcome: Stored | Error) => void): void;
  /** All orders stored up to `until` (milliseconds since 1970), fixed while they are read. */
  range(until: number): Promise<Range>;
  /** Narrows a range to its oldest or newest orders. */
  capped(range: Range, most: number, keep: 'oldest' | 'newest'): Promise<Range>;
  /** The rows of a range in the order of storage, read page by page. */
  pages(range: Range): AsyncIterable<readonly Row[]>;
};

/** Groups under way at the same time: one goes to the disk, the next lies ready behind it. */
const GROUPS = 2;
/** Characters of items after which a group takes no further order: it is copied from thread to thread. */
const GROUP_TEXT = 4 * 1024 * 1024;
/** Orders that are worth a group behind another one; fewer wait for more until that one is on disk. */
const WORTH_A_GROUP = 24;

type Waiting = { order: NewOrder; tell: (outcome: Stored | Error) => void };

/** The orders of one environment. */
export function openOrderStore(table: RemoteTable): OrderStore {
  const waiting: Waiting[] = [];
  let isScheduled = false;
  let underWay = 0;

  function nextGroup(): Waiting[] {
    let text = 0;
    const cut = waiting.findIndex(({ order }) => {
      text += order.items.length;
      return text > GROUP_TEXT;
    });
    return waiting.splice(0, cut < 0 ? waiting.length : Math.max(cut, 1));
  }

  /** Stores what waits and answers it once it is on disk. */
  async function storeWaiting(): Promise<void> {
    const group = nextGroup();
    underWay += 1;
    try {
      const numbers = group.map(({ order }) => order.number);
      const stored = await table.insert({ numbers, items: group.map(({ order }) => order.items) });
      for (const [nth, one] of group.entries()) one.tell(stored[nth] === true ? 'stored' : 'taken');
    } catch (thrown) {
      for (const one of group) one.tell(toError(thrown));
    }
    underWay -= 1;
    if (waiting.length > 0) schedule();
  }

  /** What comes until then is the next group. */
  function schedule(): void {
    if (isScheduled || underWay >= GROUPS) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      if (underWay === 0 || waiting.length >= WORTH_A_GROUP) void storeWaiting();
    });
  }

  return {
    create(order, tell) {
      waiting.push({ order, tell });
      schedule();
    },
    range: table.range,
    capped: table.capped,
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
