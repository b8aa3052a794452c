import { createHash } from 'node:crypto';
import { appendFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFile } from '../../src/parse/open.ts';
import type { FormatName } from '../../src/parse/record.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { storeZip } from '../support/zip.ts';
import { faultOf, openReader } from './read-file.ts';

let reader: Awaited<ReturnType<typeof openReader>>;
beforeAll(async () => {
  reader = await openReader();
});
afterAll(() => reader[Symbol.asyncDispose]());

const AS_WRITTEN = { isWritten: false };

describe('the format is known by how the content begins', () => {
  const cases: [content: string, format: FormatName][] = [
    ['a,b\n', 'csv'],
    ['"[Nr]",b\n', 'csv'],
    ['PK,Menge\n1,2\n', 'csv'],
    ['ISA,UNB\n', 'csv'],
    [' \n[{}]', 'json'],
    ['{"a":1}', 'json'],
    ['{"a":1}\n', 'json'],
    ['{\n"a":1}\n', 'json'],
    ['{"a":1}\n{"a":2}', 'ndjson'],
    ['\ufeff\n<a/>', 'xml'],
  ];
  test.each(cases)('%j: %s', async (content, format) => {
    expect((await reader.read(content)).summary.format).toBe(format);
    expect((await reader.read(gzipSync(content))).summary.format).toBe(format);
  });
});

describe('a file of another kind is named', () => {
  const part = (name: string) => storeZip(new Map([[name, Buffer.from('x')]]));
  const cases: [content: string | Buffer, kind: string][] = [
    ["UNA:+.? 'UNB+UNOC:3+a+b'", 'EDIFACT'],
    ["UNB+UNOC:3+a+b'", 'EDIFACT'],
    ['ISA*00*          *00*', 'X12'],
    ['<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook/>', 'Excel 2003'],
    [Buffer.from('d0cf11e0a1b11ae1', 'hex'), '.xls'],
    ['%PDF-1.7', 'PDF'],
    [Buffer.from('fffe00006100000062000000', 'hex'), 'UTF-32'],
    [Buffer.from('Number;Article\n', 'utf16le'), 'UTF-16'],
    ['<!doctype html><table/>', 'web page'],
    ['<string xmlns="x">&lt;a/&gt;</string>', 'XML within a string'],
    ['"<?xml version=""1.0""?>"', 'XML within a string'],
    ['"[{\\"a\\":1}]"', 'JSON within'],
    ['"{""a"":1}"\n', 'JSON within'],
    ['JSON_F52E2B61-18A1-11d1-B105-00805F49916B\n---\n[{}', 'JSON within'],
    ['Received: from a\nSubject: b\n', 'e-mail'],
    [gzipSync(gzipSync('a')), 'gzip file within'],
    [gzipSync(part('xl/workbook.xml')), 'zip archive'],
    [part('content.xml'), 'zip archive'],
    [part('xl/workbook.bin'), 'zip archive'],
    [part('word/document.xml'), 'zip archive'],
    [part('orders.csv'), 'zip archive'],
    [storeZip(new Map()), 'zip archive'],
  ];
  test.each(cases)('%j: %s', async (content, kind) => {
    const fault = await faultOf(reader.read(content));
    expect(fault).toMatchObject({ code: 'foreign', kind: expect.stringContaining(kind) });
  });

  test('also where another format is declared', async () => {
    const kind = { code: 'foreign', kind: expect.stringContaining('workbook') };
    expect(await faultOf(reader.read(part('a'), { format: 'csv' }))).toMatchObject(kind);
    expect(await faultOf(reader.read('a,b\n', { format: 'xlsx' }))).toMatchObject(kind);
  });
});

test('a pass says what the file is; each begins anew, and one that did not end says nothing', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'orders.csv.gz');
  const bytes = gzipSync('a;b\r\n1;2\r\n');
  await writeFile(file, bytes);
  await using opened = await openFile(file, AS_WRITTEN);
  expect(() => opened.summary()).toThrow('no pass');
  const first = [];
  for await (const page of opened.records({ delimiter: ';' })) first.push(...page);
  const summary = {
    format: 'csv',
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes: bytes.length,
    encoding: 'utf-8',
    newline: '\r\n',
    gzip: true,
    isOpenEnded: false,
    beside: [],
  };
  expect(opened.summary()).toEqual(summary);
  const again = [];
  for await (const page of opened.records({ delimiter: ',' })) again.push(...page);
  expect(first.map((row) => row.kind === 'row' && row.cells)).toEqual([
    ['a', 'b'],
    ['1', '2'],
  ]);
  expect(again.map((row) => row.kind === 'row' && row.cells)).toEqual([['a;b'], ['1;2']]);
  expect(opened.summary()).toEqual(summary);
});

test('pages have at most 1,000 records', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'orders');
  for (const content of ['1\n'.repeat(5_000), '{}\n'.repeat(5_000), `[${'{},'.repeat(4_999)}{}]`]) {
    await writeFile(file, content);
    await using opened = await openFile(file, AS_WRITTEN);
    const sizes = [];
    for await (const page of opened.records()) sizes.push(page.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(5_000);
  }
});

test('a file that changes after it was opened is not read on', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'orders');
  for (const content of ['a,b\n'.repeat(50_000), '{"a":1}', '<a/>']) {
    await writeFile(file, content);
    await using opened = await openFile(file, AS_WRITTEN);
    const pages = opened.records();
    if (content.length > 1_000) await pages.next();
    await appendFile(file, '\n');
    const rest = async () => {
      for await (const _ of pages);
    };
    await expect(rest()).rejects.toMatchObject({ code: 'file-changed' });
    expect(() => opened.summary()).toThrow('no pass');
  }
});

test('reading stops when it is aborted', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'orders');
  await writeFile(file, 'a,b\n'.repeat(50_000));
  const abort = new AbortController();
  await using opened = await openFile(file, AS_WRITTEN, { signal: abort.signal });
  const pages = opened.records();
  await pages.next();
  abort.abort();
  const rest = async () => {
    for await (const _ of pages);
  };
  await expect(rest()).rejects.toMatchObject({ name: 'AbortError' });
});

test('only a regular file is opened', async () => {
  await using folder = await makeTempFolder();
  const at = (name: string) => path.join(folder.path, name);
  await mkdir(at('folder'));
  await symlink(at('folder'), at('link'));
  expect(await faultOf(openFile(at('none'), AS_WRITTEN))).toMatchObject({ code: 'file-missing' });
  expect(await faultOf(openFile(at('folder'), AS_WRITTEN))).toMatchObject({ code: 'not-a-file' });
  expect(await faultOf(openFile(at('link'), AS_WRITTEN))).toMatchObject({ code: 'not-a-file' });
});
