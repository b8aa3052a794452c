import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeadLetter } from '../../src/order/dead-letter.ts';
import { encoderFor } from '../../src/report/encode.ts';
import type { Report } from '../../src/report/report.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Running, type Workplace } from '../support/workplace.ts';
import { textRows, writeWorkbook } from '../support/write-workbook.ts';
import { storeZip } from '../support/zip.ts';

// The round trip of the fix file of every format: corrected, dropped again, and the dead letters close.

const MAPPING = `mappings:
  erp:
    quantity: number
    fields: { purchaseOrderNumber: [PO_NO, purchaseOrderNumber], articleCode: [MATNR, articleCode], quantity: [MENGE, quantity] }
`;
const SOURCE =
  '- { name: inbox, type: inbox, path: inbox, mapping: erp, stable: 100ms, poll: 200ms }';

/** One article is refused, whoever orders it. */
const FAULTS = { faults: [{ kind: 'answer', status: 400, articles: ['NO-SUCH-ARTICLE'] }] };

const BEFORE = 'purchaseOrderNumber,articleCode,quantity\nPO-1,A-1,1\n';
/** A good order, one with two wrong rows of three, one without a number, one in conflict with what was sent before. */
const TABLE = [
  ['PO_NO', 'MATNR', 'MENGE', 'Größe'],
  ['PO-0', 'A-1', '1,5', 'L'],
  ['PO-1', 'A-9', '9', ''],
  ['PO-2', '=A2', 'two', 'é'],
  ['PO-2', 'A-2', '2', ''],
  ['PO-2', '', '3', ''],
  ['', 'A-4', '4', 'XL'],
];
const MENDED: [RegExp, string][] = [
  [/two/, '"2,5"'],
  [/(PO-2["\t;,|]+)(?=[\t;,|]3)/, '$1A-3'],
  [/^(["\t;,|]*)(?=[\t;,|]A-4)/m, 'PO-4'],
  [/PO-1(?=[\t;,|]A-9)/, 'PO-9'],
];
const OBJECTS = [
  { purchaseOrderNumber: 'PO-0', items: [{ articleCode: 'A-1', quantity: 1.5 }] },
  { purchaseOrderNumber: 'PO-1', items: [{ articleCode: 'A-9', quantity: 9 }] },
  {
    purchaseOrderNumber: 'PO-2',
    items: [
      { articleCode: '=A2', quantity: 'two' },
      { articleCode: 'A-2', quantity: 2 },
      { articleCode: '', quantity: 3 },
    ],
  },
  { purchaseOrderNumber: '', items: [{ articleCode: 'A-4', quantity: 4 }] },
];
const MENDED_OBJECTS: [RegExp, string][] = [
  [/"two"/, '2.5'],
  [/"articleCode":""/, '"articleCode":"A-3"'],
  [/"purchaseOrderNumber":""/, '"purchaseOrderNumber":"PO-4"'],
  [/"PO-1"/, '"PO-9"'],
];

const quoted = (cell: string, delimiter: string) => (cell.includes(delimiter) ? `"${cell}"` : cell);
const csv = (delimiter: string, newline = '\n') =>
  TABLE.map((row) => row.map((cell) => quoted(cell, delimiter)).join(delimiter) + newline).join('');
const json = `{"orders": [\n${OBJECTS.map((one) => JSON.stringify(one)).join(',\n')}]}`;
const ndjson = OBJECTS.map((one) => `${JSON.stringify(one)}\n`).join('');

type Encoding = 'utf-8' | 'utf-16le' | 'windows-1252';
type Form = {
  name: string;
  content: Buffer;
  fix: string;
  encoding?: Encoding;
  remedy?: [RegExp, string][];
  gzip?: true;
};

/** Orders of one test have separate numbers: `PO-` stands for its prefix. */
function own(text: string, prefix: string): string {
  return text.replaceAll('PO-', `${prefix}-`);
}

const bytes = (text: string, encoding: Encoding) => Buffer.from(encoderFor(encoding)(text));

const FORMS: (Form & { prefix: string })[] = [
  form('AA', 'comma.csv', csv(',')),
  form('B', 'erp.csv', csv(';', '\r\n'), { encoding: 'windows-1252' }),
  form('C', 'tabs.tsv', `\ufeff${csv('\t')}`, { encoding: 'utf-16le' }),
  form('D', 'pipes.csv', csv('|')),
  form('E', 'packed.csv.gz', csv(';'), { packed: true }),
  form('G', 'packed-twice.csv.gz', csv(';'), { packed: true, gzip: true }),
  form('H', 'array.json', json, { fix: 'dead-letters.fix.json', remedy: MENDED_OBJECTS }),
  form('I', 'one-line.json', JSON.stringify(OBJECTS), {
    fix: 'dead-letters.fix.json',
    remedy: MENDED_OBJECTS,
  }),
  form('K', 'lines.ndjson', ndjson, { fix: 'dead-letters.ndjson', remedy: MENDED_OBJECTS }),
];

function form(
  prefix: string,
  name: string,
  text: string,
  more: Partial<Form> & { packed?: true } = {},
) {
  const { packed, encoding = 'utf-8', ...rest } = more;
  const plain = bytes(own(text, prefix), encoding);
  return {
    prefix,
    name,
    content: packed ? gzipSync(plain) : plain,
    fix: 'dead-letters.csv',
    encoding,
    ...rest,
  };
}

const zipped = () => storeZip(new Map([['named.csv.fix.csv', Buffer.from('PO_NO;MATNR;MENGE\n')]]));

let place: Workplace;
let daemon: Running;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  place = stack.use(await openWorkplace({ source: SOURCE, more: MAPPING, faults: FAULTS }));
  daemon = place.start(['start']);
  stack.defer(async () => {
    daemon.child.kill('SIGTERM');
    await daemon.ended;
  });
});
afterAll(() => stack.disposeAsync());

const reportOf = (file: string, open?: number) =>
  until(`the report of ${file}`, async () => {
    const found = (await place.reportsNow()).find(
      (one) => one.file === file && one.state === 'finished',
    );
    return found && (open === undefined || found.open === open) ? found : undefined;
  });

async function settled(name: string, content: Buffer | string): Promise<Report> {
  await place.drop(name, content);
  return await reportOf(name);
}

/** Drops the file after the one that it is in conflict with; gives its report. */
async function dropFirst(name: string, content: Buffer | string, prefix: string): Promise<Report> {
  await settled(`before-${name}.csv`, own(BEFORE, prefix));
  const first = await settled(name, content);
  expect(first).toMatchObject({
    counts: { orders: 4, accepted: 1, invalid: 2, conflict: 1 },
    open: 3,
  });
  return first;
}

const lettersOf = async (report: Report): Promise<DeadLetter[]> =>
  JSON.parse(await place.read(report, 'dead-letters.json'));

const storedOf = (prefix: string) =>
  Object.fromEntries([...place.stored()].filter(([number]) => number.startsWith(`${prefix}-`)));

async function goAround(
  { name, content, fix, encoding = 'utf-8', remedy = MENDED, gzip }: Form,
  prefix: string,
) {
  const first = await dropFirst(name, content, prefix);
  const text = new TextDecoder(encoding, { ignoreBOM: true }).decode(
    await readFile(path.join(place.reports, first.batch, fix)),
  );
  const fixed = remedy.reduce(
    (before, [wrong, right]) => before.replace(wrong, right),
    text.replaceAll(`${prefix}-`, 'PO-'),
  );
  const back = bytes(own(fixed, prefix), encoding);
  const after = await settled(
    `mended-${name.replace(gzip ? /$^/ : /\.gz$/, '')}`,
    gzip ? gzipSync(back) : back,
  );
  expect(after).toMatchObject({ counts: { orders: 3, accepted: 3 }, open: 0 });
  expect(await reportOf(name, 0)).toMatchObject({
    counts: { accepted: 1, invalid: 2, conflict: 1 },
  });
  const deadLetters = await lettersOf(first);
  expect(deadLetters).toHaveLength(3);
  for (const { closed } of deadLetters) expect(closed).toMatchObject({ batch: after.batch });
  const numbers = ['0', '1', '2', '4', '9'].map((number) => [`${prefix}-${number}`, 1]);
  expect(storedOf(prefix)).toEqual(Object.fromEntries(numbers));
  expect(await readdir(path.join(place.reports, first.batch))).not.toContain(fix);
  // There are two days when midnight passes.
  const done = await readdir(path.join(place.inbox, 'done'), { recursive: true });
  const found = done.find((one) => path.basename(one) === `${name}.result.html`) ?? '';
  const page = path.join(place.inbox, 'done', found);
  await until('the page beside the file', async () =>
    (await readFile(page, 'utf8')).includes('Nothing here needs you'),
  );
  const beside = (await readdir(path.dirname(page))).filter((one) => one.startsWith(`${name}.`));
  expect(beside).toEqual([`${name}.result.html`]);
  const { out } = await place.run(['dead-letters', 'list', '--batch', first.batch]);
  expect(out).toBe('No orders need a person.\n');
}

describe('the round trip of a fix file', () => {
  it.each(FORMS)('$name', (form) => goAround(form, form.prefix));

  it('a workbook, as CSV', async () => {
    const rows = TABLE.map((row) => row.map((cell) => own(cell, 'XL')));
    const content = await writeWorkbook(textRows(rows));
    await goAround({ name: 'book.xlsx', content, fix: 'dead-letters.csv' }, 'XL');
  });
});

it('a fix file that comes back uncorrected moves every order to the newest batch, where each waits once', async () => {
  const refused = 'U-3;NO-SUCH-ARTICLE;7;\r\n';
  await settled('before-orders.csv', own(BEFORE, 'U'));
  const first = await settled(
    'orders.csv',
    own(csv(';', '\r\n'), 'U').replace('\r\n', `\r\n${refused}`),
  );
  expect(first).toMatchObject({ counts: { invalid: 2, conflict: 1, refused: 1 }, open: 4 });
  const fix = await place.read(first, 'dead-letters.csv');
  expect(fix).toContain(`is empty; enter a value (line 8 of batch ${first.batch})`);
  const after = await settled('unmended.csv', fix);
  expect(after).toMatchObject({ counts: { invalid: 2, conflict: 1, refused: 1 }, open: 4 });
  await reportOf('orders.csv', 0);
  for (const { closed } of await lettersOf(first))
    expect(closed).toMatchObject({ batch: after.batch });
  // The note of each row names the newest batch, once.
  const again = await place.read(after, 'dead-letters.csv');
  expect(again.match(/of batch \S+\)/g)).toEqual(
    Array.from({ length: 6 }, () => `of batch ${after.batch})`),
  );
  expect(storedOf('U')).toEqual({ 'U-0': 1, 'U-1': 1 });
  const remedy: [RegExp, string][] = [...MENDED, [/NO-SUCH-ARTICLE/, 'A-3']];
  const fixed = remedy.reduce(
    (text, [wrong, right]) => text.replace(wrong, right),
    again.replaceAll('U-', 'PO-'),
  );
  expect(await settled('at-last.csv', own(fixed, 'U'))).toMatchObject({
    counts: { accepted: 4 },
    open: 0,
  });
  await reportOf('unmended.csv', 0);
  expect(storedOf('U')).toMatchObject({ 'U-2': 1, 'U-3': 1, 'U-4': 1, 'U-9': 1 });
});

it('an order that the API refused and that comes back with a wrong cell waits once, and is sent when it is right', async () => {
  const head = 'purchaseOrderNumber,articleCode,quantity\n';
  const first = await settled('refused.csv', `${head}V-1,NO-SUCH-ARTICLE,1\n`);
  expect(first).toMatchObject({ counts: { refused: 1 }, open: 1 });
  const worse = (await place.read(first, 'dead-letters.csv')).replace('ARTICLE,1', 'ARTICLE,many');
  const after = await settled('worse.csv', worse);
  expect(after).toMatchObject({ counts: { invalid: 1 }, open: 1 });
  await reportOf('refused.csv', 0);
  const right = (await place.read(after, 'dead-letters.csv')).replace(
    'NO-SUCH-ARTICLE,many',
    'A-1,1',
  );
  expect(await settled('right.csv', right)).toMatchObject({ counts: { accepted: 1 }, open: 0 });
  await reportOf('worse.csv', 0);
  expect(storedOf('V')).toEqual({ 'V-1': 1 });
});

it('a number that lost its leading zeros in a spreadsheet waits, and is sent when they are back or it is confirmed', async () => {
  const head = 'purchaseOrderNumber,articleCode,quantity\n';
  const first = await settled('zeros.csv', `${head}0077,A,none\n0078,A,none\n79,A,none\n`);
  const fix = (await place.read(first, 'dead-letters.csv')).replaceAll('none', '1');
  const lost = await settled('lost.csv', fix.replaceAll(/"00(7\d)"/g, '$1'));
  expect(lost).toMatchObject({ counts: { orders: 3, accepted: 1, invalid: 2 }, open: 2 });
  expect(place.stored().has('77')).toBe(false);
  const deadLetters = await lettersOf(lost);
  expect(deadLetters).toMatchObject([
    { purchaseOrderNumber: '77', kind: 'invalid', stage: 'validation' },
    {},
  ]);
  expect(deadLetters[0]?.message).toContain(
    '77 looks like 0077 without its leading zeros, which a spreadsheet removed',
  );
  const again = (await place.read(lost, 'dead-letters.csv')).replace(/^(7\d),/gm, '"00$1",');
  expect(await settled('restored.csv', again)).toMatchObject({ counts: { accepted: 2 } });
  for (const file of ['zeros.csv', 'lost.csv'])
    expect(await reportOf(file, 0)).toMatchObject({ open: 0 });
  // It may still be the same order, unless a person says that it is another one.
  const meant = await settled('meant.csv', `${head}77,A,1\n`);
  expect(meant).toMatchObject({ counts: { invalid: 1 } });
  const confirmed = (await place.read(meant, 'dead-letters.csv')).replace(/01[.,]000/, 'confirmed');
  expect(await settled('confirmed.csv', confirmed)).toMatchObject({ counts: { accepted: 1 } });
});

it('a row that two people correct under two numbers becomes one order, and the other is held with both', async () => {
  const first = await settled('two-people.csv', 'PO_NO;MATNR;MENGE\n;A-1;1\nTW-1;A-2;none\n');
  const fix = await place.read(first, 'dead-letters.csv');
  const ann = await settled('ann.csv', fix.replace(/^;A-1/m, 'TW-2;A-1'));
  expect(ann).toMatchObject({ counts: { accepted: 1, invalid: 1 } });
  const bob = await settled('bob.csv', fix.replace(/^;A-1/m, 'TW-3;A-1').replace('none', '2'));
  expect(bob).toMatchObject({ counts: { accepted: 1, invalid: 1 } });
  const [held] = await lettersOf(bob);
  expect(held).toMatchObject({
    code: 'already-corrected',
    message: expect.stringContaining(
      `was already sent as TW-2, from "ann.csv" (batch ${ann.batch}): if TW-3 is the same order`,
    ),
  });
  // The row that Ann left wrong came back in the fix file of her batch: it is still the same row.
  const rest = (await place.read(ann, 'dead-letters.csv').catch(() => '')) || fix;
  await settled(
    'ann-2.csv',
    rest
      .replace('TW-1', 'TW-4')
      .replace('none', '2')
      .replace(/^;A-1.*\n/m, ''),
  );
  expect(storedOf('TW')).toEqual({ 'TW-1': 1, 'TW-2': 1 });
  const again = (await place.read(bob, 'dead-letters.csv')).replaceAll('01,000', 'confirmed');
  expect(await settled('bob-2.csv', again)).toMatchObject({ counts: { accepted: 1 } });
  expect(storedOf('TW')).toEqual({ 'TW-1': 1, 'TW-2': 1, 'TW-3': 1 });
});

it('a row of a file that is dropped twice becomes one order, and the second batch names the first', async () => {
  const file = 'PO_NO;MATNR;MENGE\n;A-1;5\nDR-1;A-2;6 boxes\nDR-2;A-3;3 boxes\nDR-9;A-4;1\n';
  const first = await settled('drop.csv', file);
  const fix = (await place.read(first, 'dead-letters.csv'))
    .replace(/^;A-1/m, 'DR-3;A-1')
    .replace('6 boxes', '6');
  // A confirmed row keeps nothing but its number.
  const ready = fix.replace(/3 boxes(.*)01,000/, '3$1confirmed');
  const fixed = await settled('drop-fix.csv', ready);
  expect(fixed).toMatchObject({ counts: { accepted: 3 }, open: 0, warnings: [] });

  const second = await settled('drop-again.csv', file);
  expect(second).toMatchObject({ counts: { duplicate: 1, invalid: 3 }, open: 3 });
  expect(second.warnings).toEqual([
    expect.stringContaining(
      `The same content was read before, as "drop.csv" (batch ${first.batch}) on 20`,
    ),
  ]);
  expect(second.repeats).toEqual({ batch: first.batch, file: 'drop.csv', at: first.startedAt });
  expect(await place.read(second, 'report.html')).toMatch(
    new RegExp(
      `<ol><li><b>See the first report before .*drop.csv.* href="../${first.batch}/report.html">`,
    ),
  );
  const became = `this row became DR-3, which is already accepted or in progress from "drop-fix.csv" (batch ${fixed.batch})`;
  expect((await lettersOf(second))[0]?.problems?.at(-1)).toMatchObject({
    code: 'row-known',
    message: expect.stringContaining(became),
  });
  expect(await place.read(second, 'dead-letters.csv')).toContain('this row became DR-3');
  expect((await place.run(['dead-letters', 'list'])).out).toMatch(
    /\(none\) .* this row became DR-3/,
  );
  expect(await place.read(second, 'report.html')).not.toContain(
    'Correct 1 row without an order number',
  );
  const renamed = (await place.read(second, 'dead-letters.csv'))
    .replace(/^;A-1/m, 'DR-4;A-1')
    .replace('DR-1;A-2;6 boxes', 'DR-5;A-2;6')
    .replace('DR-2;A-3;3 boxes', 'DR-6;A-3;3');
  const held = await settled('drop-renamed.csv', renamed);
  expect(held).toMatchObject({ counts: { invalid: 3 }, open: 3 });
  for (const [n, was] of [
    [0, 'DR-3'],
    [1, 'DR-1'],
    [2, 'DR-2'],
  ] as const)
    expect((await lettersOf(held))[n]).toMatchObject({
      code: 'already-corrected',
      message: expect.stringContaining(
        `was already sent as ${was}, from "drop-fix.csv" (batch ${fixed.batch})`,
      ),
    });
  expect(storedOf('DR')).toEqual({ 'DR-1': 1, 'DR-2': 1, 'DR-3': 1, 'DR-9': 1 });
  // A person decides that they are other orders.
  const meant = (await place.read(held, 'dead-letters.csv')).replaceAll('01,000', 'confirmed');
  expect(await settled('drop-meant.csv', meant)).toMatchObject({ counts: { accepted: 3 } });
});

it('an order with errors that another file has already names that file and its items', async () => {
  const head = 'PO_NO;MATNR;MENGE\n';
  const first = await settled('known.csv', `${head}DK-1;A-2;6 boxes\nDK-1;A-3;1\n`);
  expect((await lettersOf(first))[0]?.problems).toHaveLength(1);
  const mended = (await place.read(first, 'dead-letters.csv')).replace('6 boxes', '6');
  await settled('known-fix.csv', mended);
  const next = await settled(
    'known-next.csv',
    `${head}DK-1;A-2;6 boxes\nDK-1;A-3;1\nDK-2;A-2;2 boxes\n`,
  );
  expect(next).toMatchObject({ counts: { invalid: 2 }, open: 2 });
  const said = 'this number is already accepted from "known-fix.csv"';
  const [known, other] = await lettersOf(next);
  expect(known?.problems).toMatchObject([
    { field: 'MENGE' },
    { line: 2, field: '', code: 'number-known', message: expect.stringContaining(said) },
  ]);
  expect(known?.problems?.[1]?.message).toContain(
    ', as A-2 × 6, A-3 × 1. If this is the same order, discard it',
  );
  expect(other?.problems).toMatchObject([{ field: 'MENGE' }]);
  expect((await place.run(['dead-letters', 'list', '--batch', next.batch])).out).toMatch(
    /^DK-1 .* this number is already/m,
  );
  const fix = (await place.read(next, 'dead-letters.csv')).split('\n');
  expect(fix[1]).toContain(`is already accepted from ""known-fix.csv""`);
  expect(fix[3]).not.toContain('already');
  const page = await place.read(next, 'report.html');
  expect(page).toContain('<b>Correct 1 order.</b>');
  expect(page).toContain('<b>Do not correct 1 order that po-sync has already.</b>');
  expect(page).toMatch(
    /this number is already accepted from &quot;known-fix\.csv&quot; \(batch [^)]*\), as A-2 × 6, A-3 × 1\./,
  );
});

it('a row that is another order already is named at its place, and may be left out of this one', async () => {
  const first = await settled(
    'g.csv',
    'PO_NO;MATNR;MENGE\nGW-1;A-841;5\n;A-842;6\nGW-2;A-1;none\n',
  );
  const fix = (await place.read(first, 'dead-letters.csv')).split('\n');
  const [before, ...othersBefore] = await lettersOf(first);
  const rows = (...at: number[]) => [0, ...at].map((row) => fix[row]).join('\n');
  expect(
    await settled('g-own.csv', `${rows(2).replace(/^;A-842/m, 'GW-11;A-842')}\n`),
  ).toMatchObject({ open: 0 });
  await reportOf('g.csv', 2);
  // The neighbor no longer asks for the row.
  const [neighbor, ...others] = await lettersOf(first);
  // It is not in one group with orders that still need a decision on such a row.
  expect(before?.signature).toMatch(/^row-in-doubt:/);
  expect(neighbor?.signature).toMatch(/^row-in-doubt:/);
  expect(neighbor?.signature).not.toBe(before?.signature);
  expect(others.map((one) => one.signature)).toEqual(othersBefore.map((one) => one.signature));
  expect(neighbor?.message).toMatch(
    /^line 3 was sent as GW-11: it is no row of this order any more, so do not add it/,
  );
  expect(await place.read(first, 'report.html')).toContain('line 3 was sent as GW-11');

  const both = await settled('g-both.csv', `${rows(1, 2).replace(/^;A-842/m, 'GW-1;A-842')}\n`);
  const [held] = await lettersOf(both);
  const said = 'line 3 of g.csv was already sent as GW-11, from "g-own.csv"';
  expect(held).toMatchObject({ code: 'already-corrected', location: { line: 3, lines: [2, 3] } });
  expect(held?.message).toContain(said);
  expect(held?.message).toContain(
    'leave this row out of this order. If it is ordered twice on purpose, write confirmed',
  );
  const [head, meant, other] = (await place.read(both, 'dead-letters.csv')).split('\n');
  expect([
    meant?.includes('part of this order'),
    other?.includes('was already sent as GW-11'),
  ]).toEqual([true, true]);
  const left = await settled('g-left.csv', `${head}\n${meant}\n`);
  expect(left).toMatchObject({ counts: { accepted: 1 }, open: 0 });
  expect(storedOf('GW')).toEqual({ 'GW-1': 1, 'GW-11': 1 });
});

it('a neighbor that lost its row to another order is sent without it', async () => {
  const first = await settled(
    'h.csv',
    'PO_NO;MATNR;MENGE\nGH-1;A-841;5\n;A-842;6\nGH-2;A-1;none\n',
  );
  const [head, one, two] = (await place.read(first, 'dead-letters.csv')).split('\n');
  await settled('h-own.csv', `${head}\n${two?.replace(/^;A-842/, 'GH-11;A-842')}\n`);
  await reportOf('h.csv', 2);
  expect(await settled('h-rest.csv', `${head}\n${one}\n`)).toMatchObject({
    counts: { accepted: 1 },
    open: 0,
  });
});

it('each row without a number names the accepted order that it may be a row of, and is to be discarded', async () => {
  const head = 'PO_NO;MATNR;MENGE\n';
  const rows = 'NK-6;A-105;1\n;A-106;2\n;A-107;3\n';
  const first = await settled('monday.csv', head + rows);
  const fix = (await place.read(first, 'dead-letters.csv')).replace(/^;A-10/gm, 'NK-6;A-10');
  expect(await settled('monday-fix.csv', fix)).toMatchObject({ counts: { accepted: 1 }, open: 0 });
  const next = await settled('wednesday.csv', `${head}NK-7;A-1;1\n${rows}`);
  const said = (item: string) =>
    new RegExp(
      `^this row may belong to NK-6, which is already accepted from "monday-fix\\.csv" \\(batch \\S+\\), also with ${item}\\. If so, discard this row\\. Enter another number only if it really is a row of another order$`,
    );
  const [above, ...nameless] = await lettersOf(next);
  expect(nameless.map(({ problems }) => problems)).toMatchObject([
    [{ code: 'missing' }, { code: 'row-known', message: expect.stringMatching(said('A-106 × 2')) }],
    [{ code: 'missing' }, { code: 'row-known', message: expect.stringMatching(said('A-107 × 3')) }],
  ]);
  expect(above?.problems).toMatchObject([{ code: 'row-in-doubt' }, { code: 'number-known' }]);
  expect(above?.message).toBe(
    'a row of this order may be missing: line 4 has no order number and may belong to this order. Compare it with the order that po-sync has already',
  );
  const page = await place.read(next, 'report.html');
  const title =
    'Do not correct 1 order and 2 rows without an order number that po-sync probably has already.';
  expect(page).toContain(`<b>${title}</b>`);
  expect(page).not.toMatch(/<b>(?:Correct|Enter the order number)/);
  // What to do is in the table, too.
  expect(page.split('also with A-107 × 3. If so, discard this row.')).toHaveLength(2);
});

it('an older copy of a fix file under another number is held when its order was sent since', async () => {
  const head = 'PO_NO;MATNR;MENGE\n';
  const first = await settled(
    'old.csv',
    `${head}OW-1;NO-SUCH-ARTICLE;1\nOW-2;A-1;none\nOW-3;A-1;none\n`,
  );
  const copy = (await place.read(first, 'dead-letters.csv'))
    .replaceAll('none', '3')
    .replaceAll('NO-SUCH-ARTICLE', 'A');
  await settled('complete.csv', `${head}OW-1;A-1;1\nOW-2;A-1;2\n`);
  await reportOf('old.csv', 1);
  const late = await settled('old-copy.csv', copy.replace(/^OW-/gm, 'OV-'));
  expect(late).toMatchObject({ counts: { accepted: 1, invalid: 2 } });
  expect(await lettersOf(late)).toMatchObject([
    {
      code: 'already-corrected',
      message: expect.stringContaining('was already sent as OW-1, from "complete.csv"'),
    },
    { code: 'already-corrected' },
  ]);
  expect([storedOf('OW'), storedOf('OV')]).toEqual([{ 'OW-1': 1, 'OW-2': 1 }, { 'OV-3': 1 }]);
});

it('a fix file that a spreadsheet saved can be dropped twice', async () => {
  const first = await settled('twice.csv', 'PO_NO;MATNR;MENGE\n0070;000123;none\nTX-1;A;none\n');
  const fix = await place.read(first, 'dead-letters.csv');
  const saved = fix
    .replace(/"0070";"000123";none/, '70;123;5')
    .replace('TX-1;A;none', 'TX-1;A;6')
    .replaceAll('01,000', '1000');
  expect(await settled('saved.csv', saved)).toMatchObject({ counts: { accepted: 2 }, open: 0 });
  await reportOf('twice.csv', 0);
  expect(await settled('saved-again.csv', saved)).toMatchObject({
    counts: { duplicate: 2 },
    open: 0,
  });
});

it('a note that names nothing of ours, or something else, closes nothing', async () => {
  const first = await dropFirst('true.csv', own(csv(';'), 'F'), 'F');
  const note = (text: string) => `F-5;A;1;;2;missing;"is empty (${text})"\n`;
  const head = 'PO_NO;MATNR;MENGE;Größe;_error_line;_error_code;_error_message\n';
  const notes = [
    'line 7 of batch ../../etc',
    `line 99 of batch ${first.batch}`,
    'line 3 of batch nothing',
  ];
  await settled('forged.csv', head + notes.map(note).join(''));
  expect(await reportOf('true.csv')).toMatchObject({ open: 3 });
});

it('a fix file comes back under any name, and is sent once', async () => {
  const first = await settled('named.csv', 'PO_NO;MATNR;MENGE\n0NM-1;A-1;none\n');
  const fix = (await place.read(first, 'dead-letters.csv')).replace('none', '2');
  const names = [
    'named.csv.fix (1).csv',
    'Copy of named.csv.fix.csv',
    'named.csv.fix.csv.txt',
    'corrected',
  ];
  const counts = [];
  for (const name of names) counts.push((await settled(name, fix)).counts);
  expect(counts).toMatchObject([
    { accepted: 1 },
    { duplicate: 1 },
    { duplicate: 1 },
    { duplicate: 1 },
  ]);
  expect(storedOf('0NM')).toEqual({ '0NM-1': 1 });
});

it.each([
  ['an archive of fix files', 'named.csv.fix.zip', zipped(), 'named.csv.fix.csv', 'Unpack it'],
  ['a fix file as PDF', 'named.csv.fix.pdf', Buffer.from('%PDF-1.7'), 'a PDF document', '.xlsx'],
])('%s is refused by what it is', async (_, name, content, what, remedy) => {
  await place.drop(name, content);
  const report = await until('the report', async () =>
    (await place.reportsNow()).find(({ file, state }) => file === name && state === 'unreadable'),
  );
  expect(report.error).toMatchObject({
    code: 'unreadable-format',
    message: expect.stringContaining(what),
    remedy: expect.stringContaining(remedy),
  });
});

it.each([
  [
    'that names an unknown batch',
    'unknown.csv',
    'is empty (line 2 of batch 20200101T000000Z-erp-old-3f2a91c0)',
    'batch',
  ],
  ['without notes, by its name', 'dead-letters (1).csv', 'corrected', 'columns'],
])('a fix file %s is refused with a remedy', async (_, name, message, code) => {
  await place.drop(name, `PO_NO;MATNR;MENGE;_error_message\nUNKNOWN-9;A;1;${message}\n`);
  const report = await until('the report', async () => {
    return (await place.reportsNow()).find(
      ({ file, state }) => file === name && state === 'unreadable',
    );
  });
  expect(report.error).toMatchObject({
    code: `unreadable-fix-${code}`,
    remedy: expect.stringContaining('another name'),
  });
  expect(place.stored().has('UNKNOWN-9')).toBe(false);
});
