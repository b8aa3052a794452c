import type { NewOrder, OrderTable } from './database.ts';
import type { FaultControl } from './faults/fault-control.ts';
import { type ListMode, shownIn } from './list-mode.ts';
import { failure, type Reply } from './reply.ts';
import type { SandboxSettings } from './sandbox-options.ts';

/** Answers a read of the list; `mode` replaces the one of the settings. */
export type ReadList = (query: URLSearchParams, mode: ListMode | undefined) => Reply;

/** Creates the list of one environment. */
export function createList(
  orders: OrderTable,
  faults: Pick<FaultControl, 'draw'>,
  settings: SandboxSettings,
): ReadList {
  let nth = 0;
  return (query, mode = settings.list) => {
    nth += 1;
    const now = Date.now();
    if (mode.grows)
      orders.insert({
        number: `GROWN-${now}-${nth}`,
        items: '[{"articleCode":"A","quantity":1}]',
      });
    const shown = shownIn(mode, orders.times(), { query, nth, now, draw: faults.draw });
    if (typeof shown === 'string')
      return failure(400, `The request parameters are invalid: ${shown}.`);
    return { kind: 'stream', status: 200, chunks: listText(orders.pages(shown), settings) };
  };
}

/** The list as JSON text, page by page; the specification does not show its shape, so the shape is a setting. */
function* listText(
  pages: Iterable<readonly NewOrder[]>,
  { listShape, listItems }: Pick<SandboxSettings, 'listShape' | 'listItems'>,
): Generator<string> {
  const [open, close] = listShape === 'array' ? ['[', ']'] : ['{"purchaseOrders":[', ']}'];
  let before = `{"status":"success","data":${open}`;
  for (const rows of pages) {
    yield before + rows.map((row) => orderText(row, listItems)).join(',');
    before = ',';
  }
  yield `${before === ',' ? '' : before}${close},"error":null}`;
}

function orderText({ number, items }: NewOrder, withItems: boolean): string {
  const head = `{"purchaseOrderNumber":${JSON.stringify(number)},"orderState":"NEW"`;
  return withItems ? `${head},"items":${items}}` : `${head}}`;
}
