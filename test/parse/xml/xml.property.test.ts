import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ENCODINGS } from '../../../src/config/mapping-schema.ts';
import { createXmlRecords } from '../../../src/parse/xml/xml-records.ts';
import { inShort, mappingOf, readText } from '../../support/read-text.ts';
import { runs } from '../../support/runs.ts';

const order = (purchaseOrderNumber: string, ...items: [string, number][]) => ({
  purchaseOrderNumber,
  orderState: 'NEW',
  items: items.map(([articleCode, quantity]) => ({ articleCode, quantity })),
});
const NESTED = {
  fields: {
    purchaseOrderNumber: 'number',
    items: 'Items',
    articleCode: 'Article',
    quantity: 'Qty',
  },
};

async function ordersIn(text: string | Buffer, mapping: object = {}) {
  const { orders, inspection } = await readText(text, mappingOf(mapping));
  return { orders: inShort(orders), records: inspection.records, format: inspection.shape.format };
}

const TWO = `<?xml version="1.0"?>
<o:Orders xmlns:o="urn:x">
  <!-- a comment -->
  <o:Order number="PO-1">
    <o:Items><o:Item><o:Article>A &amp; 1</o:Article><o:Qty unit="ST"> 5 </o:Qty></o:Item></o:Items>
  </o:Order>
  <o:Order>
    <number>PO-2</number>
    <Items>
      <Item><Article><![CDATA[00<12]]>3</Article><Qty>1</Qty></Item>
      <Item Article="B" Qty="2"/>
    </Items>
  </o:Order>
</o:Orders>
`;

describe('XML', () => {
  test('is read from attributes, text and CDATA, by local names', async () => {
    const { orders, records, format } = await ordersIn(TWO, NESTED);
    expect(orders).toEqual([order('PO-1', ['A & 1', 5]), order('PO-2', ['00<123', 1], ['B', 2])]);
    expect([records, format]).toEqual([2, { type: 'xml', encoding: 'utf-8' }]);
  });

  test('with a unit of several pieces beside a quantity is held', async () => {
    const text = TWO.replace('unit="ST"', 'unit="DZN"');
    expect((await ordersIn(text, NESTED)).orders[0]).toEqual({
      'PO-1': ['5 Qty.unit other-value'],
    });
  });

  test.each([
    '<Price unit="100">12.50</Price>',
    '<Reference type="quote">Q-1</Reference>',
    '<Supplier status="blocked" active="false">ACME</Supplier>',
    '<Discount sign="-">10</Discount>',
    '<Note type="return">hello</Note>',
  ])(
    'is sent with the attributes of an element that is not the number, the article or the quantity: %s',
    async (element) => {
      const text = TWO.replace('<o:Items>', `${element}<o:Items>`).replace(
        '</o:Item>',
        `${element}</o:Item>`,
      );
      expect((await ordersIn(text, NESTED)).orders[0]).toEqual(order('PO-1', ['A & 1', 5]));
    },
  );

  test('with a status in an attribute of its element is held', async () => {
    const text = TWO.replace('<o:Items>', '<Status code="CANCELLED">C</Status><o:Items>');
    expect((await ordersIn(text, NESTED)).orders[0]).toEqual({
      'PO-1': ['5 Status.code called-off'],
    });
  });

  test('that deletes an order, as cXML does, is held', async () => {
    const cxml = (type: string) =>
      `<cXML><Request><OrderRequest><OrderRequestHeader orderID="1" type="${type}"/><ItemOut quantity="1"><ItemID><SupplierPartID>A</SupplierPartID></ItemID></ItemOut></OrderRequest></Request></cXML>`;
    const mapping = {
      records: 'cXML.Request.OrderRequest',
      fields: {
        purchaseOrderNumber: 'OrderRequestHeader.orderID',
        items: 'ItemOut',
        articleCode: 'ItemID.SupplierPartID',
        quantity: 'quantity',
      },
    };
    expect((await ordersIn(cxml('new'), mapping)).orders).toEqual([order('1', ['A', 1])]);
    expect((await ordersIn(cxml('delete'), mapping)).orders).toEqual([
      { 1: ['1 OrderRequestHeader.type called-off'] },
    ]);
  });

  test('may have items directly in the order, flat rows, or one order only', async () => {
    const direct =
      '<a><b number="1"><Item Article="A" Qty="1"/><Item Article="B" Qty="2"/></b></a>';
    const fields = { ...NESTED.fields, items: 'Item' };
    expect((await ordersIn(direct, { fields })).orders).toEqual([order('1', ['A', 1], ['B', 2])]);
    const flat =
      '<a><r><number>1</number><Article>A</Article><Qty>1</Qty></r><r number="1" Article="B" Qty="2"/></a>';
    expect((await ordersIn(flat, NESTED)).orders).toEqual([order('1', ['A', 1], ['B', 2])]);
    const one = '<Order number="1"><Items><Item Article="A" Qty="1"/></Items></Order>';
    expect((await ordersIn(one, NESTED)).orders).toEqual([order('1', ['A', 1])]);
    expect((await ordersIn('<Orders/>', NESTED)).orders).toEqual([]);
  });

  test.each([
    ['a count', '<Items count="2">', [order('1', ['A', 1], ['B', 2])]],
    [
      'a type',
      '<Items xsi:type="list" soap:arrayType="Item[2]">',
      [order('1', ['A', 1], ['B', 2])],
    ],
    ['a wrong count', '<Items count="3">', [{ 1: ['1 Items not-a-list'] }]],
    ['no value, but items', '<Items xsi:nil="true">', [{ 1: ['1 Items not-a-list'] }]],
  ])('may have %s beside its items', async (_, start, expected) => {
    const text = `<a><r number="1">${start}<Item Article="A" Qty="1"/><Item Article="B" Qty="2"/></Items></r></a>`;
    expect((await ordersIn(text, NESTED)).orders).toEqual(expected);
  });

  test('says how many items an order has and how many it should have', async () => {
    const text = '<a><r number="1"><Items count="3"><Item/><Item/></Items></r></a>';
    const { orders } = await readText(text, mappingOf(NESTED));
    const [problem] = orders[0]?.valid === false ? orders[0].problems : [];
    expect(problem?.message).toContain('an object with count 3, Item (2)');
  });

  test.each([
    ['true', ''],
    ['1', ' lang="de"'],
  ])('with xsi:nil="%s" has no value', async (nil, more) => {
    const state = `<orderState xsi:nil="${nil}"${more}/>`;
    const text = (rest: string) => `<a><r number="1" Article="A">${rest}</r></a>`;
    expect((await ordersIn(text(`${state}<Qty>1</Qty>`), NESTED)).orders).toEqual([
      order('1', ['A', 1]),
    ]);
    const without = (await ordersIn(text(`<Qty xsi:nil="${nil}"${more}/>`), NESTED)).orders;
    expect(without).toEqual([{ 1: ['1 Qty missing'] }]);
    const both = (await ordersIn(text(`<Qty xsi:nil="${nil}"${more}>5</Qty>`), NESTED)).orders;
    expect(both).toEqual([{ 1: ['1 Qty not-a-number'] }]);
  });

  test('has its orders where records leads to', async () => {
    const rows = '<r number="1" Article="A" Qty="1"/><x/><r number="2" Article="B" Qty="2"/>';
    const text = `<Envelope><Head><number>7</number></Head><Body><List>${rows}</List></Body></Envelope>`;
    for (const records of ['Envelope.Body.List.r', 'envelope.*.list.R'])
      expect((await ordersIn(text, { ...NESTED, records })).orders).toEqual([
        order('1', ['A', 1]),
        order('2', ['B', 2]),
      ]);
    await expect(ordersIn(text, NESTED)).rejects.toMatchObject({
      code: 'unreadable-records',
      message: expect.stringContaining('in several places: Envelope.Head and Envelope.Body.List.r'),
    });
    await expect(
      ordersIn(text, { ...NESTED, records: 'Envelope.Body.Orders' }),
    ).rejects.toMatchObject({
      code: 'unreadable-records',
      message: 'No element Envelope.Body.Orders was found; Envelope.Body has "List".',
    });
  });

  test('is found by an element whose name has a dot, and names all elements that it looks for', async () => {
    const fields = { ...NESTED.fields, purchaseOrderNumber: ['Order.', 'PO.Id'] };
    const text = (number: string) => `<a><r>${number}<Article>A</Article><Qty>1</Qty></r></a>`;
    for (const number of ['<Order.>1</Order.>', '<PO.Id>1</PO.Id>', '<PO><Id>1</Id></PO>'])
      expect((await ordersIn(text(number), { fields })).orders).toEqual([order('1', ['A', 1])]);
    await expect(ordersIn(text(''), { fields })).rejects.toMatchObject({
      message:
        'No element or attribute Order. or PO.Id was found; the document has "a", "r", "Article", "Qty".',
    });
  });

  test('without any known name names all fields that need one', async () => {
    const remedyOf = async (text: string, mapping = {}) =>
      (await ordersIn(text, mapping).catch((error: unknown) => error)) as { remedy: string };
    const text = '<a><PO><Nr>1</Nr><Pos><Art>A</Art><Menge>1</Menge></Pos></PO></a>';
    const own =
      'Check whether this is the right file. For your operator: name the one that is the order number in fields.purchaseOrderNumber of the mapping of the source.';
    const list = 'fields.items if each order has a list of them';
    expect((await remedyOf(text)).remedy).toBe(
      `${own} Nothing was found for these either: ${list}; fields.articleCode; fields.quantity. Name them in the same way.`,
    );
    const named = { fields: { items: 'Pos', articleCode: 'x.Art' }, defaults: { quantity: '1' } };
    expect((await remedyOf(text, named)).remedy).toBe(own);
  });

  test('with order numbers in a second place anywhere is refused', async () => {
    const row = '<r number="1" Article="A" Qty="1"/>';
    const text = `<a><b>${row}</b><x>${'<y/>'.repeat(300_000)}</x><c>${row}</c></a>`;
    await expect(ordersIn(text, NESTED)).rejects.toMatchObject({
      code: 'unreadable-records',
      message: expect.stringContaining('in several places: a.b.r and a.c.r'),
    });
  });

  test('has the line of each problem', async () => {
    const text = TWO.replace('<Qty>1</Qty>', '<Qty>no</Qty>').replace('PO-1', 'PO\u200b1');
    expect((await ordersIn(text, NESTED)).orders).toEqual([
      { 'PO\u200b1': ['4 number hidden-character'] },
      { 'PO-2': ['10 Qty not-a-number'] },
    ]);
  });

  test.each([
    ['a value twice', '<Qty>1</Qty><Qty>2</Qty>'],
    ['an attribute beside', '<Qty>1</Qty>', ' Qty="2"'],
    ['two prefixes', '<Qty>1</Qty>', ' a:Article="B" b:Article="C"'],
    ['elements within text', '<Qty>1<b>0</b></Qty>'],
    ['names that differ in case', '<Qty>1</Qty><qty>2</qty>'],
    ['nothing', '<Qty xsi:nil="true"/>'],
  ])('with %s is not sent', async (_, quantity, attribute = '') => {
    const text = `<a><r${attribute}><number>1</number><Article>A</Article>${quantity}</r></a>`;
    const { orders } = await readText(text, mappingOf(NESTED));
    expect(orders.map(({ valid }) => valid)).toEqual([false]);
  });

  test.each([
    ['a document type', '<!DOCTYPE a [<!ENTITY x "1">]><a><r number="1"/></a>', 'unreadable-xml'],
    ['an unknown entity', '<a><r number="1"><Qty>&x;</Qty></r></a>', 'unreadable-xml'],
    ['a wrong end', '<a><r number="1"></a>', 'unreadable-xml'],
    ['no end', '<a><r number="1"/>', 'unreadable-xml'],
    ['an attribute twice', '<a><r number="1" number="2"/></a>', 'unreadable-xml'],
    ['more after its end', '<a><r number="1"/></a><a/>', 'unreadable-xml'],
    ['too deep nesting', `<a><r number="1">${'<b>'.repeat(100)}`, 'unreadable-xml'],
    [
      'a long element',
      `<a><r number="1"/><r>${'<b>x</b>'.repeat(200_000)}</r></a>`,
      'unreadable-too-large',
    ],
    ['a long text', `<a><r number="1"/>${'x'.repeat(3_000_000)}`, 'unreadable-too-large'],
    ['a web page', '<!doctype html><html><body>no</body></html>', 'unreadable-format'],
    ['no order number', '<a><b c="1"/></a>', 'unreadable-records'],
    ['an unknown encoding', '<?xml version="1.0" encoding="x-none"?><a/>', 'unreadable-encoding'],
  ])('with %s is refused', async (_, text, code) => {
    await expect(readText(text, mappingOf(NESTED))).rejects.toMatchObject({
      code,
      facts: { line: expect.any(Number) },
    });
  });

  test.each([
    [
      'a document type',
      '<!DOCTYPE a SYSTEM "a.dtd"><a><r number="1"/></a>',
      'Remove the document type',
    ],
    [
      'an unknown entity',
      '<a><r number="1"><Qty>1&nbsp;0</Qty></r></a>',
      'Write the character itself',
    ],
    [
      'a second document',
      '<a><r number="1"/></a>\n<?xml version="1.0"?><a/>',
      'drop each as a separate file',
    ],
    ['no end', '<a><r number="1"/>', 'Drop the complete file again'],
  ])('with %s is refused with what to do', async (_, text, remedy) => {
    await expect(readText(text, mappingOf(NESTED))).rejects.toMatchObject({
      remedy: expect.stringContaining(remedy),
    });
  });

  test('that is cut anywhere is refused', async () => {
    const text = TWO.trimEnd();
    for (let end = 60; end < text.length; end++)
      await expect(
        readText(text.slice(0, end), mappingOf(NESTED)),
        text.slice(end - 20, end),
      ).rejects.toMatchObject({
        code: expect.stringMatching(/^unreadable-(xml|records)$/),
      });
  });
});

describe('the encoding of XML', () => {
  const row = (encoding: string) =>
    `<?xml version="1.0" encoding="${encoding}"?><a><r number="1" Article="Stra\u00dfe" Qty="1"/></a>`;

  test.each(['ISO-8859-1', 'windows-1252', 'latin1', 'iso-8859-15', 'cp1252'])(
    'is declared as %s',
    async (name) => {
      expect((await ordersIn(Buffer.from(row(name), 'latin1'), NESTED)).orders).toEqual([
        order('1', ['Stra\u00dfe', 1]),
      ]);
    },
  );

  test('is refused if the letters show another', async () => {
    await expect(ordersIn(row('ISO-8859-1'), NESTED)).rejects.toMatchObject({
      code: 'unreadable-encoding',
    });
    const fixed = { ...NESTED, encoding: 'utf-8' };
    expect((await ordersIn(row('ISO-8859-1'), fixed)).orders).toEqual([
      order('1', ['Stra\u00dfe', 1]),
    ]);
    await expect(ordersIn(Buffer.from(row('UTF-8'), 'latin1'), NESTED)).rejects.toMatchObject({
      code: 'unreadable-encoding',
    });
  });

  test('is a guess if nothing says it', async () => {
    const text = row('').replace(' encoding=""', '');
    const { orders } = await ordersIn(Buffer.from(text, 'latin1'), NESTED);
    expect(orders).toEqual([{ 1: ['1 Article encoding-unsure'] }]);
  });

  test('may be UTF-16, and the file may be compressed', async () => {
    const text = `\ufeff${row('utf-16')}`;
    expect((await ordersIn(Buffer.from(text, 'utf16le'), NESTED)).orders).toEqual([
      order('1', ['Stra\u00dfe', 1]),
    ]);
    expect((await ordersIn(gzipSync(row('utf-16')), NESTED)).orders).toEqual([
      order('1', ['Stra\u00dfe', 1]),
    ]);
  });

  test.each(ENCODINGS)('%s may be named by the mapping', async (encoding) => {
    const text = '<a><r number="1" Article="A-1" Qty="1"/></a>';
    const bytes = encoding.startsWith('utf-16') ? Buffer.from(text, 'utf16le') : Buffer.from(text);
    const content = encoding === 'utf-16be' ? bytes.swap16() : bytes;
    expect((await ordersIn(content, { ...NESTED, encoding })).orders).toEqual([
      order('1', ['A-1', 1]),
    ]);
  });
});

const text = fc.string({
  unit: fc.constantFrom(
    'a',
    'ß',
    '😀',
    ' ',
    '\n',
    '\r\n',
    '&amp;',
    '&#65;',
    '<![CDATA[<]]>',
    '<!-- x -->',
  ),
});
const element = fc
  .tuple(fc.constantFrom('A', 'b', 'x:A'), text)
  .map(([name, inner]) => `<${name} k="v">${inner}</${name}>`);
const record = fc
  .array(fc.oneof(element, text), { maxLength: 4 })
  .map((parts) => `<r n="1">${parts.join('')}</r>`);

test('XML is the same wherever it is split', () => {
  const read = (content: string, length: number) => {
    const parser = createXmlRecords(['a', 'r']);
    const characters = Array.from(content);
    const found = [];
    for (let at = 0; at < characters.length; at += length)
      found.push(...parser.write(characters.slice(at, at + length).join('')));
    return [...found, ...parser.end()].map(({ line, pointer, value, bytes }) => ({
      line,
      pointer,
      value,
      bytes,
    }));
  };
  fc.assert(
    fc.property(
      fc.array(record, { maxLength: 4 }),
      fc.integer({ min: 1, max: 12 }),
      (records, length) => {
        const content = `<a>${records.join('\n')}</a>`;
        expect(read(content, length)).toEqual(read(content, content.length));
      },
    ),
    { numRuns: runs(500) },
  );
});
