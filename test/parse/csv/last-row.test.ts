import { expect, test } from 'vitest';
import { fixMapping } from '../../../src/parse/read-fix-file.ts';
import { mappingOf, readText, whyUnreadable } from '../../support/read-text.ts';
import { writeWorkbook } from '../../support/write-workbook.ts';

const ROWS = 'purchaseOrderNumber;articleCode;quantity\nPO-1;A;1\nPO-2;A;1\nPO-2;B;1\n';
const mapping = mappingOf({ lastRow: '^END$' });

test.each([
  ['as wide as the header', `${ROWS}END;;\n`],
  ['alone on its line', `${ROWS}END\n`],
  ['without a line end', `${ROWS}END`],
  ['followed by nothing but empty rows', `${ROWS} END ;;\r\n\r\n;;\r\n\u001a`],
])(
  'a table that ends with the row of lastRow is read, and that row is no order: %s',
  async (_, text) => {
    const { orders, inspection } = await readText(text, mapping);
    expect(orders.map(({ number, valid }) => [number, valid])).toEqual([
      ['PO-1', true],
      ['PO-2', true],
    ]);
    expect(inspection.warnings.filter((one) => !one.includes('without any value'))).toEqual([]);
  },
);

test.each([
  ['cut off at a line end in the middle of an order', ROWS.replace('PO-2;B;1\n', ''), 3],
  ['of which only the row is missing', ROWS, 4],
  ['cut off within the row', `${ROWS}EN\n`, 5],
  ['cut off below its header', ROWS.slice(0, ROWS.indexOf('\n') + 1), 1],
  ['with the row above another one', `${ROWS}END\nPO-3;A;1\n`, 6],
  ['with the row twice, as joined files have it', `${ROWS}END\n${ROWS}END\n`, 6],
])('a table %s is unreadable', async (_, text, line) => {
  expect(await whyUnreadable(text, mapping)).toEqual({ code: 'unreadable-last-row', line });
});

test('a worksheet needs the row too, and a file of JSON does not', async () => {
  const rows = [['purchaseOrderNumber', 'articleCode', 'quantity'], ['PO-1', 'A', 1], ['END']];
  expect(await whyUnreadable(await writeWorkbook(rows), mapping)).toMatchObject({ records: 1 });
  expect(await whyUnreadable(await writeWorkbook(rows.slice(0, 2)), mapping)).toMatchObject({
    code: 'unreadable-last-row',
  });
  const json = '[{"purchaseOrderNumber":"PO-1","articleCode":"A","quantity":1}]';
  expect(await whyUnreadable(json, mapping)).toMatchObject({ code: 'readable', records: 1 });
});

test('the message names the last line and what is missing, and a fix file needs no such row', async () => {
  await expect(readText(ROWS, mapping)).rejects.toMatchObject({
    message:
      'The file is not complete: it ends with line 4 ("PO-2 B 1"), not with the last row that its program writes (lastRow: "^END$"). The program has not finished, or the file was cut off.',
    remedy: expect.stringContaining('Nothing of it was sent. Drop the complete file again'),
  });
  expect(fixMapping(mapping)).not.toHaveProperty('lastRow');
  expect(() => mappingOf({ lastRow: '(' })).toThrow(
    'expected a regular expression, such as \\"^END\\"; \\"(\\" is none: unterminated group',
  );
});
