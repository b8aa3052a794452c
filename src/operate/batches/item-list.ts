import { listTime } from '../../core/format.ts';
import { type Known, OTHER, UNSHOWN } from '../../ledger/entry.ts';
import type { Item } from '../../order/order.ts';
import { workbookOf } from '../../report/fix-file/workbook.ts';
import { inPieces, listLine, pages } from '../../report/lines.ts';
import type { OperatorContext } from '../operator-context.ts';
import { createTurns, type ReadItems } from '../orders/file-search.ts';
import type { ItemReading, Unread, WantedItems } from '../orders/items-in-file.ts';
import { fileOf } from '../orders/order-content.ts';
import {
  type AcceptedOrder,
  acceptedIn,
  type FoundOrders,
  type ListedBatch,
} from './accepted-orders.ts';

/** Milliseconds in which the files of a list are read, and that a list waits for another one before. */
const LIST_TAKES = 60_000;

type ItemContext = Pick<OperatorContext, 'batches' | 'clock' | 'config' | 'ledger'>;

const COLUMNS =
  'file batch line purchaseOrderNumber articleCode quantity acceptedAt note sender itemLine conflict'.split(
    ' ',
  );

/** Orders that are looked up together. */
const LOOKUP = 5_000;

/** Why a line has no item. `unproven`: the ledger no longer has what was sent, or the API's list did not show it. */
type Note = Unread | 'unproven';

type Wanted = AcceptedOrder & { note?: Note };

/** Finished batches, and the found orders that they list. `conflicts`: what other files had of an order, by number. */
type AcceptedList = {
  listed: readonly ListedBatch[];
  found: FoundOrders;
  conflicts?: ReadonlyMap<string, string>;
};

/** Builds lists of items. One list at a time reads files; another one waits for it. */
export function createItemLists(context: ItemContext, read: ReadItems, takes = LIST_TAKES) {
  const take = createTurns(context.clock, takes);

  async function* lines(of: AcceptedList): AsyncGenerator<Line> {
    await using turn = await take();
    yield* linesOf(of, context, (wanted) => turn.read(wanted, read));
  }

  /**
   * The items of all accepted orders of several batches as one file in pieces. The files are read again, each once;
   * an order whose items cannot be proven, or are not read in time, is one line with a note.
   */
  return {
    async *csv(of: AcceptedList): AsyncGenerator<string> {
      yield listLine(COLUMNS);
      yield* inPieces(csvLines(lines(of), of.conflicts));
    },
    /** A workbook for people, with times of this zone. */
    workbook(of: AcceptedList, timeZone: string): AsyncGenerator<Buffer> {
      const titles =
        `Order number,Article,Quantity,Accepted (${timeZone}),Note,Line,File,Batch,Sender,Conflict`.split(
          ',',
        );
      return workbookOf('Accepted items', titles, workbookRows(lines(of), timeZone, of.conflicts));
    },
  };
}

/** An item of an order, or why it has none. `row`: the line of the item, where it has a row to itself. */
type Line = { one: ListedBatch; order: Wanted; item?: Item; row?: number; note?: Note };

async function* csvLines(
  lines: AsyncIterable<Line>,
  conflicts?: AcceptedList['conflicts'],
): AsyncGenerator<string> {
  for await (const { one, order, item, row = '', note = '' } of lines) {
    const { articleCode = '', quantity = '' } = item ?? {};
    const place = [one.file, one.batch, String(order.line), order.number];
    yield listLine([
      ...place,
      articleCode,
      String(quantity),
      order.at,
      note,
      order.sender,
      String(row),
      conflicts?.get(order.number) ?? '',
    ]);
  }
}

async function* workbookRows(
  lines: AsyncIterable<Line>,
  timeZone: string,
  conflicts?: AcceptedList['conflicts'],
) {
  const time = listTime(timeZone);
  for await (const { one, order, item, row = order.line, note = '' } of lines) {
    const { articleCode = '', quantity = '' } = item ?? {};
    const at = time(order.at);
    yield [
      order.number,
      articleCode,
      quantity,
      at,
      note,
      row,
      one.file,
      one.batch,
      order.sender,
      conflicts?.get(order.number) ?? '',
    ];
  }
}

type ReadInTurn = (wanted: WantedItems) => ItemReading;

async function* linesOf(
  { listed, found }: AcceptedList,
  context: ItemContext,
  read: ReadInTurn,
): AsyncGenerator<Line> {
  for (const one of listed) {
    const wanted = new Map<string, Wanted>();
    const digests = new Map<string, string>();
    for await (const page of pages(acceptedIn(one, found, context), LOOKUP)) {
      const known = await context.ledger.lookup(page.map(({ number }) => number));
      for (const [i, order] of page.entries()) {
        const digest = digestIn(known[i]);
        wanted.set(order.number, digest === undefined ? { ...order, note: 'unproven' } : order);
        if (digest !== undefined) digests.set(order.number, digest);
      }
    }
    const reading = itemsOf(one, digests, context, read);
    let next = await reading.next();
    for (; !next.done; next = await reading.next()) {
      for (const { purchaseOrderNumber, items, lines = [] } of next.value) {
        const order = wanted.get(purchaseOrderNumber);
        wanted.delete(purchaseOrderNumber);
        // In JSON, one record can have several items.
        const rows = lines.length === items.length ? lines : [];
        if (order !== undefined)
          for (const [i, item] of items.entries())
            yield { one, order, item, ...(rows[i] && { row: rows[i] }) };
      }
    }
    for (const order of wanted.values()) yield { one, order, note: order.note ?? next.value };
  }
}

/** Undefined also where the API's list did not show the items. */
function digestIn(known: Known | undefined): string | undefined {
  const digest = known?.kind === 'accepted' ? known.compact.digest : undefined;
  return digest === UNSHOWN || digest === OTHER ? undefined : digest;
}

async function* itemsOf(
  { batch: name }: ListedBatch,
  digests: ReadonlyMap<string, string>,
  { batches, config }: ItemContext,
  read: ReadInTurn,
): ItemReading {
  const batch = digests.size === 0 ? undefined : await batches.find(name);
  const file = batch && fileOf(batch, config);
  return file === undefined ? 'missing' : yield* read({ ...file, digests });
}
