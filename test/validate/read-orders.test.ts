import { describe, expect, test } from 'vitest';
import { notANumberSentence } from '../../src/order/quantity.ts';
import { problemOf } from '../../src/validate/problem.ts';
import { inShort, mappingOf, readText, whyUnreadable } from '../support/read-text.ts';

const HEADER = 'purchaseOrderNumber,orderState,articleCode,quantity';
const item = (articleCode: string, quantity = 1) => ({ articleCode, quantity });
const order = (purchaseOrderNumber: string, ...items: object[]) => ({
  purchaseOrderNumber,
  orderState: 'NEW',
  items,
});

function table(...rows: string[]): string {
  return [HEADER, ...rows, ''].join('\n');
}

describe('rows of a table', () => {
  test('with one number and adjacent are one order, with its items in sequence', async () => {
    const { orders, inspection } = await readText(table('1,NEW,B,2', '1,NEW,A,1', '2,NEW,C,3'));
    expect(inShort(orders)).toEqual([
      order('1', item('B', 2), item('A', 1)),
      order('2', item('C', 3)),
    ]);
    expect(orders.map(({ ordinal, place }) => [ordinal, place.line])).toEqual([
      [0, 2],
      [1, 4],
    ]);
    expect(inspection.records).toBe(3);
  });

  test('with one number that are not adjacent are joined, after the others', async () => {
    const { orders } = await readText(
      table('1,NEW,A,1', '2,NEW,B,1', '1,NEW,C,1', '3,NEW,D,1', '2,NEW,E,1'),
    );
    expect(inShort(orders)).toEqual([
      order('3', item('D')),
      order('1', item('A'), item('C')),
      order('2', item('B'), item('E')),
    ]);
    expect(orders.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2]);
  });

  test('hold their complete order when one of them is wrong, at any position', async () => {
    const { orders } = await readText(table('1,NEW,A,1', '2,NEW,B,1', '1,NEW,C,x'));
    expect(inShort(orders)).toEqual([order('2', item('B')), { 1: ['4 quantity not-a-number'] }]);
    expect(orders[1]).toMatchObject({
      place: { line: 4 },
      records: [{ place: { line: 2 } }, { place: { line: 4 } }],
    });
  });

  test('keep the article codes of an invalid order, each once and at most 20', async () => {
    const articles = Array.from({ length: 25 }, (_, i) => `1,NEW,A-${i},1`);
    const { orders } = await readText(
      table(
        ...articles,
        '2,NEW,A,1',
        '2,NEW,B,x',
        '2,NEW,A,2',
        '3,NEW, ,1',
        '4,NEW,C',
        '1,NEW,Z,x',
      ),
    );
    expect(orders.map((one) => [one.number, one.valid ? [] : one.articles])).toEqual([
      ['2', ['A', 'B']],
      ['3', []],
      ['4', ['C']],
      ['1', Array.from({ length: 20 }, (_, i) => `A-${i}`)],
    ]);
  });

  test('are reported with all their problems', async () => {
    const { orders } = await readText(table(`${'9'.repeat(257)},OPEN,,-1`));
    expect(inShort(orders)).toEqual([
      {
        ['9'.repeat(257)]: [
          '2 purchaseOrderNumber too-long',
          '2 orderState wrong-state',
          '2 articleCode missing',
          '2 quantity not-positive',
        ],
      },
    ]);
  });

  test('without a number are an invalid order each', async () => {
    const { orders } = await readText(table(',NEW,A,1', ',NEW,B,1', ' ,NEW,C,1'));
    expect(inShort(orders)).toEqual(
      [2, 3, 4].map((line) => ({ '': [`${line} purchaseOrderNumber missing`] })),
    );
  });

  test.each([
    ['4,NEW,A ,1', []],
    ['4,NEW,A,1.0', []],
    [' 4,NEW,A, 1', []],
    ['4,NEW,A,2', [1, 2]],
  ])('that are sent alike as 4,NEW,A,1 and %s are held', async (second, sent) => {
    const { orders } = await readText(table('4,NEW,A,1', second));
    expect(orders).toHaveLength(1);
    const [one] = orders;
    expect(one?.valid ? one.order.items.map(({ quantity }) => quantity) : []).toEqual(sent);
    if (one?.valid === false)
      expect(one.problems.map(({ code }) => code)).toEqual(['repeated-row']);
  });

  test('with too few or too many fields are invalid, and hold their order', async () => {
    const { orders } = await readText(table('1,NEW,A', '1,NEW,A,1', '2,NEW,A,1,x'));
    expect(inShort(orders)).toEqual([
      { 1: ['2 too-few-fields', '2 row-in-doubt'] },
      { 2: ['4 too-many-fields'] },
    ]);
  });

  test('of the wrong width hold the order whose number is next to its column', async () => {
    const rows = [
      'text,purchaseOrderNumber,articleCode,quantity',
      'x,11,A,1',
      'a,b,11,C,2',
      '12,D,1',
      'y,12,E,1',
      'z,13,F,1',
    ];
    const { orders } = await readText(`${rows.join('\n')}\n`);
    expect(inShort(orders)).toEqual([
      { 11: ['2 row-in-doubt'] },
      { b: ['3 too-many-fields'] },
      { D: ['4 too-few-fields', '4 row-in-doubt'] },
      { 12: ['5 row-in-doubt'] },
      order('13', item('F')),
    ]);
  });

  test('have the line where they begin, also after line breaks within quotes', async () => {
    for (const newline of ['\n', '\r\n', '\r']) {
      const text = [
        '',
        HEADER,
        `1,NEW,"A${newline}${newline}B",1`,
        '',
        '2,NEW,C,x',
        `3,NEW,"D${newline}",1`,
        '4,NEW,E,0',
      ].join(newline);
      const { orders } = await readText(text);
      const lines = orders.map((one) => [one.number, one.place.line]);
      expect(lines, JSON.stringify(newline)).toEqual([
        ['1', 3],
        ['2', 7],
        ['3', 8],
        ['4', 10],
      ]);
    }
  });

  test('without any value are skipped and reported', async () => {
    const { orders, inspection } = await readText(table(',,,', '1,NEW,A,1', ' , ,,'));
    expect(inShort(orders)).toEqual([order('1', item('A'))]);
    expect(inspection).toMatchObject({
      records: 1,
      warnings: ['2 rows without any value were skipped.'],
    });
  });

  test('keep leading zeros, without the spaces around their values', async () => {
    const { orders } = await readText(table(' 007 ,NEW,\u00a000A ,007'));
    expect(inShort(orders)).toEqual([order('007', item('00A', 7))]);
  });

  test('of more than ten thousand lines are not sent as an order', async () => {
    const { orders } = await readText(
      table(...Array.from({ length: 10_001 }, (_, i) => `1,NEW,A${i},1`), '2,NEW,B,1'),
    );
    expect(inShort(orders)).toEqual([{ 1: ['2 too-many-items'] }, order('2', item('B'))]);
  });
});

describe('a mapping', () => {
  const erp = mappingOf({
    fields: {
      purchaseOrderNumber: ['PO_NO', 'Bestellung'],
      articleCode: 'Material No',
      quantity: 'MENGE',
    },
  });

  test('finds columns by any accepted name, regardless of case and spacing', async () => {
    const { orders } = await readText('text;BESTELLUNG; materialno ;Menge\nx;1;A;5\n', erp);
    expect(inShort(orders)).toEqual([order('1', item('A', 5))]);
    expect(orders[0]?.records[0]).toEqual({
      kind: 'row',
      place: { line: 2 },
      cells: ['x', '1', 'A', '5'],
    });
  });

  test('supplies defaults if the column or its value is absent', async () => {
    const mapping = mappingOf({ defaults: { articleCode: 'SERVICE', quantity: 1 } });
    expect(inShort((await readText('purchaseOrderNumber\n1\n', mapping)).orders)).toEqual([
      order('1', item('SERVICE')),
    ]);
    const { orders } = await readText(
      'purchaseOrderNumber,articleCode,quantity\n1,,3\n2,A,\n',
      mapping,
    );
    expect(inShort(orders)).toEqual([order('1', item('SERVICE', 3)), order('2', item('A'))]);
  });

  test('names the columns of the file in problems', async () => {
    const { orders } = await readText('PO_NO|MATERIALNO|MENGE\n1|A|x\n', erp);
    expect(inShort(orders)).toEqual([{ 1: ['2 MENGE not-a-number'] }]);
  });

  test.each([
    ['CSV', `${HEADER}\n1,NEW,A,"1,5"\n`],
    ['JSON', '[{"purchaseOrderNumber":"1","items":[{"articleCode":"A","quantity":"1,5"}]}]'],
    [
      'XML',
      '<orders><order><purchaseOrderNumber>1</purchaseOrderNumber><items><item><articleCode>A</articleCode><quantity>1,5</quantity></item></items></order></orders>',
    ],
  ])('names the setting for a decimal sign other than the one that is set: %s', async (_, text) => {
    const read = async (decimal: string) => {
      const { orders } = await readText(text, mappingOf({ quantity: 'number', decimal }));
      return orders.map((one) =>
        one.valid ? one.order.items[0]?.quantity : one.problems[0]?.message,
      );
    };
    expect(await read('.')).toEqual([
      '"1,5" is not a number; enter it with the decimal sign of the other values. For your operator: decimal in the mapping of the source sets that sign; decimal: auto reads both',
    ]);
    expect(await read('auto')).toEqual([1.5]);
  });

  test('allows fractions if configured', async () => {
    const { orders } = await readText(
      table('1,NEW,A,"2,5"', '2,NEW,B,1.25'),
      mappingOf({ quantity: 'number' }),
    );
    expect(inShort(orders)).toEqual([order('1', item('A', 2.5)), order('2', item('B', 1.25))]);
  });
});

describe('a fix file', () => {
  test('is read without its error columns and the apostrophes before formulas, and is recognized', async () => {
    const text = `${HEADER},note,_error_line,_error_code,_error_message,_error_check\n1,NEW,'=A1,1,'-x,2,missing,is empty,01.000\n2,NEW,B,1,,,,,\n`;
    const { orders, inspection } = await readText(text);
    expect(inShort(orders)).toEqual([order('1', item('=A1')), order('2', item('B'))]);
    expect(inspection.isFixFile).toBe(true);
    expect(inspection.shape.header).toEqual([...HEADER.split(','), 'note']);
    expect(orders[0]?.records[0]).toMatchObject({ cells: ['1', 'NEW', '=A1', '1', '-x'] });
  });

  test('with a value to the right of its error columns still has the wrong width', async () => {
    const { orders } = await readText(
      `${HEADER},_error_line,_error_code,_error_message\n1,NEW,A,1,2,c,m,surplus\n`,
    );
    expect(inShort(orders)).toEqual([{ 1: ['2 too-many-fields'] }]);
  });

  test('is restored; an apostrophe in another file is a value', async () => {
    const { orders, inspection } = await readText(table("1,NEW,'=A1,1"));
    expect(inShort(orders)).toEqual([order('1', item("'=A1"))]);
    expect(inspection.isFixFile).toBe(false);
  });

  test('of JSON is read without its error keys', async () => {
    const value = {
      ...order('1', item('A')),
      _error_line: 1,
      _error_code: 'x',
      _error_message: 'y',
    };
    const { orders, inspection } = await readText(JSON.stringify([value]));
    expect(inspection.isFixFile).toBe(true);
    expect(orders[0]?.records[0]).toMatchObject({ value: order('1', item('A')) });
    expect(JSON.stringify(orders[0]?.records)).not.toContain('_error_');
  });
});

describe('JSON', () => {
  const one = order('1', item('A', 2));
  const two = order('2', item('B'), item('C', 3));

  test.each([
    ['an array', JSON.stringify([one, two]), 'json'],
    ['an array, indented', JSON.stringify([one, two], null, 2), 'json'],
    [
      'an object holding one array',
      JSON.stringify({ meta: { at: [1] }, orders: [one, two] }),
      'json',
    ],
    [
      'an object holding one array named as the items are',
      JSON.stringify({ items: [one, two] }),
      'json',
    ],
    ['one object a line', `${JSON.stringify(one)}\n${JSON.stringify(two)}\n`, 'ndjson'],
    [
      'one object a line with CRLF and without last line end',
      `${JSON.stringify(one)}\r\n${JSON.stringify(two)}`,
      'ndjson',
    ],
  ])('holds orders as %s', async (_, text, type) => {
    const { orders, inspection } = await readText(text);
    expect(inShort(orders)).toEqual([one, two]);
    expect(inspection).toMatchObject({ records: 2, shape: { format: { type } } });
  });

  test('with a next page is read with a warning', async () => {
    const page = { value: [one, two], '@odata.nextLink': 'https://erp.example.com/orders?page=2' };
    const { orders, inspection } = await readText(JSON.stringify(page));
    expect(inShort(orders)).toEqual([one, two]);
    expect(inspection.warnings).toEqual([expect.stringContaining('names a next page')]);
  });

  const NEXT = 'names a next page';
  test.each([
    [{ '@odata.nextLink': 'https://erp.example.com/orders?page=2' }, NEXT],
    [{ next: '/orders?page=2' }, NEXT],
    [{ nextPageToken: 'x7' }, NEXT],
    [{ has_more: true }, NEXT],
    [{ last: false }, NEXT],
    [{ _links: { self: { href: '/1' }, next: { href: '/2' } } }, NEXT],
    [{ meta: { pagination: { nextPage: 2 } } }, NEXT],
    [{ count: 3 }, 'states count 3, but 2 records were read'],
    [{ meta: { total: '250' } }, 'states total 250'],
    [{ '@odata.count': 9 }, 'states @odata.count 9'],
  ])(
    'beside %j is read with a warning, and rows that may continue elsewhere are held',
    async (beside, warning) => {
      const { orders, inspection } = await readText(
        JSON.stringify({ value: [one, two], ...beside }),
      );
      expect(inShort(orders)).toEqual([one, two]);
      expect(inspection.warnings).toEqual([expect.stringContaining(warning)]);
      const rows = [one, two].map(({ purchaseOrderNumber }) => ({
        purchaseOrderNumber,
        articleCode: 'A',
        quantity: 1,
      }));
      const paged = await readText(JSON.stringify({ value: rows, ...beside }));
      expect(paged.orders.map(({ valid }) => valid)).toEqual([true, false]);
      expect(JSON.stringify(paged.orders)).toContain(
        'the first row of the next page is not in this file',
      );
    },
  );

  test.each([
    { next: null, hasMore: false, count: 2, total: 2 },
    { nextLink: '', last: true, supplier: { count: 7, next: 'x' } },
    { previous: null, offset: 0, total: 99.5 },
  ])('beside %j is complete', async (beside) => {
    const { orders, inspection } = await readText(JSON.stringify({ value: [one, two], ...beside }));
    expect([inShort(orders), inspection.warnings]).toEqual([[one, two], []]);
  });

  test.each([{ success: false }, { status: 'partial' }, { error: 'time-out' }])(
    'beside %j is read with a warning that it may be incomplete',
    async (beside) => {
      const { orders, inspection } = await readText(JSON.stringify({ ...beside, orders: [one] }));
      expect(inShort(orders)).toEqual([one]);
      expect(inspection.warnings).toEqual([expect.stringContaining('it may be incomplete')]);
    },
  );

  test('of a page behind another one holds the rows that it begins with', async () => {
    const rows = ['1', '2'].map((number) => ({
      purchaseOrderNumber: number,
      articleCode: 'A',
      quantity: 1,
    }));
    const { orders } = await readText(JSON.stringify({ rows, prev: '/orders?page=1' }));
    expect(orders.map(({ valid }) => valid)).toEqual([false, true]);
  });

  test('with orders in a second place is refused, but not with numbers alone', async () => {
    const other = { orders: [one], page2: { orders: [two] } };
    expect(await whyUnreadable(JSON.stringify(other))).toMatchObject({
      code: 'unreadable-json-shape',
      line: 1,
    });
    const errors = {
      orders: [one],
      log: { errors: [{ purchaseOrderNumber: '7', message: 'unknown' }] },
    };
    expect(inShort((await readText(JSON.stringify(errors))).orders)).toEqual([one]);
  });

  test('may be one order', async () => {
    const { orders } = await readText(JSON.stringify(one, null, 1));
    expect(inShort(orders)).toEqual([one]);
    expect(orders[0]?.place).toEqual({ line: 1, pointer: '' });
  });

  test('gives places by line and pointer', async () => {
    const bad = {
      ...two,
      orderState: 'OLD',
      items: [item('B'), { articleCode: 7.5, quantity: '1,000' }],
    };
    const { orders } = await readText(JSON.stringify({ 'a/b': [one, bad] }, null, 1));
    expect(orders[1]).toMatchObject({ valid: false, place: { line: 13, pointer: '/a~1b/1' } });
    expect(orders[1]).toMatchObject({
      problems: [
        {
          line: 15,
          pointer: '/a~1b/1/orderState',
          field: 'orderState',
          code: 'wrong-state',
          value: 'OLD',
        },
        {
          line: 22,
          pointer: '/a~1b/1/items/1/articleCode',
          field: 'articleCode',
          code: 'not-text',
          value: '7.5',
        },
        {
          line: 23,
          pointer: '/a~1b/1/items/1/quantity',
          field: 'quantity',
          code: 'ambiguous-number',
          value: '1,000',
        },
      ],
    });
  });

  test('with the same number and content twice is two equal orders, at the end', async () => {
    const { orders } = await readText(
      JSON.stringify([one, two, { ...one, items: [...one.items] }]),
    );
    expect(inShort(orders)).toEqual([two, one, one]);
    expect(orders.map(({ ordinal, place }) => [ordinal, place.pointer])).toEqual([
      [0, '/1'],
      [1, '/0'],
      [2, '/2'],
    ]);
  });

  test.each([
    [
      'an array',
      (list: object[]) => JSON.stringify(list, null, 1),
      /first: line 2, \/0, last: line \d\d, \/3/,
    ],
    [
      'an array on one line',
      (list: object[]) => JSON.stringify(list),
      /first: line 1, \/0, last: line 1, \/3/,
    ],
    [
      'lines',
      (list: object[]) => list.map((each) => JSON.stringify(each)).join('\n'),
      /first: line 1, last: line 4/,
    ],
  ])(
    'with one number and different content holds all of these orders, in %s',
    async (_, write, places) => {
      const other = { ...order('1', item('A', 3)), price: 1.1, __proto__: 1 };
      const { orders } = await readText(write([one, two, other, one]));
      expect(orders.map(({ number, valid }) => [number, valid])).toEqual([
        ['2', true],
        ['1', false],
        ['1', false],
        ['1', false],
      ]);
      expect(orders[3]).toMatchObject({
        problems: [{ code: 'repeated-number', message: expect.stringMatching(places) }],
      });
      const [record] = orders[2]?.records ?? [];
      expect(record?.kind === 'object' && JSON.stringify(record.value)).toBe(JSON.stringify(other));
    },
  );

  test('reads names, nested paths and integers as the mapping defines', async () => {
    const mapping = mappingOf({
      fields: {
        purchaseOrderNumber: 'header.number',
        items: 'Lines',
        articleCode: ['sku'],
        quantity: 'amount.value',
      },
    });
    const text =
      '{"Header":{"Number":4711},"lines":[{"SKU":"A","amount":{"value":2}}],"constructor":1,"__proto__":{"x":1}}';
    const { orders } = await readText(text, mapping);
    expect(inShort(orders)).toEqual([order('4711', item('A', 2))]);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test.each([
    ['null', ' not-an-object'],
    ['[1]', ' not-an-object'],
    ['{}', 'purchaseOrderNumber missing', 'items no-items'],
    [
      '{"purchaseOrderNumber":12345678901234567890,"items":[]}',
      'purchaseOrderNumber not-text',
      'items no-items',
    ],
    ['{"purchaseOrderNumber":"1","items":{}}', 'items not-a-list'],
    ['{"purchaseOrderNumber":"1","items":{"articleCode":"A","quantity":1}}', 'items not-a-list'],
    [
      '{"purchaseOrderNumber":"\\ud800","items":[1]}',
      'purchaseOrderNumber lone-surrogate',
      ' not-an-object',
    ],
    [
      '{"purchaseOrderNumber":"1","items":[{"articleCode":"A","quantity":true}]}',
      'quantity not-a-number',
    ],
    [
      '{"purchaseOrderNumber":"1","items":[{"articleCode":"A","quantity":1e400}]}',
      'quantity not-a-number',
    ],
    [
      '{"purchaseOrderNumber":"1","items":[{"articleCode":"A","quantity":12345678901234567890}]}',
      'quantity too-large',
    ],
    [
      '{"purchaseOrderNumber":"1","items":[{"articleCode":"A","Quantity":1,"QUANTITY":2}]}',
      'Quantity ambiguous-key',
    ],
    [
      '{"purchaseOrderNumber":"1","items":[{"articleCode":"A","quantity":1,"Quantity":2}]}',
      'quantity ambiguous-key',
    ],
    [
      '{"purchaseOrderNumber":"\\ufeff1","items":[{"articleCode":"A","quantity":1}]}',
      'purchaseOrderNumber hidden-character',
    ],
  ])('%s is no order that is sent', async (text, ...problems) => {
    const { orders } = await readText(`[${text}]`);
    const found = orders.flatMap((one) =>
      one.valid ? ['valid'] : one.problems.map(({ field, code }) => `${field} ${code}`),
    );
    expect(found).toEqual(problems);
  });

  test.each(['quantity', 'articleCode'])('with two keys for the %s names both', async (key) => {
    const twin = key.toUpperCase();
    const entry = { articleCode: 'A', quantity: 1, [twin]: 2 };
    const { orders } = await readText(
      JSON.stringify([{ purchaseOrderNumber: '1', items: [entry] }]),
    );
    expect(orders).toMatchObject([
      {
        problems: [{ message: `occurs more than once (/${key}, /${twin}); keep one of the keys` }],
      },
    ]);
  });

  test('names the keys that an object has instead of the one it needs', async () => {
    const { orders } = await readText(
      '[{"number":"1","lines":[]},{"purchaseOrderNumber":null,"items":[]},{"purchaseOrderNumber":"2","items":[{"articleCode":"A"}]}]',
    );
    const said = orders.flatMap((one) =>
      one.valid ? [] : one.problems.map(({ value, message }) => [value, message]),
    );
    expect(said).toEqual([
      [
        '',
        'is missing; the object has "number", "lines". For your operator: if "number" is the order number, name it as fields.purchaseOrderNumber in the mapping of the source',
      ],
      ['', 'has no items; at least one is required; the object has "number", "lines"'],
      ['null', 'is empty; enter a value'],
      ['[]', 'has no items; at least one is required'],
      ['', 'is missing; the object has "articleCode"'],
    ]);
  });

  test('names each text that may be a missing field under another name, with the key of the mapping', async () => {
    const found = (value: object) =>
      readText(JSON.stringify([value])).then(({ orders }) =>
        orders.flatMap((one) =>
          one.valid ? [] : one.problems.map(({ message }) => message.split('operator: ')[1]),
        ),
      );
    const own = { head: { PO: 'A-1', tags: [] }, no: 7, orderState: 'NEW', empty: '' };
    expect(await found({ ...own, items: [{ articleCode: 'A', quantity: 1 }] })).toEqual([
      'if "head.PO" or "no" is the order number, name it as fields.purchaseOrderNumber in the mapping of the source',
    ]);
    expect(await found({ purchaseOrderNumber: '1', items: [{ sku: 4711, qty: 1 }] })).toEqual([
      'if "sku" or "qty" is the article code, name it as fields.articleCode in the mapping of the source',
      'if "sku" or "qty" is the quantity, name it as fields.quantity in the mapping of the source',
    ]);
  });

  test.each(['1.5', '2', '"1,5"', '"3 pcs"'])(
    'offers the only key like a quantity (%s) for that, and for nothing else',
    async (quantity) => {
      const text = `[{"bestellNr":"P-1","positionen":[{"sku":"A","farbe":"rot","anzahl":${quantity}}]}]`;
      const found = async (fields: Record<string, string>) => {
        const { orders } = await readText(text, mappingOf({ fields }));
        return orders.flatMap((one) =>
          one.valid ? [] : one.problems.map(({ message }) => message.split('operator: ')[1]),
        );
      };
      const own = { purchaseOrderNumber: 'bestellNr', items: 'positionen' };
      const said =
        'if "anzahl" is the quantity, name it as fields.quantity in the mapping of the source';
      expect(await found(own)).toEqual([
        'if "sku" or "farbe" is the article code, name it as fields.articleCode in the mapping of the source',
        said,
      ]);
      expect(await found({ ...own, articleCode: 'sku' })).toEqual([said]);
    },
  );

  test('names the list that may be the items under another name, once, with what the mapping has to say', async () => {
    const item = { articleCode: 'A', quantity: 1 };
    const all = [
      { purchaseOrderNumber: '1', Positionen: [item, item], tags: [{ x: 1 }] },
      { purchaseOrderNumber: '2', body: { 'Order lines': [{ SKU: 'A', Menge: 1 }] } },
      { purchaseOrderNumber: '3', first: [item], second: [item] },
    ];
    const { orders } = await readText(JSON.stringify(all));
    const said = orders.map((one) => (one.valid ? [] : one.problems.map(({ message }) => message)));
    const none = 'has no items; at least one is required; the object has "purchaseOrderNumber", ';
    expect(said.slice(0, 2)).toEqual([
      [
        `${none}"Positionen", "tags". For your operator: if "Positionen" is the list of items, name it in fields of the mapping of the source: items: "Positionen"`,
      ],
      [
        `${none}"body". For your operator: if "body.Order lines" is the list of items, name it in fields of the mapping of the source: items: "body.Order lines". Name the article code and the quantity of its items there too`,
      ],
    ]);
    expect(said[2]).toEqual([
      `${none}"first", "second"`,
      expect.stringMatching(/^contains/),
      expect.any(String),
    ]);
    const mapping = mappingOf({ fields: { items: 'Positionen' } });
    expect((await readText(JSON.stringify(all.slice(0, 1)), mapping)).orders).toMatchObject([
      { valid: true },
    ]);
  });

  const flat = (names = ['purchaseOrderNumber', 'articleCode', 'quantity']) =>
    ['A-1', 'A-2'].map((number) =>
      Object.fromEntries([number, 'X', 1].map((value, at) => [names[at], value])),
    );
  const withItems = ['A-1', 'A-2'].map((purchaseOrderNumber) => ({
    purchaseOrderNumber,
    items: [{ articleCode: 'X', quantity: 1 }],
  }));
  const german = ['nummer', 'artikel', 'menge'] as const;
  const fields = { purchaseOrderNumber: german[0], articleCode: german[1], quantity: german[2] };

  test.each<[string, object, string, object?]>([
    [
      'with the standard names',
      { export: { id: 'EX-1' }, data: { orders: flat() } },
      'data.orders',
    ],
    [
      'with items',
      { success: true, data: { orders: withItems, links: [{ a: 1 }] } },
      'data.orders',
    ],
    [
      'with the names of the mapping',
      { kopf: { id: 'E' }, daten: { liste: flat([...german]) } },
      'daten.liste',
      { fields },
    ],
    ['that is alone', { id: 'E', data: { order: withItems[0] } }, 'data.order'],
    ['in each element of a list', [{ id: 'E', data: { orders: withItems } }], '*.data.orders'],
  ])(
    'names the list of orders below a key as records, and nothing around it as a field: orders %s',
    async (_, value, records, more) => {
      const text = JSON.stringify(value);
      const { orders } = await readText(text, more && mappingOf(more));
      const said = orders.flatMap((one) =>
        one.valid ? [] : one.problems.map(({ message }) => message.split('operator: ')[1]),
      );
      expect(said).toEqual([
        undefined,
        `if "${records.replace('*.', '')}" is the list of orders, name it in the mapping of the source: records: "${records}"`,
      ]);
      const pasted = await readText(text, mappingOf({ ...more, records }));
      const expected = records === 'data.order' ? ['A-1'] : ['A-1', 'A-2'];
      expect(pasted.orders.map(({ number, valid }) => [number, valid])).toEqual(
        expected.map((one) => [one, true]),
      );
    },
  );

  const hintsOf = async (value: object, mapping?: object) => {
    const { orders } = await readText(JSON.stringify(value), mapping && mappingOf(mapping));
    return orders.flatMap((one) =>
      one.valid ? [] : one.problems.map(({ message }) => message.split('operator: ')[1]),
    );
  };
  const recordsOf = (path: string) =>
    `if "${path}" is the list of orders, name it in the mapping of the source: records: "${path}"`;
  const line = { sku: 'P1', qty: 2 };

  test.each<[string, object]>([
    [
      'payload.documents',
      {
        documents: ['1', '2'].map((docNo) => ({ header: { docNo }, body: { positions: [line] } })),
      },
    ],
    [
      'payload.documents',
      {
        documents: ['1', '2'].map((orderNo) => ({
          header: { orderNo, site: 'B' },
          articles: 'A, B',
        })),
      },
    ],
    [
      'payload.edges',
      { edges: [{ cursor: 'c', node: { name: '#1', lineItems: { edges: [{ node: line }] } } }] },
    ],
    ['payload.docs', { numFound: 1, docs: [{ id: 'A1', attributes: { items: [line] } }] }],
    ['payload.order', { order: [{ number: 'A1', items: { item: [line] } }] }],
  ])(
    'names %s as records where its elements have their number or items deeper, and no key around it as the number',
    async (records, payload) => {
      const value = { meta: { generated: '2026-11-20' }, payload };
      expect(await hintsOf(value)).toEqual([undefined, recordsOf(records)]);
    },
  );

  test('offers both readings of a list whose elements may be orders or items that have lists too', async () => {
    const both = `${recordsOf('data.list')}; if it is the list of items of one order, in fields: items: "data.list"`;
    const value = (one: object) => ({ meta: { id: 'E' }, data: { list: [one, one] } });
    expect(await hintsOf(value({ key: 'X', parts: [{ a: 1 }] }))).toEqual([undefined, both]);
    expect(await hintsOf(value({ sku: 'X', parts: [{ sku: 'Y', qty: 1 }] }))).toEqual([
      undefined,
      both,
    ]);
    expect(await hintsOf({ orderNo: 'E', data: { list: [{ a: 'X', b: { c: [line] } }] } })).toEqual(
      [undefined, both],
    );
  });

  test.each([
    [
      { order: { header: { orderNo: 'A' }, lines: { line: [line] } } },
      [undefined, recordsOf('order')],
    ],
    [{ header: { orderNo: 'A' }, body: { lines: [line] } }, ['header.orderNo', 'body.lines']],
    [
      { orderNo: 'A', history: { '2025': { changes: [{ a: 1 }] } }, lines: [line] },
      ['orderNo', 'lines'],
    ],
    [{ id: 'A', plan: { '2026-01-01': { slots: [{ a: 1 }] } }, lines: [line] }, ['id', 'lines']],
    [{ orderNo: 'A', lines: [{ ...line, batches: [{ lot: 'x', qty: 1 }] }] }, ['orderNo', 'lines']],
    [
      { orderNo: 'A', lines: [line], deliveries: [{ id: 'D', lines: [line] }] },
      ['orderNo', 'lines'],
    ],
  ])('names what is the number and the items of %j, and nothing else', async (value, names) => {
    const { orders } = await readText(`${JSON.stringify(value)}\n${JSON.stringify(value)}\n`);
    const [number, items] = names;
    const [first] = orders;
    if (first === undefined || first.valid) throw new Error('expected an order with problems');
    const hints = first.problems.map(({ message }) => message.split('operator: ')[1]);
    expect(hints).toEqual([
      number && expect.stringContaining(`if "${number}" is the order number`),
      number
        ? expect.stringMatching(new RegExp(`^if "${items}" is the list of items, name it`))
        : items,
    ]);
  });

  test('names the items of an order that are in an object, also under the name of the mapping', async () => {
    const hint = (name: string) =>
      expect.stringContaining(`if "${name}" is the list of items, name it in fields`);
    expect(await hintsOf([{ id: 'A', attributes: { items: [line] } }])).toEqual([
      'if "id" is the order number, name it as fields.purchaseOrderNumber in the mapping of the source',
      hint('attributes.items'),
    ]);
    expect((await hintsOf([{ id: 'A', items: { item: [line] } }])).at(-1)).toEqual(
      hint('items.item'),
    );
    expect(
      (await hintsOf([{ id: 'A', items: { count: 2, item: [line] } }])).at(-1),
    ).toBeUndefined();
  });

  test.each<[string, object]>([
    ['alone', { '4711': { lines: [line] }, 'PO-4712': { lines: [line] } }],
    [
      'below a key',
      {
        meta: { id: 'E' },
        data: { orders: { '4711': { items: [{ articleCode: 'A', quantity: 1 }] } } },
      },
    ],
  ])(
    'says that orders whose numbers are keys are not supported, and what is: %s',
    async (_, value) => {
      expect(await hintsOf(value)).toEqual([
        undefined,
        'orders whose numbers are keys are not supported. A list of objects is, each with its number as a value: [{"purchaseOrderNumber": "4711", "items": [ … ]}]',
      ]);
    },
  );

  test.each([
    [
      { columns: ['po', 'sku'], rows: [['P1', 'A']] },
      /The rows in "rows" are lists of values, which are not supported/,
    ],
    [{ '4711': [line], '4712': [line] }, /Orders whose numbers are keys are not supported/],
  ])('says of several lists in %j that this shape is not supported', async (value, message) => {
    const why = { code: 'unreadable-json-shape', message: expect.stringMatching(message) };
    await expect(readText(JSON.stringify(value))).rejects.toMatchObject(why);
  });

  test('says that rows that are lists of values are not supported', async () => {
    const { orders } = await readText('[["P1","A",1]]');
    expect(orders).toMatchObject([
      {
        problems: [
          {
            message: expect.stringContaining(
              'is a list of values, which is not supported; an object',
            ),
          },
        ],
      },
    ]);
  });

  test('names a list as items where they have lists of something else, or are next to lists that have items too', async () => {
    const items =
      'if "lines" is the list of items, name it in fields of the mapping of the source: items: "lines"';
    const taxed = { orderNo: '1', lines: [{ ...line, taxes: [{ rate: 19 }] }] };
    expect(await hintsOf([taxed])).toEqual([
      expect.stringContaining('"orderNo"'),
      expect.stringContaining(items),
    ]);
    const fields = { purchaseOrderNumber: 'orderNo' };
    const parts = { orderNo: '1', lines: [{ pos: 1, parts: [line] }] };
    expect(await hintsOf(parts, { fields })).toEqual([expect.stringContaining(items)]);
    const shipped = { orderNo: '1', a: { lines: [line] }, deliveries: [{ lines: [line] }] };
    expect((await hintsOf(shipped, { fields })).join()).not.toContain('deliveries');
    expect((await hintsOf({ ...shipped, orderNo: { x: 1 } })).join()).not.toContain('deliveries');
  });

  test('names the list as records, then its order number as a field, where that has a usual name', async () => {
    const text = JSON.stringify({
      no: 'E',
      a: { b: flat(['Bestell-Nr.', 'articleCode', 'quantity']) },
    });
    expect((await readText(text)).orders).toMatchObject([
      { problems: [{}, { message: expect.stringContaining('records: "a.b"') }] },
    ]);
    expect((await readText(text, mappingOf({ records: 'a.b' }))).orders[0]).toMatchObject({
      problems: [
        { message: expect.stringContaining('if "Bestell-Nr." is the order number, name it as') },
      ],
    });
    const pasted = mappingOf({ records: 'a.b', fields: { purchaseOrderNumber: 'Bestell-Nr.' } });
    expect(
      (await readText(text, pasted)).orders.map(({ number, valid }) => [number, valid]),
    ).toEqual([
      ['A-1', true],
      ['A-2', true],
    ]);
  });

  test('names a list by its name as records where nothing else says what its elements are', async () => {
    const { orders } = await readText(
      JSON.stringify({ kopf: { id: 'E' }, daten: { Bestellungen: flat([...german]) } }),
    );
    expect(orders).toMatchObject([
      { problems: [{}, { message: expect.stringContaining('records: "daten.Bestellungen"') }] },
    ]);
    // Only a list: the object around it has the plural in XML and what is made of it.
    const around = {
      kopf: { id: 'E' },
      Bestellungen: { Bestellung: flat(['bestellnr', 'a', 'b']) },
    };
    expect((await readText(JSON.stringify(around))).orders).toMatchObject([
      {
        problems: [{}, { message: expect.stringContaining('records: "Bestellungen.Bestellung"') }],
      },
    ]);
  });

  test('names the only item of an order as its items where it is not in a list, as in XML, and says nothing else of it', async () => {
    const hint =
      'if "Item" is the list of items, name it in fields of the mapping of the source: items: "Item"';
    const item = '<Item><articleCode>A</articleCode><quantity>2</quantity></Item>';
    const text = `<a><r><purchaseOrderNumber>1</purchaseOrderNumber>${item}</r></a>`;
    const { orders } = await readText(text);
    expect(
      orders.map((one) => (one.valid ? [] : one.problems.map(({ message }) => message))),
    ).toEqual([
      [
        expect.stringContaining(
          `has no items; at least one is required; the object has "purchaseOrderNumber", "Item". For your operator: ${hint}`,
        ),
      ],
    ]);
    const mapping = mappingOf({ fields: { items: 'Item' } });
    expect((await readText(text, mapping)).orders).toMatchObject([{ valid: true }]);
  });

  test('keeps numbers as they were written and every key, for the fix file', async () => {
    const text =
      '{"purchaseOrderNumber":"1","price":1.10,"id":12345678901234567890,"__proto__":{"x":1},"items":[]}';
    const { orders } = await readText(text);
    const [record] = orders[0]?.records ?? [];
    expect(record?.kind === 'object' && JSON.stringify(record.value)).toBe(text);
  });
});

test('a header alone or an empty array contains no orders', async () => {
  for (const text of [HEADER, `${HEADER}\r\n`, '[]', '{"orders":[]}', '\ufeff []\n']) {
    const { inspection, orders } = await readText(text);
    expect([inspection.records, orders], JSON.stringify(text)).toEqual([0, []]);
  }
});

test('a cell of a workbook with a date as its quantity is named without the marks that it is kept with', async () => {
  const { orders } = await readText(table('1,NEW,A,"=""2026-02-01"""'));
  const message = orders[0]?.valid === false ? orders[0].problems[0]?.message : '';
  expect(message).toContain(
    '"2026-02-01" is a date, which the spreadsheet made of what was entered; format the cell',
  );
  expect(notANumberSentence('="5-Mar"', '"5-Mar"')).toContain('is a date');
  expect(notANumberSentence('="500 %"', '"500 %"')).not.toContain('is a date');
  expect(notANumberSentence('2026-02-01', '"2026-02-01"')).not.toContain('spreadsheet');
});

describe('the message about', () => {
  test('a header with two delimiters says so', async () => {
    const header = 'purchaseOrderNumber,orderState,articleCode,quantity;x';
    await expect(readText(`${header}\n1,NEW,A,1;\n`)).rejects.toMatchObject({
      code: 'unreadable-column-missing',
      remedy:
        'The header has two delimiters: the name "quantity;x" contains ";". Use one delimiter in the complete file.',
    });
  });

  test('an archive that is none has words of po-sync and one stop', async () => {
    await expect(readText(Buffer.from('PK\u0003\u0004 no archive'))).rejects.toMatchObject({
      code: 'unreadable-zip',
      message: 'The zip archive is damaged or cut off: the list of its parts is missing.',
    });
  });

  const messageOf = (code: 'wrong-state' | 'called-off', value: string, name = 'Status') =>
    problemOf(code, { line: 2 }, name, value).message;

  test('an order state in words of the ERP says how the mapping leaves them out', () => {
    expect(messageOf('wrong-state', 'neu')).toBe(
      'orders cannot be created in state "neu"; use NEW. For your operator: if every row means NEW, leave orderState out of fields in the mapping',
    );
  });

  test.each(['X', 'storniert', 'CANCELLED', '9'])(
    'an order state %s says first to discard an order that is not wanted',
    (value) => {
      expect(messageOf('wrong-state', value)).toMatch(
        /^orders cannot be created in state "\w+"; if the order is canceled or not wanted, discard it; use NEW only if it is to be ordered\. .*calledOff/,
      );
    },
  );

  test.each([
    ['Status', 'DRAFT'],
    ['status', 'on hold'],
    ['approved', 'false'],
    ['isDraft', 'true'],
  ])('%s %s is not wanted yet', (name, value) => {
    expect(messageOf('called-off', value, name)).toMatch(
      /not wanted yet; .* a later file shows it as released/,
    );
  });

  test('a canceled row names what to do with its order', () => {
    expect(messageOf('called-off', 'storniert')).toBe(
      '"storniert" says that this is no longer wanted; discard the order. If only this row or item is not wanted, remove it and, in each other row of the order, write confirmed into _error_check. To order it nevertheless, write confirmed into _error_check of the fix file',
    );
  });

  test('a quantity of 0 may mean that the order is not wanted: its message says that it can be discarded', () => {
    const { message } = problemOf('not-positive', { line: 2 }, 'quantity', '0');
    expect(message).toContain(
      'enter a number above zero. If the order is not wanted, discard it in the dashboard',
    );
  });
});

test('a quantity that is an object or a list is shown as it is written, and what to name in its place', async () => {
  const items = (quantity: string) =>
    `[{"purchaseOrderNumber":"1","orderState":"NEW","items":[{"articleCode":"A","quantity":${quantity}}]}]`;
  const message = async (quantity: string) => {
    const { orders } = await readText(items(quantity));
    return orders[0]?.valid === false ? orders[0].problems[0]?.message : '';
  };
  expect(await message('{"value":2,"uom":"x"}')).toContain(
    '{"value":2,"uom":"x"} contains several values; enter the number alone',
  );
  expect(await message('[2,3]')).toContain('[2,3] is a list; enter one number');
});
