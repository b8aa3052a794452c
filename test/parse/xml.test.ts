import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Declared, Value } from '../../src/parse/record.ts';
import { runs } from '../support/runs.ts';
import { faultOf, openReader, valuesOf } from './read-file.ts';

let reader: Awaited<ReturnType<typeof openReader>>;
beforeAll(async () => {
  reader = await openReader();
});
afterAll(() => reader[Symbol.asyncDispose]());

const ORDER = { records: 'Root.Order' };

describe('an element is read as', () => {
  const cases: [what: string, xml: string, value: Value][] = [
    ['its text, without the white space around it', '<Order>\n  PO-1 \t</Order>', 'PO-1'],
    ['an empty text', '<Order/>', ''],
    [
      'its children and attributes',
      '<Order id="1"><a>x</a><b c="2"/></Order>',
      { id: '1', a: 'x', b: { c: '2' } },
    ],
    [
      'a list where a child is repeated',
      '<Order><a>1</a><b/><a>2</a><a>3</a></Order>',
      { a: ['1', '2', '3'], b: '' },
    ],
    [
      'a list where an attribute and a child have one name',
      '<Order a="1"><a>2</a></Order>',
      { a: ['1', '2'] },
    ],
    [
      'its text beside an attribute',
      '<Order><q unit="EA">5</q></Order>',
      { q: { unit: 'EA', '#text': '5' } },
    ],
    ['its text beside children', '<Order>a<b>1</b>c</Order>', { b: '1', '#text': 'ac' }],
    [
      'null where it is nil',
      '<Order><a xsi:nil="true"/><b i:nil="1" c="2"/><d xsi:nil="false"/></Order>',
      { a: null, b: { c: '2', '#text': null }, d: '' },
    ],
    ['its own attribute nil', '<Order nil="true"/>', { nil: 'true' }],
    [
      'names without prefixes and namespaces',
      '<o:Order xmlns:o="urn:o" xmlns="urn:p"><o:a x:id="1"/></o:Order>',
      { a: { id: '1' } },
    ],
    [
      'CDATA, entities and numbered characters',
      '<Order><![CDATA[<a> ]]>&amp;&#228;</Order>',
      '<a> &ä',
    ],
    [
      'a key __proto__',
      '<Order><__proto__>1</__proto__><b>2</b></Order>',
      JSON.parse('{"__proto__":"1","b":"2"}'),
    ],
  ];
  test.each(cases)('%s', async (_, xml, value) => {
    expect(valuesOf(await reader.read(`<Root>${xml}</Root>`, ORDER))).toEqual([value]);
  });
});

describe('the records of a document', () => {
  type Case = [
    what: string,
    xml: string,
    records: string | undefined,
    found: [number, string][],
    beside: string[],
  ];
  const cases: Case[] = [
    [
      'at the end of the path',
      '<?xml version="1.0"?>\n<Root v="1">\n<Orders n="2">\n<Order/><x/>\n<Order/></Orders><y/>t</Root>',
      'root.orders.order',
      [
        [4, '/Root/0/Orders/0/Order/0'],
        [5, '/Root/0/Orders/0/Order/1'],
      ],
      ['v', 'n', 'x', 'y', '#text'],
    ],
    [
      'in each element on the path',
      '<Root><O><Order/></O><O><Order/></O></Root>',
      'Root.O.Order',
      [
        [1, '/Root/0/O/0/Order/0'],
        [1, '/Root/0/O/1/Order/0'],
      ],
      [],
    ],
    ['none in an empty list', '<Root><Orders/></Root>', 'Root.Orders.Order', [], []],
    ['the root', '<Order><a>1</a></Order>', 'Order', [[1, '/Order/0']], []],
    [
      'the only repeated child that is more than text',
      '<Root><head><a/></head><Order n="1"/><at>1</at><at>2</at><Order n="2"/></Root>',
      undefined,
      [
        [1, '/Root/0/Order/0'],
        [1, '/Root/0/Order/1'],
      ],
      ['head', 'at'],
    ],
    [
      'the only child that is more than text',
      '<Root><Order><n/></Order><at>1</at></Root>',
      undefined,
      [[1, '/Root/0/Order/0']],
      ['at'],
    ],
    [
      'the root where all its children are text',
      '<Root><n>1</n><q>2</q></Root>',
      undefined,
      [[1, '/Root/0']],
      [],
    ],
    ['the root of an empty path', '<Root><o><n/></o><o><n/></o></Root>', '', [[1, '/Root/0']], []],
  ];
  test.each(cases)('%s', async (_, xml, path, found, beside) => {
    const { records, summary } = await reader.read(
      xml,
      path === undefined ? {} : { records: path },
    );
    const places = records.flatMap((one) =>
      one.kind === 'object' ? [[one.line, one.pointer]] : [],
    );
    expect(places).toEqual(found);
    const names = summary.beside.map((name) => name.split('.').at(-1));
    expect(new Set(names)).toEqual(new Set(beside));
  });
});

describe('what cannot be read names its place', () => {
  const deep = '<a>'.repeat(65) + '</a>'.repeat(65);
  const cases: [string, string, Partial<Declared>, Record<string, unknown>][] = [
    ['a wrong tag', '<Root>\n<Order></Ordr></Root>', ORDER, { code: 'xml', line: 2 }],
    ['an unknown entity', '<Root>\n&nbsp;</Root>', ORDER, { code: 'xml', line: 2 }],
    [
      'a document type',
      '<!DOCTYPE Root []>\n<Root/>',
      ORDER,
      { code: 'xml', line: 1, reason: 'a document type (DOCTYPE) is not allowed' },
    ],
    ['nesting beyond the limit', deep, ORDER, { code: 'xml', line: 1 }],
    ['a second root', '<Root/>\n<Root/>', ORDER, { code: 'xml', line: 2 }],
    [
      'an open element',
      '<Root><Order><n>1</n>',
      ORDER,
      { code: 'incomplete', lacks: 'the end of element Order' },
    ],
    ['an open element without a path', '<Root><Order><n>1</n>', {}, { code: 'incomplete' }],
    [
      'a text beyond the limit',
      `<Root><Order>${'x'.repeat(2 ** 20 + 1)}</Order></Root>`,
      ORDER,
      { code: 'too-large', line: 1 },
    ],
    [
      'an element beyond the limit',
      `<Root>\n<Order>${'<n/>'.repeat(2 ** 17)}</Order></Root>`,
      ORDER,
      { code: 'too-large', line: 2 },
    ],
    ['a comment without end', `<Root><!--${'x'.repeat(2 ** 22)}`, ORDER, { code: 'too-large' }],
    [
      'several repeated children',
      '<R><a b="1"/><a b="1"/><c><d/></c><c><d/></c></R>',
      {},
      { code: 'several-lists', names: '"a", "c"' },
    ],
    [
      'several children, none repeated',
      '<R><a b="1"/><c><d/></c></R>',
      {},
      { code: 'several-lists', names: '"a", "c"' },
    ],
    [
      'another root than the path has',
      '<Answer><Order/></Answer>',
      ORDER,
      { code: 'records', at: 'the document', names: '"Answer"' },
    ],
    [
      'a path that leads nowhere',
      '<Root><Orders><x/><y/></Orders></Root>',
      { records: 'Root.Orders.Order' },
      { code: 'records', at: 'Root.Orders', names: '"x", "y"' },
    ],
    [
      'a path that ends above',
      '<Root><x/></Root>',
      { records: 'Root.Orders.Order' },
      { code: 'records', at: 'Root', names: '"x"' },
    ],
  ];
  test.each(cases)('%s', async (_, xml, declared, fault) => {
    expect(await faultOf(reader.read(xml, declared))).toMatchObject(fault);
  });
});

const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** An object as an element, its values as attributes or children. */
function written(name: string, value: unknown, asAttributes: boolean): string {
  if (Array.isArray(value)) return value.map((one) => written(name, one, asAttributes)).join('');
  if (value === null) return `<p:${name} xsi:nil="true"/>`;
  if (typeof value === 'string') return `<${name}>${escaped(value)}</${name}>`;
  const entries = Object.entries(Object(value));
  const isAttribute = ([, one]: [string, unknown]) => asAttributes && typeof one === 'string';
  const own = entries.filter(isAttribute).map(([key, one]) => ` ${key}="${escaped(String(one))}"`);
  const children = entries.filter((one) => !isAttribute(one));
  return `<${name}${own.join('')}>\n${children.map(([key, one]) => written(key, one, asAttributes)).join('\n')}</${name}>`;
}

test('any objects, written as elements or attributes in any encoding, are read back', async () => {
  const name = fc.constantFrom('a', 'b', 'C', 'ä', '_x');
  const text = fc
    .string({ unit: fc.constantFrom(...Array.from('aZ0 <>&"ä😀')), maxLength: 9 })
    .map((one) => one.trim());
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.constant(null),
      tie('object'),
      fc.array(tie('object'), { minLength: 2, maxLength: 3 }),
    ),
    object: fc.dictionary(name, tie('value'), { minKeys: 1, noNullPrototype: true }),
  }));
  const object = fc.dictionary(name, value, { minKeys: 1, noNullPrototype: true });
  await fc.assert(
    fc.asyncProperty(
      fc.array(object, { maxLength: 6 }),
      fc.boolean(),
      fc.boolean(),
      fc.constantFrom(1, 1, 300),
      async (some, asAttributes, isWide, repeat) => {
        const objects = Array.from({ length: repeat }, () => some).flat();
        const xml = `<Root>${objects.map((one) => written('Order', one, asAttributes)).join('\n')}</Root>`;
        const bytes = isWide ? Buffer.from(`\ufeff${xml}`, 'utf16le') : xml;
        expect(valuesOf(await reader.read(bytes, ORDER))).toEqual(objects);
      },
    ),
    { numRuns: runs(100) },
  );
});

test('a document cut at any byte is incomplete', async () => {
  const xml =
    '<?xml version="1.0"?><!-- c --><Root a="1"><Order n="ä"><q>&#53;</q><t><![CDATA[x]]></t></Order></Root>';
  const bytes = Buffer.from(xml);
  for (const declared of [ORDER, {}])
    for (let at = 1; at < bytes.length; at++) {
      const fault = await faultOf(
        reader.read(bytes.subarray(0, at), { format: 'xml', ...declared }),
      );
      expect([at, fault]).toMatchObject([at, { code: 'incomplete' }]);
    }
});
