import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { whyIncomplete } from '../../src/intake/looks-complete.ts';
import { createStability } from '../../src/intake/stability.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const STABLE = 2_000;
const COMPLETE = 'purchaseOrderNumber,articleCode,quantity\n1,A,1\n';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;
beforeEach(async () => {
  folder = await makeTempFolder();
  file = path.join(folder.path, 'orders.csv');
});
afterEach(() => folder[Symbol.asyncDispose]());

const readyOf = async (stability: ReturnType<typeof createStability>, now: number) =>
  (await stability.check([file], now)).ready.map((one) => path.basename(one.file));

it('a file is ready after it was unchanged for the full time, and not before', async () => {
  await writeFile(file, COMPLETE);
  const stability = createStability(STABLE);
  expect(await readyOf(stability, 0)).toEqual([]);
  expect(await readyOf(stability, STABLE - 1)).toEqual([]);
  expect(await readyOf(stability, STABLE)).toEqual(['orders.csv']);
});

it('each change restarts the time', async () => {
  await writeFile(file, COMPLETE);
  const stability = createStability(STABLE);
  await stability.check([file], 0);
  await appendFile(file, '2,A,1\n');
  expect(await readyOf(stability, STABLE)).toEqual([]);
  expect(await readyOf(stability, 2 * STABLE - 1)).toEqual([]);
  expect(await readyOf(stability, 2 * STABLE)).toEqual(['orders.csv']);
});

it('a file that looks incomplete is ready after ten times the time, with the reason', async () => {
  await writeFile(file, COMPLETE.slice(0, -4));
  const stability = createStability(STABLE);
  await stability.check([file], 0);
  expect(await readyOf(stability, 10 * STABLE - 1)).toEqual([]);
  const { ready } = await stability.check([file], 10 * STABLE);
  expect(ready).toMatchObject([{ incomplete: expect.any(String) }]);
});

it.each([
  ['a table without a final line end', COMPLETE.trimEnd(), 'its last line has no line end'],
  [
    'a table that ends within a row',
    COMPLETE.slice(0, -4),
    'its last row is shorter than its header',
  ],
  [
    'a gzip that is cut off',
    gzipSync(COMPLETE.repeat(50)).subarray(0, -3),
    'its gzip data is cut off',
  ],
  [
    'JSON with an open bracket',
    '[{"a":1}',
    'its JSON does not end with the bracket that closes it',
  ],
  [
    'XML that ends within a tag',
    '<orders><order/></ord',
    'it does not end with the tag that closes it',
  ],
  ['a workbook without an end', 'PK\u0003\u0004', 'its zip archive is cut off'],
  ['an empty file', '', 'it is empty'],
])('%s looks incomplete', async (_, content, reason) => {
  await writeFile(file, content);
  expect(await whyIncomplete(file)).toBe(reason);
});

it.each([
  ['a table', COMPLETE],
  ['a gzip', gzipSync(COMPLETE)],
  ['a gzip that is damaged', Buffer.from(gzipSync(COMPLETE).fill(0, 12, 20))],
  ['JSON', '[{"a":1}]'],
  ['NDJSON without a final line end', '{"a":1}\n{"a":2}'],
  ['XML', '<orders><order/></orders>'],
])('%s looks complete', async (_, content) => {
  await writeFile(file, content);
  expect(await whyIncomplete(file)).toBeUndefined();
});

it('a table without a final line end looks complete where the mapping says that it is optional', async () => {
  await writeFile(file, COMPLETE.trimEnd());
  expect(await whyIncomplete(file, { finalNewline: 'optional' })).toBeUndefined();
  await writeFile(file, COMPLETE.slice(0, -4));
  expect(await whyIncomplete(file, { finalNewline: 'optional' })).toBe(
    'its last row is shorter than its header',
  );
});

it.each([
  ['cut off below an order', 'a;b\n1;2\n', 'its last row is not the one that lastRow names'],
  ['cut off within that row', 'a;b\n1;2\nEN', 'its last row is not the one that lastRow names'],
  ['with that row', 'a;b\n1;2\n"END" ;', undefined],
])(
  'a table looks complete only with the row that lastRow names: %s',
  async (_, content, reason) => {
    await writeFile(file, content);
    expect(await whyIncomplete(file, { lastRow: '^END$' })).toBe(reason);
  },
);
