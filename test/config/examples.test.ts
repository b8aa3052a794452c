import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { checkCommand } from '../../src/cli/commands/check.ts';
import { mappingSchema } from '../../src/config/mapping-schema.ts';
import { inspectFile } from '../../src/parse/inspect.ts';
import { readOrders } from '../../src/validate/read-orders.ts';
import { fakeShell } from '../support/fake-shell.ts';
import { inShort } from '../support/read-text.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const folder = path.resolve(import.meta.dirname, '../../config/examples');
const item = (articleCode: string, quantity: number) => ({ articleCode, quantity });
const order = (purchaseOrderNumber: string, ...items: object[]) => ({
  purchaseOrderNumber,
  orderState: 'NEW',
  items,
});

/** What becomes of each sample with the mapping of its name. */
const EXPECTED: Record<string, unknown[]> = {
  'sap.txt': [
    order('4500017891', item('000000000000100345', 1200), item('000000000000100346', 1200)),
    order('4500017892', item('PUMPE-7', 2)),
    { 4500017893: ['5 MENGE not-positive'] },
  ],
  'sap-list.txt': [
    order('4500017891', item('000000000000100345', 1200), item('000000000000100346', 12)),
    order('4500017892', item('PUMPE-7', 2)),
  ],
  'shopify.csv': [
    order('#1001', item('P-100', 2), item('B-7', 1)),
    { '#1002': ['4 Lineitem sku missing'] },
    order('#1003', item('B-7', 4)),
  ],
  'woocommerce.csv': [
    order('5001', item('P-100', 2), item('B-7', 1)),
    order('5002', item('000451', 1)),
  ],
  'business-central.json': [
    order('106001', item('1896-S', 5), item('1900-S', 12)),
    { 106002: ['41 quantity not-whole'] },
  ],
  'erp-xml.xml': [
    order('4500017891', item('000345', 12), item('GRÜN-7', 1)),
    { 4500017892: ['13 Quantity not-a-number'] },
  ],
  'flat-json.json': [
    order('PO-2201', item('000345', 12), item('GRÜN-7', 1)),
    { 'PO-2202': ['7 qty not-positive'] },
    order('PO-2203', item('PUMPE-8', 3)),
  ],
  'spreadsheet.csv': [
    order('A-17', item('Paint, white', 2.5), item('Brush', 10)),
    order('A-18', item('Ladder "XL"', 1)),
    { 'A-19': ['8 Qty ambiguous-number'] },
  ],
};

const WARNINGS: Record<string, string[]> = {
  'sap-list.txt': [
    'One totals row (marked with stars, or the sum of the rows above, as far as it can be checked) was skipped: line 14 ("*", "1.214,000", "EA").',
    'One repeated header was skipped.',
  ],
  'business-central.json': ['it names a next page (nextLink)'],
};

describe('the example mappings', () => {
  test.each(Object.entries(EXPECTED))('read %s', async (sample, expected) => {
    const name = path.parse(sample).name;
    const example: unknown = parse(await readFile(path.join(folder, `${name}.yaml`), 'utf8'));
    expect(example).toMatchObject({ mappings: { [name]: {} } });
    const mapping = mappingSchema.parse(Object(example).mappings[name]);
    const file = path.join(folder, sample);
    const inspection = await inspectFile(file, mapping);
    const orders = [];
    for await (const one of readOrders(file, inspection)) orders.push(one);
    expect(inShort(orders)).toEqual(expected);
  });

  test.each(Object.keys(EXPECTED))(
    'pass the checks of a configuration and read %s with po-sync check',
    async (sample) => {
      await using temp = await makeTempFolder();
      const name = path.parse(sample).name;
      const environment = {
        baseUrl: 'https://api.example.com/api/v1',
        authUrl: 'https://auth.example.com',
      };
      const settings = {
        environment: 'staging',
        data: 'data',
        environments: { staging: environment },
        sources: [{ name: 'erp', type: 'inbox', path: 'inbox', mapping: name }],
        reports: { path: 'reports' },
        ...Object(parse(await readFile(path.join(folder, `${name}.yaml`), 'utf8'))),
      };
      const config = path.join(temp.path, 'po-sync.yaml');
      await writeFile(config, stringify(settings));
      const shell = fakeShell({ cwd: temp.path });
      const isHeld = EXPECTED[sample]?.some((one) => !Object.hasOwn(Object(one), 'orderState'));
      const code = await checkCommand(
        { files: [path.join(folder, sample)], config, json: false },
        shell,
      );
      expect(shell.written.err).toBe('');
      expect(code).toBe(isHeld ? 2 : 0);
      for (const warning of WARNINGS[sample] ?? []) expect(shell.written.out).toContain(warning);
    },
  );

  test('each have a sample', async () => {
    const names = (await readdir(folder)).map((file) => path.parse(file).name);
    expect(new Set(names)).toEqual(
      new Set(Object.keys(EXPECTED).map((file) => path.parse(file).name)),
    );
  });
});
