import type { Row } from './order-table.ts';
import type { SandboxSettings } from './sandbox-options.ts';

/** The list as JSON text, a page at a time; its shape is not specified, so it is a setting. */
export async function* listText(
  pages: AsyncIterable<readonly Row[]>,
  { listShape, listItems }: Pick<SandboxSettings, 'listShape' | 'listItems'>,
): AsyncGenerator<string> {
  const [open, close] = listShape === 'array' ? ['[', ']'] : ['{"purchaseOrders":[', ']}'];
  let before = `{"status":"success","data":${open}`;
  for await (const rows of pages) {
    yield before + rows.map((row) => orderText(row, listItems)).join(',');
    before = ',';
  }
  yield `${before === ',' ? '' : before}${close},"error":null}`;
}

function orderText(row: Row, withItems: boolean): string {
  const head = `{"purchaseOrderNumber":${JSON.stringify(row.number)},"orderState":"${row.state}"`;
  return withItems ? `${head},"items":${row.items}}` : `${head}}`;
}
