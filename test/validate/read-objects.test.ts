import { describe, expect, test } from 'vitest';
import { inShort, mappingOf, readText, whyUnreadable } from '../support/read-text.ts';

const row = (
  purchaseOrderNumber: unknown,
  articleCode: unknown,
  quantity: unknown,
  rest: object = {},
) => ({
  purchaseOrderNumber,
  articleCode,
  quantity,
  ...rest,
});
const order = (purchaseOrderNumber: string, ...items: [string, number][]) => ({
  purchaseOrderNumber,
  orderState: 'NEW',
  items: items.map(([articleCode, quantity]) => ({ articleCode, quantity })),
});
const lines = (list: readonly object[]) => list.map((one) => `${JSON.stringify(one)}\n`).join('');
const array = (list: readonly object[]) =>
  `[\n${list.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`;

async function ordersIn(text: string, mapping: object = {}) {
  const { orders, inspection } = await readText(text, mappingOf(mapping));
  return { orders: inShort(orders), records: inspection.records, warnings: inspection.warnings };
}

describe('objects without items', () => {
  test.each([
    ['an array', array],
    ['lines', lines],
    ['an object that holds them', (list: object[]) => JSON.stringify({ value: list })],
  ])('of one number are one order in %s, adjacent or not', async (_, write) => {
    const list = [
      row('1', 'A', 1),
      row('1', 'B', '2'),
      row('2', 'C', 3),
      row('1', 'D', 4),
      row('3', 'E', 5),
    ];
    const { orders, records } = await ordersIn(write(list));
    expect(orders).toEqual([
      order('2', ['C', 3]),
      order('3', ['E', 5]),
      order('1', ['A', 1], ['B', 2], ['D', 4]),
    ]);
    expect(records).toBe(5);
  });

  test('may be lines of files that were joined, each with a byte order mark', async () => {
    const joined = `\ufeff${lines([row('1', 'A', 1)])}\r\n\ufeff${lines([row('2', 'B', 2)]).trimEnd()}`;
    expect((await ordersIn(joined)).orders).toEqual([order('1', ['A', 1]), order('2', ['B', 2])]);
    expect(await whyUnreadable(`[\ufeff${JSON.stringify(row('1', 'A', 1))}]`)).toMatchObject({
      line: 1,
      column: 2,
    });
  });

  test('may be in the only list of an object that is not empty', async () => {
    const text = JSON.stringify({ errors: [], rows: [row('1', 'A', 1)], links: [] });
    expect((await ordersIn(text)).orders).toEqual([order('1', ['A', 1])]);
    expect(await whyUnreadable(text.replace('[]', '["late"]'))).toMatchObject({
      code: 'unreadable-json-shape',
    });
  });

  test.each(['auto', 'ndjson'])(
    'may be where records leads to in each line, format %s',
    async (format) => {
      const text = lines([
        { data: [row('1', 'A', 1)] },
        { data: [] },
        { data: [row('2', 'B', 2)] },
      ]);
      const { orders } = await ordersIn(text, { records: 'data', format });
      expect(orders).toEqual([order('1', ['A', 1]), order('2', ['B', 2])]);
    },
  );

  test('may be a single one', async () => {
    expect((await ordersIn(JSON.stringify(row('1', 'A', 1, { items: null })))).orders).toEqual([
      order('1', ['A', 1]),
    ]);
  });

  test('keep the article codes and items of an invalid order', async () => {
    const { orders } = await readText(
      array([row('1', 'A', 1), row('1', 7, 'x'), row('1', { no: 1 }, 1)]),
      mappingOf({}),
    );
    expect(orders).toMatchObject([{ number: '1', valid: false, articles: ['A', '7'] }]);
    expect(orders[0]).toHaveProperty('itemsRead', ['A × 1', '7 × x', '? × 1']);
  });

  test('keep what could be read of two objects with one number, and of items in a list', async () => {
    const of = (items: object[]) => ({ purchaseOrderNumber: '1', items });
    const item = (articleCode: unknown, quantity: unknown) => ({ articleCode, quantity });
    const { orders } = await readText(
      array([of([item('A', 1)]), of([item('A', 2.5), item('B', undefined)])]),
      mappingOf({}),
    );
    expect(orders.map((one) => 'itemsRead' in one && one.itemsRead)).toEqual([
      ['A × 1'],
      ['A × 2.5', 'B × ?'],
    ]);
  });

  test('make the complete order wait if one of them is wrong', async () => {
    const { orders } = await ordersIn(
      array([row('1', 'A', 1), row('1', 'B', 'x'), row('2', 'C', 3)]),
    );
    expect(orders).toEqual([{ 1: ['3 quantity not-a-number'] }, order('2', ['C', 3])]);
  });

  test.each([null, '', ' ', undefined])(
    'put the orders around them in doubt if their number is %j',
    async (blank) => {
      const { orders } = await ordersIn(
        array([row('1', 'A', 1), row(blank, 'B', 2), row('2', 'C', 3)]),
      );
      expect(orders).toEqual([
        { 1: ['2 row-in-doubt'] },
        { '': ['3 purchaseOrderNumber missing'] },
        { 2: ['4 row-in-doubt'] },
      ]);
    },
  );

  test('get the number above with fillDown', async () => {
    const list = [
      row('1', 'A', 1),
      row(null, 'B', 2),
      { articleCode: 'C', quantity: 3 },
      row('2', 'D', 4),
    ];
    const { orders } = await ordersIn(array(list), { fillDown: true });
    expect(orders).toEqual([order('1', ['A', 1], ['B', 2], ['C', 3]), order('2', ['D', 4])]);
  });

  test.each([{}, { note: 'x' }, null, []])('get no number across %j with fillDown', async (gap) => {
    const { orders } = await ordersIn(array([row('1', 'A', 1), gap as never, row(null, 'B', 2)]), {
      fillDown: true,
    });
    expect(orders).not.toContainEqual(order('1', ['A', 1], ['B', 2]));
    expect(JSON.stringify(orders.at(-1))).toContain('purchaseOrderNumber missing');
  });

  test('with a hidden character in the number put the order with the number that it looks like in doubt', async () => {
    const { orders } = await ordersIn(
      array([row('PO-1', 'A', 1), row('PO-2', 'B', 2), row('PO\u200b-1', 'C', 3)]),
    );
    expect(orders[0]).toEqual({ 'PO-1': ['2 row-in-doubt'] });
    expect(orders).not.toContainEqual(order('PO-1', ['A', 1]));
  });

  test('that are equal in what is sent are held, whatever the place of their keys', async () => {
    const second = { quantity: '1.0', articleCode: 'A ', note: null, purchaseOrderNumber: 1 };
    const { orders } = await readText(JSON.stringify([row('1', 'A', 1), second]));
    expect(inShort(orders)).toEqual([{ 1: ['1 repeated-row'] }]);
  });

  test('that are equal are not sent', async () => {
    const { orders } = await readText(JSON.stringify([row('1', 'A', 1), row('1', 'A', 1)]));
    expect(inShort(orders)).toEqual([{ 1: ['1 repeated-row'] }]);
    expect(orders[0]?.valid === false && orders[0].problems[0]).toMatchObject({
      pointer: '/1',
      message: expect.stringContaining('is equal to /0 in every value'),
    });
  });

  test('between others with items make the file unreadable, with both places', async () => {
    const text = array([{ ...order('1', ['A', 1]) }, row('2', 'B', 2)]);
    await expect(readText(text)).rejects.toMatchObject({
      code: 'unreadable-json-shape',
      message: expect.stringMatching(/line 2 \(\/0\) has a list of items.*line 3 \(\/1\)/),
    });
  });

  test('that are not objects put the rows around them in doubt', async () => {
    const { orders } = await ordersIn(array([row('1', 'A', 1), 7 as never, row('2', 'B', 1)]));
    expect(orders).toEqual([
      { 1: ['2 row-in-doubt'] },
      { '': ['3 not-an-object'] },
      { 2: ['4 row-in-doubt'] },
    ]);
  });
});

describe('an order is held', () => {
  const item = { articleCode: 'A', quantity: 1 };
  const inner = { purchaseOrderNumber: '2', items: [item] };
  test.each([
    ['children', { children: [inner] }, 'nested'],
    ['an order in an object', { group: { order: inner } }, 'nested'],
    ['items in an item', { items: [{ ...item, items: [item] }] }, 'nested'],
    ['an item in an item', { items: [{ ...item, part: item }] }, 'nested'],
    ['an item of another order', { items: [{ ...item, purchaseOrderNumber: '2' }] }, 'other-order'],
    ['an item in another state', { items: [{ ...item, orderState: 'CLOSED' }] }, 'wrong-state'],
  ])('with %s', async (_, more, code) => {
    const { orders } = await readText(
      JSON.stringify([{ purchaseOrderNumber: '1', items: [item], ...more }]),
    );
    expect(orders).toMatchObject([{ number: '1', valid: false, problems: [{ code }] }]);
  });

  const envelope = {
    export: { id: 'EX-1' },
    data: {
      orders: ['A-1', 'A-2'].map((purchaseOrderNumber) => ({ ...item, purchaseOrderNumber })),
    },
  };
  const around = { purchaseOrderNumber: 'export.id', items: 'data.orders' };

  test('whose items are orders under the standard name of the number, with the list as records', async () => {
    const { orders } = await readText(JSON.stringify(envelope), mappingOf({ fields: around }));
    const hint =
      'if "data.orders" is the list of orders, name it in the mapping of the source: records: "data.orders"';
    const problem = { code: 'other-order', message: expect.stringContaining(hint) };
    expect(orders).toMatchObject([{ number: 'EX-1', valid: false, problems: [problem, problem] }]);
  });

  test('whose items are orders in XML', async () => {
    const one = (number: string) =>
      `<order><purchaseOrderNumber>${number}</purchaseOrderNumber><articleCode>X</articleCode><quantity>1</quantity></order>`;
    const text = `<file><export><id>EX-1</id></export><orders>${one('A-1')}${one('A-2')}</orders></file>`;
    const { orders } = await readText(
      text,
      mappingOf({ records: 'file', fields: { ...around, items: 'orders' } }),
    );
    expect(orders).toMatchObject([
      {
        number: 'EX-1',
        valid: false,
        problems: [{ code: 'other-order' }, { code: 'other-order' }],
      },
    ]);
  });

  test('of an envelope with a number under the same name as its orders, with the list of these as records', async () => {
    const order = (id: string) =>
      `<Order><Id>${id}</Id><Lines><Line><Part>A</Part><Qty>1</Qty></Line></Lines></Order>`;
    const batch = (...of: string[]) =>
      `<Batch id="88"><Head><At>now</At></Head><Orders>${of.map(order).join('')}</Orders></Batch>`;
    const fields = {
      purchaseOrderNumber: 'Id',
      items: 'Lines',
      articleCode: 'Part',
      quantity: 'Qty',
    };
    for (const text of [batch('P-1', 'P-2'), batch('P-1')]) {
      const [held] = (await readText(text, mappingOf({ format: 'xml', fields }))).orders;
      const message = held?.valid === false ? held.problems[0]?.message : '';
      expect(message).toContain(
        'is the list of orders, name it in the mapping of the source: records: "Batch.Orders.Order"',
      );
    }
    const named = mappingOf({ format: 'xml', fields, records: 'Batch.Orders.Order' });
    expect((await readText(batch('P-1', 'P-2'), named)).orders).toMatchObject([
      { number: 'P-1' },
      { number: 'P-2' },
    ]);
  });

  test('only for items with another number: not for those that repeat that of the order, or where another field has that name', async () => {
    const same = {
      ...envelope,
      data: { orders: [{ ...item, purchaseOrderNumber: 'EX-1' }, item] },
    };
    const { orders } = await readText(JSON.stringify(same), mappingOf({ fields: around }));
    expect(orders).toMatchObject([{ number: 'EX-1', valid: true }]);
    const other = mappingOf({ fields: { ...around, articleCode: 'purchaseOrderNumber' } });
    expect((await readText(JSON.stringify(envelope), other)).orders).toMatchObject([
      { number: 'EX-1', valid: true },
    ]);
    const mixed = { ...envelope, data: { orders: [...envelope.data.orders, item] } };
    const [held] = (await readText(JSON.stringify(mixed), mappingOf({ fields: around }))).orders;
    expect(
      held?.valid === false && held.problems.map(({ message }) => message.includes('records')),
    ).toEqual([false, false]);
  });

  test('whose items have the number of something else under the standard name, until a person confirms it or the mapping allows it', async () => {
    const text = JSON.stringify([
      { po: 'P-1', lines: [{ ...item, purchaseOrderNumber: 'CUSTOMER-7' }] },
    ]);
    const settings = { fields: { purchaseOrderNumber: 'po', items: 'lines' } };
    const exit =
      'write confirmed into _error_check of the fix file. For your operator: if it never is, set otherReadings: allow';
    const problem = { code: 'other-order', message: expect.stringContaining(exit) };
    expect((await readText(text, mappingOf(settings))).orders).toMatchObject([
      { valid: false, problems: [problem] },
    ]);
    const allowed = await readText(text, mappingOf({ ...settings, otherReadings: 'allow' }));
    expect(allowed.orders).toMatchObject([{ number: 'P-1', valid: true }]);
    const read = mappingOf({
      ...settings,
      fields: { ...settings.fields, purchaseOrderNumber: ['po', 'purchaseOrderNumber'] },
      otherReadings: 'allow',
    });
    expect((await readText(text, read)).orders).toMatchObject([
      { valid: false, problems: [{ code: 'other-order' }] },
    ]);
  });

  test('that has a number and items beside a list of other orders, and neither list is named as records', async () => {
    const value = [
      { poNumber: 'P-1', orderLines: [item], deliveries: [{ ...item, orderNumber: 'D-1' }] },
    ];
    const [held] = (await readText(JSON.stringify(value))).orders;
    const messages =
      held?.valid === false ? held.problems.map(({ message }) => message).join('\n') : '';
    expect(messages).toContain('if "poNumber" is the order number');
    expect(messages).not.toContain('records:');
  });

  test('with an order element in it', async () => {
    const line = '<items><item><articleCode>A</articleCode><quantity>1</quantity></item></items>';
    const numbered = (number: string, more = '') =>
      `<order><purchaseOrderNumber>${number}</purchaseOrderNumber>${line}${more}</order>`;
    const { orders } = await readText(
      `<orders>${numbered('1', numbered('2'))}${numbered('3')}</orders>`,
    );
    expect(orders).toMatchObject([
      { number: '1', valid: false, problems: [{ code: 'nested' }] },
      { number: '3', valid: true },
    ]);
  });
});

describe('records', () => {
  const deep = (list: object[]) =>
    JSON.stringify({ meta: { orders: [1] }, data: { Orders: list }, errors: [] });

  test('leads to the list of orders', async () => {
    expect(
      (await ordersIn(deep([order('1', ['A', 1])]), { records: 'data.orders' })).orders,
    ).toEqual([order('1', ['A', 1])]);
  });

  test('leads through every element of an array with *', async () => {
    const page = (number: string) => ({ orders: [order(number, ['A', 1])] });
    const text = JSON.stringify({ data: [page('1'), page('2'), { orders: [] }] });
    const { orders, warnings } = await ordersIn(text, { records: 'data.*.orders' });
    expect(orders).toEqual([order('1', ['A', 1]), order('2', ['A', 1])]);
    expect(warnings).toEqual([]);
  });

  test('may lead to a single order', async () => {
    const text = JSON.stringify({ body: { order: order('1', ['A', 1]) } });
    expect((await ordersIn(text, { records: 'body.order' })).orders).toEqual([
      order('1', ['A', 1]),
    ]);
  });

  test('warns of a next page', async () => {
    const text = JSON.stringify({
      '@odata.nextLink': 'https://x',
      value: [order('1', ['A', 1])],
      other: [1],
    });
    const { orders, warnings } = await ordersIn(text, { records: 'value' });
    expect([orders, warnings]).toEqual([
      [order('1', ['A', 1])],
      [expect.stringContaining('next page')],
    ]);
  });

  test.each([
    [
      'data.lines',
      '{"data":{"order":[],"at":1}}',
      /data\.lines leads to no orders; \/data has "order", "at"/,
    ],
    ['orders', '[{"orders":[]}]', /the file is a list: write \* there/],
    ['a.b', '{"a":{}}', /\/a is empty/],
    ['a.b', '{"c":1,"d":{}}', /the file has "c", "d"/],
  ])(
    '%s that does not exist in %s is refused with the keys that are there',
    async (records, text, message) => {
      await expect(readText(text, mappingOf({ records }))).rejects.toMatchObject({
        code: 'unreadable-records',
        message: expect.stringMatching(message),
      });
    },
  );

  test('that fits two keys is refused', async () => {
    const why = await whyUnreadable(
      '{"Orders":[],\n"orders":[]}',
      mappingOf({ records: 'orders' }),
    );
    expect(why).toMatchObject({ code: 'unreadable-json-shape', line: 1 });
  });

  test('passes over any amount of other data', async () => {
    const beside = JSON.stringify({ log: Array.from({ length: 200_000 }, (_, i) => i) });
    const text = `{"beside":${beside},"orders":[${JSON.stringify(order('1', ['A', 1]))}]}`;
    expect((await ordersIn(text, { records: 'orders' })).orders).toEqual([order('1', ['A', 1])]);
  });
});

test('rows of one order around something that is no object are one order, and it is held', async () => {
  const row = (article: string) => ({
    purchaseOrderNumber: 'A',
    articleCode: article,
    quantity: 1,
  });
  const { inspection, orders } = await readText(JSON.stringify([row('X'), 5, row('Y')]));
  expect(inspection.orders).toBe(2);
  expect(inShort(orders)).toEqual([{ '': ['1 not-an-object'] }, { A: ['1 row-in-doubt'] }]);
});

describe('orders that are marked as cancelled', () => {
  const of = (number: string, rest: object = {}, item: object = {}) => ({
    purchaseOrderNumber: number,
    items: [{ articleCode: 'A', quantity: 1, ...item }],
    ...rest,
  });

  test.each([
    { status: 'cancelled' },
    { orderStatus: 'Storniert am 3.' },
    { cancelled: true },
    { cancelled_at: '2026-11-21' },
    { isDeleted: 1 },
    { action: 'delete' },
    { draft: true },
    { active: false },
    { type: 'return' },
    { note: 'do not order' },
  ])('by %j are held, and so are those with such an item', async (rest) => {
    const { orders } = await ordersIn(array([of('1'), of('2', rest), of('3', {}, rest)]));
    const [key] = Object.keys(rest);
    expect(orders).toEqual([
      order('1', ['A', 1]),
      { 2: [`3 ${key} called-off`] },
      { 3: [`4 ${key} called-off`] },
    ]);
    const rows = await ordersIn(array([row('1', 'A', 1), row('2', 'A', 1, rest)]));
    expect(rows.orders).toEqual([order('1', ['A', 1]), { 2: [`3 ${key} called-off`] }]);
    expect((await ordersIn(array([of('1', rest)]), { otherReadings: 'allow' })).orders).toEqual([
      order('1', ['A', 1]),
    ]);
  });

  test.each([
    { status: 'open' },
    { status: null, cancelled: '0,000', cancelled_at: null, deleted: 0 },
    { status: 'not cancelled', name: 'cancelled' },
    { draft: false, active: true, type: 'order', note: 'urgent', unit: 'pcs' },
    { deleted: 'f', cancelled: 'Nee', isCancelled: 'N/A' },
    { cancelled_at: '0001-01-01T00:00:00', deletedOn: '9999-12-31', deleted_at: '\\N' },
  ])('are not those with %j', async (rest) => {
    expect((await ordersIn(array([of('1', rest)]))).orders).toEqual([order('1', ['A', 1])]);
  });

  test('are not those whose item has a unit of several pieces, which are held for their quantity', async () => {
    const orders = [
      of('1', {}, { unit: 'DZ' }),
      of('2', {}, { newQuantity: 5 }),
      of('3', {}, { unit: 'ST' }),
    ];
    expect((await ordersIn(array(orders))).orders).toEqual([
      { 1: ['2 unit other-value'] },
      { 2: ['3 newQuantity other-value'] },
      order('3', ['A', 1]),
    ]);
  });

  test.each([
    [{ status: { id: 5, code: 'CANCELLED', name: 'cancelled' } }, 'status.code'],
    [{ status: ['CANCELLED'] }, 'status.0'],
    [{ header: { status: 'CANCELLED' } }, 'header.status'],
    [{ meta: { header: { cancelledAt: '2026-03-05' } } }, 'meta.header.cancelledAt'],
    [{ audit: { deletedAt: '2026-03-05' } }, 'audit.deletedAt'],
    [{ lifecycle: { state: 'DRAFT' } }, 'lifecycle.state'],
    [{ cancellation: { date: '2026-03-05', reason: 'no budget' } }, 'cancellation.date'],
    [{ flags: { deleted: true } }, 'flags.deleted'],
    [{ state: { name: 'delivered' } }, 'state.name'],
    [{ status: { cancelled: true } }, 'status.cancelled'],
    [{ status: { current: { description: 'Cancelled' } } }, 'status.current.description'],
    [{ status: [{ code: 'CANCELLED' }] }, 'status.0.code'],
    [{ status: { id: 'H', refName: 'Closed' } }, 'status.refName'],
    [{ statusCode: 'CANCELLED' }, 'statusCode'],
    [{ header: [{ status: 'CANCELLED' }] }, 'header.0.status'],
    [{ details: { status: 'CANCELLED' } }, 'details.status'],
    [{ cancelledBy: { id: 5, email: 'a@example.com' } }, 'cancelledBy.id'],
    [{ approval: { approved: false } }, 'approval.approved'],
    [{ comments: ['hello', { text: 'do not order' }] }, 'comments.1.text'],
    [{ type: 'delete' }, 'type'],
    [{ PurchasingDocumentDeletionCode: 'L' }, 'PurchasingDocumentDeletionCode'],
    [{ isReturnsItem: true }, 'isReturnsItem'],
  ])('are not those that say so in an object or a list: %j', async (rest, name) => {
    expect((await ordersIn(array([of('1', rest)]))).orders).toEqual([
      { 1: [`2 ${name} called-off`] },
    ]);
    expect((await ordersIn(array([of('1', {}, rest)]))).orders).toEqual([
      { 1: [`2 ${name} called-off`] },
    ]);
    const never = { calledOff: { [name]: 'never' as const } };
    expect((await ordersIn(array([of('1', rest)]), never)).orders).toEqual([order('1', ['A', 1])]);
  });

  test.each([
    {
      status: { code: 'OPEN', id: 5 },
      cancellation: { allowed: true, date: null },
      flags: { deleted: false },
    },
    { customer: { status: 'inactive', deleted: true }, payment: { status: { code: 'pending' } } },
    { product: { status: 'inactive' }, statuses: ['open', 'cancelled'], unit: { code: 'PCE' } },
    {
      unit: { key: 2, name: 'piece' },
      approval: { active: false, approved: null },
      status: { deleted: false, id: 5 },
    },
    {
      paymentStatusCode: 'completed',
      comments: ['hello', 'thanks'],
      statuses: [{ code: 'cancelled' }],
    },
    { state: { code: 'BY', name: 'Bavaria' }, a: { b: { c: { status: 'cancelled' } } } },
  ])('are those with %j', async (rest) => {
    expect((await ordersIn(array([of('1', rest, rest)]))).orders).toEqual([order('1', ['A', 1])]);
  });

  test.each([
    [{ unit: { code: 'BX', factor: 12 } }, 'unit.factor'],
    [{ unit: { symbol: 'DZ' } }, 'unit.symbol'],
    [{ unit: { value: 6, name: 'piece' } }, 'unit.value'],
    [{ unitOfMeasureCode: 'DZ' }, 'unitOfMeasureCode'],
    [{ PurchaseOrderQuantityUnit: 'DZN' }, 'PurchaseOrderQuantityUnit'],
    [{ PurchaseUnitSymbol: 'dz' }, 'PurchaseUnitSymbol'],
    [{ MENEE: 'DZN' }, 'MENEE'],
    [{ itemDetail: { unitOfMeasure: 'DZN' } }, 'itemDetail.unitOfMeasure'],
  ])('are not those with an item in another unit: %j', async (rest, name) => {
    expect((await ordersIn(array([of('1', {}, rest)]))).orders).toEqual([
      { 1: [`2 ${name} other-value`] },
    ]);
  });

  test('are held once for the only item of a list with the name of a group, and sent where it repeats its quantity', async () => {
    const fields = { items: 'details' };
    const detailed = (more: object) => [
      { purchaseOrderNumber: '1', details: [{ articleCode: 'A', quantity: 2, ...more }] },
    ];
    const held = await ordersIn(array(detailed({ status: 'cancelled' })), { fields });
    expect(held.orders).toEqual([{ 1: ['2 status called-off'] }]);
    expect((await ordersIn(array(detailed({ newQuantity: 2 })), { fields })).orders).toEqual([
      order('1', ['A', 2]),
    ]);
  });

  test('are those in whose page of items a mark says that there are no more pages', async () => {
    const fields = { items: 'OrderItems.records' };
    const records = [{ articleCode: 'A', quantity: 1 }];
    const paged = (more: object) => [
      { purchaseOrderNumber: '1', OrderItems: { totalSize: 1, done: true, records, ...more } },
    ];
    expect((await ordersIn(array(paged({})), { fields })).orders).toEqual([order('1', ['A', 1])]);
    expect((await ordersIn(array(paged({ deleted: true })), { fields })).orders).toEqual([
      { 1: ['2 OrderItems.deleted called-off'] },
    ]);
  });

  test('are not those whose own mark is beside their list of items, which is no page', async () => {
    const fields = { purchaseOrderNumber: 'order.no', items: 'order.items' };
    const text = array([
      { order: { no: '1', done: true, items: [{ articleCode: 'A', quantity: 1 }] } },
    ]);
    expect((await ordersIn(text, { fields })).orders).toEqual([{ 1: ['2 order.done called-off'] }]);
  });

  test('are those whose unit has a number as its key', async () => {
    const items = [{ articleCode: 'A', quantity: 1, unit: { id: 100 } }];
    expect((await ordersIn(array([{ purchaseOrderNumber: '1', items }]))).orders).toEqual([
      order('1', ['A', 1]),
    ]);
  });

  test('are those whose article has attributes that would say something about an order', async () => {
    const article = { attributes: { type: 'return', unit: 'DZ' }, properties: { status: 'draft' } };
    expect((await ordersIn(array([of('1', {}, article)]))).orders).toEqual([order('1', ['A', 1])]);
    expect((await ordersIn(array([of('1', article)]))).orders).toMatchObject([
      { 1: { length: 3 } },
    ]);
  });

  test('are not those that say so beside a number, a list or a quantity that is deeper', async () => {
    const mapping = {
      fields: {
        purchaseOrderNumber: 'doc.no',
        items: 'body.rows',
        articleCode: 'code',
        quantity: 'qty.value',
      },
    };
    const deep = (no: string, doc: object, body: object, qty: object) => ({
      doc: { no, ...doc },
      body: { rows: [{ code: 'A', qty: { value: 1, ...qty } }], ...body },
    });
    const said = [deep('2', { status: 'void' }, {}, {}), deep('3', {}, { deleted: true }, {})];
    const text = array([
      deep('1', {}, {}, { unit: 'PCE' }),
      ...said,
      deep('4', {}, {}, { unit: 'DZ' }),
    ]);
    expect((await ordersIn(text, mapping)).orders).toEqual([
      order('1', ['A', 1]),
      { 2: ['3 doc.status called-off'] },
      { 3: ['4 body.deleted called-off'] },
      { 4: ['5 qty.unit other-value'] },
    ]);
  });

  test('no longer need a person when a fix file confirms them', async () => {
    const fixed = of('1', { status: 'cancelled', _error_line: 1, _error_check: 'confirmed' });
    expect((await ordersIn(array([fixed]))).orders).toEqual([order('1', ['A', 1])]);
  });
});

test.each([
  ['itemCount', 3, false],
  ['line_count', '1', false],
  ['numberOfItems', 2, true],
  ['totalItemCount', 5, true],
  ['count', 3, true],
])(
  'an order with %s %j beside two items and a sum of five is sent: %j',
  async (key, count, isSent) => {
    const items = [
      { articleCode: 'A', quantity: 2 },
      { articleCode: 'B', quantity: 3 },
    ];
    const { orders } = await ordersIn(array([{ purchaseOrderNumber: '1', [key]: count, items }]));
    expect(orders).toEqual(
      isSent ? [order('1', ['A', 2], ['B', 3])] : [{ 1: ['2 items not-a-list'] }],
    );
  },
);

describe('numbers of orders with items that were probably typed differently', () => {
  const withItems = (number: unknown, quantity = 1) => ({
    purchaseOrderNumber: number,
    items: [{ articleCode: 'A', quantity }],
  });

  test.each([
    ['PO-7a', 'PO-7A'],
    ['PO 7', 'PO-7'],
    ['007', 7],
    ['#7', '7'],
  ])('such as %j and %j are held, the others are sent', async (one, other) => {
    const list = [withItems(one), withItems('8'), withItems(other, 2)];
    const held = {
      orders: [
        { [one]: ['2 row-in-doubt'] },
        order('8', ['A', 1]),
        { [other]: ['4 row-in-doubt'] },
      ],
    };
    expect(await ordersIn(array(list))).toMatchObject(held);
    const { orders } = await ordersIn(array(list), { otherReadings: 'allow' });
    expect(orders).toEqual([
      order(String(one), ['A', 1]),
      order('8', ['A', 1]),
      order(String(other), ['A', 2]),
    ]);
  });

  test('are not in doubt in a fix file, in which a person has seen them', async () => {
    const orders = [withItems('PO-7a'), withItems('PO-7A')];
    const rows = [row('PO-7a', 'A', 1), row('PO-7A', 'A', 1)];
    for (const list of [orders, rows]) {
      const fixed = list.map((one, i) => ({
        ...one,
        _error_line: i + 1,
        _error_check: 'confirmed',
      }));
      expect((await ordersIn(array(fixed))).orders).toEqual([
        order('PO-7a', ['A', 1]),
        order('PO-7A', ['A', 1]),
      ]);
    }
  });
});

describe('JSON that is valid UTF-8 although the mapping sets a single-byte encoding', () => {
  const SAYS = (encoding: string) =>
    `The mapping sets encoding: ${encoding}, but the file is UTF-8`;

  test.each([
    ['an array', array],
    ['one object after the other', lines],
  ])(
    'is read as UTF-8 with a warning when three different letters show it: %s',
    async (_, write) => {
      const text = write([row('Größe-Ä', 'Öl-5', 1), row('2', 'B', 'zwölf')]);
      for (const encoding of ['iso-8859-1', 'windows-1250', 'cp850']) {
        const { inspection, orders } = await readText(text, mappingOf({ encoding }));
        expect(inShort(orders)).toEqual([
          order('Größe-Ä', ['Öl-5', 1]),
          { 2: [expect.stringContaining('not-a-number')] },
        ]);
        expect(JSON.stringify(orders)).toContain('zwölf');
        expect(inspection.shape.format.encoding).toBe('utf-8');
        expect(inspection.warnings).toEqual([expect.stringContaining(SAYS(encoding))]);
      }
    },
  );

  test('holds orders with such letters under both readings when fewer letters show it', async () => {
    const items = [{ articleCode: 'Öl-5', quantity: 1 }];
    for (const list of [
      [row('1', 'Öl-5', 1), row('2', 'B', 'zwölf')],
      [{ purchaseOrderNumber: '1', items }],
    ]) {
      const { inspection, orders } = await readText(
        array(list),
        mappingOf({ encoding: 'windows-1252' }),
      );
      expect(inShort(orders)[0]).toEqual({ 1: ['2 articleCode encoding-unsure'] });
      const messages = orders
        .flatMap((one) => (one.valid ? [] : one.problems.map(({ message }) => message)))
        .join();
      expect(messages).toContain('can be read as Öl-5 (utf-8) · Ã–l-5 (windows-1252), because');
      expect(messages).not.toContain('zwÃ¶lf');
      expect(inspection.warnings).toEqual([expect.stringContaining('Few letters show it')]);
    }
  });

  test('sends nothing that may be of the encoding in the mapping', async () => {
    // In windows-1250 the letters ÓŻ are also one Cyrillic letter of UTF-8.
    const text = array([1, 2, 3, 4].map((number) => row(String(number), 'R\xd3\xafA', 1)));
    const { orders } = await readText(
      Buffer.from(text, 'latin1'),
      mappingOf({ encoding: 'windows-1250' }),
    );
    expect(orders.map(({ valid }) => valid)).toEqual([false, false, false, false]);
    expect(JSON.stringify(orders)).toContain('RÓŻA (windows-1250)');
  });

  test('does not affect JSON with other bytes, and no other format', async () => {
    const mapping = mappingOf({ encoding: 'iso-8859-1' });
    const latin = Buffer.from(array([row('Größe', 'Öl-Ã¤', 1)]), 'latin1');
    const { orders, inspection } = await readText(latin, mapping);
    expect([inspection.shape.format.encoding, inspection.warnings]).toEqual(['iso-8859-1', []]);
    expect(orders[0]).toMatchObject({ number: 'Größe' });
    const table = 'purchaseOrderNumber,articleCode,quantity\nGrößeÄ,Öl,1\n';
    const held = await readText(table, mapping);
    expect([held.inspection.shape.format.encoding, held.orders[0]?.valid]).toEqual([
      'iso-8859-1',
      false,
    ]);
  });
});

test('the message for an ambiguous quantity names the .xlsx form of the fix file only for tables, which have one', async () => {
  const [first] = (
    await readText('[{"purchaseOrderNumber":"1","items":[{"articleCode":"A","quantity":"1.000"}]}]')
  ).orders;
  expect(first?.valid === false && first.problems[0]?.message).toBe(
    '"1.000" can be read in two ways; enter 1000 or 1: confirmed does not say which one. For your operator: with decimal: "," in the mapping of the source, it is 1000; with decimal: ".", it is 1',
  );
  const xml =
    '<orders><order><purchaseOrderNumber>1</purchaseOrderNumber><items><item articleCode="A" quantity="1.000"/></items></order></orders>';
  const [other] = (await readText(xml)).orders;
  expect(other?.valid === false && other.problems[0]?.message).not.toContain('xlsx');
});

describe('objects with a value of skipWhere', () => {
  const skipWhere = { 'header.status': 'DRAFT', deleted: true };
  const header = (status: string) => ({ header: { status } });
  const items = [{ articleCode: 'A', quantity: 1 }];
  const read = (value: unknown, more: object = {}) =>
    readText(JSON.stringify(value), mappingOf({ skipWhere, ...more }));

  test('are left out, whether they are orders or rows, and counted in a warning', async () => {
    const nested = [
      { purchaseOrderNumber: '1', items, ...header('RELEASED') },
      { purchaseOrderNumber: '2', items, ...header(' DRAFT ') },
      { purchaseOrderNumber: '3', items, ...header('draft') },
      { purchaseOrderNumber: '4', items, deleted: true },
    ];
    const { orders, inspection } = await read(
      { count: 4, orders: nested },
      { otherReadings: 'allow' },
    );
    expect(inShort(orders)).toEqual([order('1', ['A', 1]), order('3', ['A', 1])]);
    expect(inspection).toMatchObject({
      records: 2,
      orders: 2,
      warnings: ['2 objects that match skipWhere were skipped.'],
    });

    const flat = [
      { ...row('1', 'A', 1), deleted: false },
      { ...row('1', 'B', 1), deleted: true },
      { ...row('2', 'A', 1), deleted: true },
    ];
    const rows = await read(flat);
    expect(inShort(rows.orders)).toEqual([order('1', ['A', 1])]);
    expect(rows.inspection.warnings).toEqual([
      '2 objects that match skipWhere were skipped.',
      'skipWhere names "header.status", which this file does not have, or has more than once.',
      'Only some rows of these orders were skipped, and the others count as the complete order: "1".',
    ]);
  });

  test('are left out if they do not have one of onlyWhere, and no file without its key is read', async () => {
    const only = { skipWhere: {}, onlyWhere: { 'header.status': 'OPEN' } };
    const nested = [
      { purchaseOrderNumber: '1', items, ...header('OPEN') },
      { purchaseOrderNumber: '2', items, ...header('DELIVERED') },
      { purchaseOrderNumber: '3', items },
    ];
    const { orders, inspection } = await read(nested, only);
    expect(inShort(orders)).toEqual([order('1', ['A', 1])]);
    expect(inspection.warnings).toEqual([
      '2 objects without a value of onlyWhere were skipped: "DELIVERED" 1, (empty) 1.',
    ]);
    const flat = [{ ...row('1', 'A', 1), ...header('OPEN') }, row('1', 'B', 1), row('2', 'A', 1)];
    expect(inShort((await read(flat, only)).orders)).toEqual([order('1', ['A', 1], ['B', 1])]);
    await expect(read(nested.slice(2), only)).rejects.toMatchObject({
      code: 'unreadable-column-missing',
      message: expect.stringContaining(
        'onlyWhere in the mapping names "header.status", which this file does not have',
      ),
    });
  });

  test('may be all of a file, beside an empty list', async () => {
    const { orders } = await read({
      errors: [],
      orders: [{ purchaseOrderNumber: '2', items, ...header('DRAFT') }],
    });
    expect(orders).toEqual([]);
  });

  test('do not pass the number above them on to a row without one', async () => {
    const flat = [row('1', 'A', 1), { ...row('2', 'B', 1), deleted: true }, row('', 'C', 1)];
    const { orders } = await read(flat, { fillDown: true });
    expect(orders.map(({ number, valid, records }) => [number, valid, records.length])).toEqual([
      ['1', false, 1],
      ['', false, 1],
    ]);
  });

  test('are left out of XML, where an element or an attribute has the value', async () => {
    const text = `<orders>
      <order status="DRAFT"><purchaseOrderNumber>1</purchaseOrderNumber><items><item articleCode="A" quantity="1"/></items></order>
      <order><status>DRAFT</status><purchaseOrderNumber>2</purchaseOrderNumber><items><item articleCode="A" quantity="1"/></items></order>
      <order status="RELEASED"><purchaseOrderNumber>3</purchaseOrderNumber><items><item articleCode="A" quantity="1"/></items></order>
    </orders>`;
    const { orders, inspection } = await readText(
      text,
      mappingOf({ skipWhere: { status: 'DRAFT' } }),
    );
    expect(inShort(orders)).toEqual([order('3', ['A', 1])]);
    expect(inspection.warnings).toEqual(['2 objects that match skipWhere were skipped.']);
  });
});

test.each([
  [
    '5.000',
    'enter 5000 or 5:',
    'with decimal: "," in the mapping of the source, it is 5000; with decimal: ".", it is 5',
  ],
  [
    '1,250',
    'enter 1250 or, if fractions are allowed, 1.25:',
    'with decimal: "." in the mapping of the source, it is 1250; with decimal: ",", it is 1.25',
  ],
])(
  'the message for the quantity %s names both readings, each with its setting',
  async (quantity, enter, settings) => {
    const text = JSON.stringify([
      { purchaseOrderNumber: '1', items: [{ articleCode: 'A', quantity }] },
    ]);
    const [first] = (await readText(text, mappingOf({ quantity: 'number' }))).orders;
    const message = first?.valid === false ? first.problems[0]?.message : undefined;
    expect(message).toContain(enter);
    expect(message).toContain(settings);
  },
);
