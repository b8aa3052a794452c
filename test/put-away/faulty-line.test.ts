import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faultyLine } from '../../src/put-away/faulty-line.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
beforeAll(async () => {
  folder = await makeTempFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

async function lineOf(
  content: string | Buffer,
  line: number,
  column?: number,
): Promise<string | undefined> {
  const path = join(folder.path, 'file');
  await writeFile(path, content);
  return await faultyLine(path, { line, ...(column === undefined ? {} : { column }) });
}

test.each([
  ['a\nb\nc', 2, 'b'],
  ['a\r\nb\r\nc', 3, 'c'],
  ['a\rb\rc', 3, 'c'],
  ['a\n\nc\n', 3, 'c'],
  ['a\n\nc', 2, undefined],
  ['a\nb', 3, undefined],
  ['', 1, undefined],
  [Buffer.from('\ufeffa\nÄ\n', 'utf16le'), 2, 'Ä'],
  [Buffer.from('a\nM\xfcller\n', 'latin1'), 2, 'M\ufffdller'],
  [gzipSync('a\nb\n'), 2, undefined],
  [Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0]), 1, undefined],
  [Buffer.from('PK\x03\x04 a workbook\nb'), 2, undefined],
])('of %j, line %d is %j', async (content, line, text) => {
  expect(await lineOf(content, line)).toBe(text);
});

test('a long line is cut around its column', async () => {
  const long = Array.from({ length: 300 }, (_, at) => `${at};`).join('');
  expect(await lineOf(`head\n${long}\nb`, 2, 500)).toBe(`…${long.slice(439, 599)}…`);
  expect(await lineOf(`head\n${long}`, 2)).toBe(`${long.slice(0, 160)}…`);
});

test('line ends and characters that are cut between two chunks count once', async () => {
  const size = 64 * 1024;
  expect(await lineOf(`${'x'.repeat(size - 1)}\r\nb\r\nc`, 3)).toBe('c');
  expect(await lineOf(`${'x'.repeat(size - 1)}\nÄ`, 2)).toBe('Ä');
  expect(await lineOf(`${'x\n'.repeat(size / 2 - 1)}yÄz\nlast`, size / 2)).toBe('yÄz');
});

test('a file that is gone is an error', async () => {
  await expect(faultyLine(join(folder.path, 'none'), { line: 1 })).rejects.toMatchObject({
    code: 'file-missing',
  });
});
