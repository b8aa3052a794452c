import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { appendFile, mkdir, rename, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { inspectFile, steadily } from '../../src/parse/inspect.ts';
import { readOrders } from '../../src/validate/read-orders.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const ROWS = 'purchaseOrderNumber,articleCode,quantity\n1,A,1\n2,B,2\n';

const HEADER = 'purchaseOrderNumber,articleCode,quantity\n';
const MANY = HEADER + Array.from({ length: 200_000 }, (_, i) => `${i},C,3\n`).join('');

async function openFile(content: string | Buffer = ROWS) {
  const folder = await makeTempFolder();
  const file = path.join(folder.path, 'orders.csv');
  await writeFile(file, content);
  return { file, folder: folder.path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** A signal that is asked before each chunk is read, and does something before one of them. */
function atChunk(chunk: number, act: () => void): AbortSignal {
  const { signal } = new AbortController();
  let asked = 0;
  signal.throwIfAborted = () => {
    asked += 1;
    if (asked === chunk) act();
  };
  return signal;
}

async function count(orders: AsyncIterable<unknown>): Promise<number> {
  let n = 0;
  for await (const _ of orders) n += 1;
  return n;
}

describe('an inspection', () => {
  test('has size and hash of the file as dropped, also of a gzip', async () => {
    for (const content of [Buffer.from(ROWS), gzipSync(ROWS)]) {
      await using it = await openFile(content);
      const inspection = await inspectFile(it.file, undefined);
      expect(inspection).toMatchObject({
        records: 2,
        bytes: content.length,
        sha256: createHash('sha256').update(content).digest('hex'),
      });
    }
  });

  test('of a large file counts every row', async () => {
    await using it = await openFile(MANY);
    expect(await inspectFile(it.file, undefined)).toMatchObject({ records: 200_000 });
  });

  test.each([
    ['appended to', (file: string) => appendFile(file, '3,C,3\n')],
    [
      'overwritten in place with the same length',
      (file: string) => writeFile(file, ROWS.replace('A', 'X')),
    ],
    [
      'replaced',
      async (file: string) => {
        await writeFile(`${file}.new`, ROWS);
        await rename(`${file}.new`, file);
      },
    ],
    [
      'given its old times back',
      async (file: string) => {
        const { atime, mtime } = await stat(file);
        await writeFile(file, ROWS.replace('A', 'X'));
        await utimes(file, atime, mtime);
      },
    ],
  ])('does not hold for a file that was %s since', async (_, change) => {
    await using it = await openFile();
    const inspection = await inspectFile(it.file, undefined);
    expect(await count(readOrders(it.file, inspection))).toBe(2);
    await change(it.file);
    await expect(count(readOrders(it.file, inspection))).rejects.toMatchObject({
      code: 'file-changed',
    });
  });

  test('fails for a file that is half written, without refusing the file', async () => {
    await using it = await openFile(`${MANY}9,"Z`);
    const signal = atChunk(3, () => appendFileSync(it.file, '",9\n'));
    await expect(inspectFile(it.file, undefined, { signal })).rejects.toMatchObject({
      code: 'file-changed',
    });
    expect(await inspectFile(it.file, undefined)).toMatchObject({ records: 200_001 });
  });

  test('fails for a file that changes meanwhile, and returns no order of the changed part', async () => {
    await using it = await openFile(MANY);
    const signal = atChunk(3, () => appendFileSync(it.file, '4,D,4\n'));
    await expect(inspectFile(it.file, undefined, { signal })).rejects.toMatchObject({
      code: 'file-changed',
    });
    const inspection = await inspectFile(it.file, undefined);
    const orders = readOrders(it.file, inspection);
    expect((await orders.next()).value).toMatchObject({ number: '0' });
    await writeFile(it.file, MANY.replaceAll(',C,', ',X,'));
    await expect(count(orders)).rejects.toMatchObject({ code: 'file-changed' });
  });

  test('is done again where its reader wants the file that replaced it', async () => {
    await using it = await openFile(MANY);
    const signal = atChunk(3, () => appendFileSync(it.file, '4,D,4\n'));
    expect(await steadily(() => inspectFile(it.file, undefined, { signal }))).toMatchObject({
      records: 200_001,
    });
    const always = () =>
      inspectFile(it.file, undefined, {
        signal: atChunk(3, () => appendFileSync(it.file, '5,E,5\n')),
      });
    await expect(steadily(always, 2)).rejects.toMatchObject({ code: 'file-changed' });
  });

  test('ends when it is aborted', async () => {
    await using it = await openFile(MANY);
    await expect(
      inspectFile(it.file, undefined, { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});

describe('anything but a regular file is refused without hanging', () => {
  test('pipes, links, folders, devices, and missing files', async () => {
    await using it = await openFile();
    const pipes = [0, 1, 2, 3, 4, 5].map((i) => path.join(it.folder, `pipe${i}`));
    for (const pipe of pipes) await promisify(execFile)('mkfifo', [pipe]);
    await symlink(it.file, path.join(it.folder, 'link.csv'));
    await mkdir(path.join(it.folder, 'folder.csv'));
    const others = ['link.csv', 'folder.csv'].map((name) => path.join(it.folder, name));
    const refused = await Promise.allSettled(
      [...pipes, ...others, '/dev/zero'].map((file) => inspectFile(file, undefined)),
    );
    for (const result of refused) expect(result).toMatchObject({ reason: { code: 'not-a-file' } });
    await expect(inspectFile(path.join(it.folder, 'none'), undefined)).rejects.toMatchObject({
      code: 'file-missing',
    });
    expect(await inspectFile(it.file, undefined)).toMatchObject({ records: 2 });
  });
});

describe('rows of one order that are apart', () => {
  const APART = /^Rows of .* not next to each other/;

  async function warningsOf(content: string): Promise<string[]> {
    await using it = await openFile(content);
    return (await inspectFile(it.file, undefined)).warnings.filter((one) => APART.test(one));
  }

  /** So many orders of one row; the first `apart` have a second one at the end. */
  const table = (orders: number, apart: number) =>
    HEADER +
    [...Array(orders).keys(), ...Array(apart).keys()].map((i) => `PO-${i},C,${i + 1}\n`).join('');

  test('are named with their lines where few orders have them', async () => {
    expect(
      await warningsOf(`${HEADER}M-1,A,1\nM-2,A,1\nM-2,B,1\nM-1,B,9\nM-3,A,1\nM-1,C,1\n`),
    ).toEqual([
      'Rows of one order are not next to each other, and each number is one order: M-1 (lines 2, 5 and 7). Check that none of these rows has the number of another order by mistake.',
    ]);
    const [many = ''] = await warningsOf(table(2_000, 100));
    expect(many).toContain('Rows of 100 orders are not next to each other');
    expect(many).toContain('PO-0 (lines 2 and 2002), PO-1 (lines 3 and 2003), ');
    expect(many).toContain('PO-9 (lines 11 and 2011), and 90 more. ');
  });

  test('are no warning where many orders have them, where only a row without a number is between, or in one run', async () => {
    expect(await warningsOf(table(2_000, 101))).toEqual([]);
    expect(await warningsOf(table(4, 4))).toEqual([]);
    expect(await warningsOf(`${HEADER}M-1,A,1\n,B,2\nM-1,C,3\nM-2,A,1\nM-2,B,1\n`)).toEqual([]);
    expect(await warningsOf(table(100_000, 0))).toEqual([]);
  });

  test('are named for rows of JSON too, and not in a fix file', async () => {
    const row = (purchaseOrderNumber: string, articleCode: string, more = {}) =>
      JSON.stringify({ purchaseOrderNumber, articleCode, quantity: 1, ...more });
    const rows = [row('1', 'A'), row('2', 'A'), row('1', 'B')];
    expect(await warningsOf(`[\n${rows.join(',\n')}\n]`)).toEqual([
      expect.stringContaining('1 (lines 2 and 4). '),
    ]);
    expect(await warningsOf(`[${rows.join(',')}]`)).toEqual([
      expect.stringContaining('one order: 1. Check'),
    ]);
    const note = {
      _error_message: 'x (line 2 of batch 20261121T071500Z-erp-orders-3f2a91c0)',
      _error_line: 2,
    };
    expect(await warningsOf(`[${row('1', 'A', note)},${rows.slice(1).join(',')}]`)).toEqual([]);
    const csv = HEADER.replace('\n', ',_error_message\n');
    expect(await warningsOf(`${csv}1,A,1,${note._error_message}\n2,A,1,\n1,B,1,\n`)).toEqual([]);
  });
});
