import { copyFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFirstPasses } from '../../src/admit/first-passes.ts';
import { inboxSource, lacksWith } from '../support/inbox-source.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const COMPLETE = 'purchaseOrderNumber,articleCode,quantity\nPO-1,A,1\n';
const OPEN_ROW = 'its last row has no line end';
const MISSING = expect.stringMatching(/ is missing$/);

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;
beforeEach(async () => {
  folder = await makeTempFolder();
  file = path.join(folder.path, 'orders');
});
afterEach(() => folder[Symbol.asyncDispose]());

test.each([
  ['a table', COMPLETE, {}, undefined],
  ['a table without a final line end', COMPLETE.trimEnd(), {}, OPEN_ROW],
  ['a table that ends within a row', COMPLETE.slice(0, -4), {}, OPEN_ROW],
  ['a table that ends within its header', COMPLETE.slice(0, 9), {}, OPEN_ROW],
  ['a table with an open quote', `${COMPLETE}"PO-2,B,2\n`, {}, MISSING],
  ['a table of another layout', 'a,b\n1,2\n', {}, undefined],
  [
    'an optional line end that is not there',
    COMPLETE.trimEnd(),
    { finalNewline: 'optional' },
    undefined,
  ],
  [
    'a table without its lastRow',
    COMPLETE,
    { lastRow: '^END' },
    'its last row is not the one that lastRow names',
  ],
  ['a table with its lastRow', `${COMPLETE}END`, { lastRow: '^END' }, undefined],
  ['a gzip', gzipSync(COMPLETE), {}, undefined],
  ['a gzip that is cut off', gzipSync(COMPLETE).subarray(0, -3), {}, MISSING],
  ['a gzip that is damaged', gzipSync(COMPLETE).fill(0, 12, 20), {}, undefined],
  ['JSON', '[{"a":1}]', {}, undefined],
  ['JSON with an open bracket', '[{"a":1}', {}, MISSING],
  ['NDJSON without a final line end', '{"a":1}\n{"a":2}', {}, undefined],
  ['NDJSON that ends within an object', '{"a":1}\n{"a":2', {}, MISSING],
  ['XML', '<orders><order/></orders>', {}, undefined],
  ['XML that ends within a tag', '<orders><order/></ord', {}, MISSING],
  ['a workbook without an end', 'PK\u0003\u0004', {}, MISSING],
  ['a file whose space was reserved', `${COMPLETE}\0\0\0`, {}, MISSING],
  ['an empty file', '', {}, 'it is empty'],
])('%s is complete, or lacks something', async (_, content, keys, lack) => {
  await writeFile(file, content);
  expect(await lacksWith(keys)(file)).toEqual(lack);
});

test('what a first pass found is used once the file is renamed or copied, unless it has other content', async () => {
  const { lacks, inspect } = createFirstPasses(
    { sources: [inboxSource('')], mappings: {}, environments: {}, environment: '' },
    new AbortController().signal,
  );
  const claimed = path.join(folder.path, 'claimed');
  const other = () => writeFile(claimed, COMPLETE.replace('PO-1', 'PO-2'));
  for (const [move, isUsed] of [
    [() => rename(file, claimed), true],
    [() => copyFile(file, claimed), true],
    [other, false],
  ] as const) {
    await writeFile(file, COMPLETE);
    expect(await lacks(file, 'inbox')).toBeUndefined();
    await move();
    // A first pass looks at the names of the mapping again and again.
    const first = await inspect(claimed, [], {});
    const again = await inspect(claimed, [], {});
    expect([first.read.reading === again.read.reading, first.records]).toEqual([false, 1]);
    expect(first.sha256 === (await inspect(file, [], {}).catch(() => first)).sha256).toBe(isUsed);
  }
});
