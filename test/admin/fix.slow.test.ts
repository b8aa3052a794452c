import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Closed } from '../../src/order/dead-letter.ts';
import { type Operator, openOperator } from '../support/operator.ts';
import { plain } from '../support/plain.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';

const COLUMNS = ['purchaseOrderNumber', 'orderState', 'articleCode', 'quantity']
  .map((name) => `${name}: { is: ${name} }`)
  .join(', ');
const SOURCE = `- { name: inbox, type: inbox, path: inbox, mapping: own, stable: 100ms, poll: 100ms }
mappings:
  own: { columns: { ${COLUMNS}, note: ignore } }`;

let place: Workplace;
let person: Operator;

type Row = { row: number; line: number; cells: Record<string, string> };
type Rows = { revision: number; rows: Row[]; problems: { field: string }[] };

beforeAll(async () => {
  const refusal = { kind: 'answer', status: 400, message: 'articleCode X-9 is invalid' };
  const faults = [
    { ...refusal, orders: ['PO-3'] },
    { ...refusal, orders: ['PO-91'], articles: ['X-9'] },
  ];
  place = await openWorkplace({ faults: { faults }, source: SOURCE });
  person = await openOperator(place, place.start(['start']));
});
afterAll(() => place[Symbol.asyncDispose]());

/** Drops a file, waits for its report, and returns the ids of its dead letters by order number. */
async function drop(name: string, content: string | Buffer): Promise<Map<string, string>> {
  const before = (await place.reportsNow()).length;
  await place.drop(name, content);
  const report = await until('the report', async () => {
    const reports = await place.reportsNow();
    return reports.length > before
      ? reports.find(({ file, finishedAt }) => file === name && finishedAt)
      : undefined;
  });
  return await until('the dead letters', async () => {
    const { body } = await person.call('GET', `/dead-letters/list?batch=${report.batch}`);
    const items = (body['deadLetters'] ?? []) as { id: string; purchaseOrderNumber: string }[];
    return items.length === report.open && items.every(({ id }) => !id.includes('#'))
      ? new Map(items.map(({ id, purchaseOrderNumber }) => [purchaseOrderNumber, id]))
      : undefined;
  });
}

const pathOf = (id: string | undefined) => `/dead-letters/${encodeURIComponent(id ?? '')}`;

async function rowsOf(id: string | undefined): Promise<Rows> {
  return await until('its rows', async () => {
    const { body } = await shown(id);
    return (body['rows'] as Row[] | undefined)?.length ? (body as unknown as Rows) : undefined;
  });
}

const shown = (id = '') => person.call('GET', `/dead-letters/show?id=${encodeURIComponent(id)}`);
const correct = (id: string | undefined, given: object) =>
  person.call('POST', '/dead-letters/correct', { id, ...given });

/** The rows with some of their values replaced by name. */
function changed({ rows }: Rows, values: Record<string, string>) {
  return rows.map(({ row }) => ({ row, cells: values }));
}

it('a corrected cell is checked, sent as a fix file, accepted, and closes the dead letter with its author', async () => {
  const id = (
    await drop('orders.csv', `${HEAD},note\nPO-1,NEW,B,none,"=1+1, ""a"""\nPO-1,NEW,C,2,x\n`)
  ).get('PO-1');
  const rows = await rowsOf(id);
  expect(rows.rows.map(({ line }) => line)).toEqual([2, 3]);
  expect(Object.values(rows.rows[0]?.cells ?? {})).toEqual([
    'PO-1',
    'NEW',
    'B',
    'none',
    '=1+1, "a"',
  ]);
  expect(rows.problems).toMatchObject([{ field: 'quantity' }]);

  const dry = await correct(id, {
    rows: changed(rows, { quantity: '0' }),
    dryRun: true,
  });
  expect(dry.body).toMatchObject({
    sent: false,
    isReady: false,
    orders: [{ number: 'PO-1', verdict: 'invalid' }],
  });
  expect(dry.body['orders']).toMatchObject([
    { problems: [{ row: 0, field: 'quantity' }, { row: 1 }] },
  ]);

  const good = [{ row: 1, cells: { quantity: '7' } }];
  const sent = await correct(id, {
    revision: rows.revision,
    rows: good,
  });
  expect([sent.status, sent.body['sent']]).toEqual([200, true]);
  await until('the order', () => place.stored().get('PO-1') === 1);
  const letter = await until('the closing', async () => {
    const { body } = await shown(id);
    return body['closed'] === undefined ? undefined : body;
  });
  expect(letter['closed']).toMatchObject({ by: 'accepted', batch: sent.body['batch'] });
  const { body: late } = await correct(id, {
    revision: rows.revision,
    rows: good,
  });
  expect(late['message']).toMatch(
    /^PO-1 is settled already: accepted in \S*orders\.line-2\.correction/,
  );
  const { body: history } = await person.call('GET', '/explain?order=PO-1');
  expect(history['operatorActions']).toMatchObject([
    { what: 'corrected', who: expect.any(String) },
  ]);
  expect(place.stored().size).toBe(1);
});

it('an order that was given another number ends with that, and a discarded one shows it once', async () => {
  const ids = await drop('numbers.csv', `${HEAD}\nPO-41,NEW,A,none\nPO-42,NEW,A,none\n`);
  const rows = await rowsOf(ids.get('PO-41'));
  const body = {
    revision: rows.revision,
    rows: changed(rows, { quantity: '2', purchaseOrderNumber: 'PO-49' }),
  };
  expect((await correct(ids.get('PO-41'), body)).status).toBe(200);
  expect(
    (await person.call('POST', '/dead-letters/discard', { id: ids.get('PO-42') })).status,
  ).toBe(200);
  await until('the new order', () => place.stored().get('PO-49') === 1);
  const letter = await until('how it ended', async () => {
    const { body } = await shown(ids.get('PO-41'));
    return body['closed'] as Closed | undefined;
  });
  expect(letter).toMatchObject({ by: 'accepted', batch: expect.any(String) });
  const discarded = await until('the history of the discarded one', async () => {
    const { text } = await person.page('/order?number=PO-42');
    return text.includes('in numbers.csv (source inbox), line 3') ? text : undefined;
  });
  expect(discarded.match(/discarded by/g)).toHaveLength(1);
});

/** The fields of the correction form of a page, as a browser would send them. */
function fieldsIn(text: string): Record<string, string> {
  const [, form = ''] =
    /<form method="post" action="[^"]*\/fix#correct"[^>]*>(.*?)<\/form>/s.exec(text) ?? [];
  const inputs = [
    ...form.matchAll(/<input (?![^>]*checkbox)[^>]*?name="([^"]*)"(?: value="([^"]*)")?/g),
  ];
  return Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, plain(value)]));
}

it('the page checks and sends cells without JavaScript, keeps what was entered, and shows no markup of data', async () => {
  const evil = '<img src=x onerror=alert(1)>\u202e';
  const id = (await drop('evil.csv', `${HEAD},note\nPO-11,NEW,B,none,"${evil}"\n`)).get('PO-11');
  const { text } = await until('the page, once the lists are built', async () => {
    const found = await person.page(pathOf(id));
    return found.status === 200 && found;
  });
  expect(text).not.toMatch(/<img|\u202e/);
  const fields = fieldsIn(text);
  expect(fields['v.0.4']).toBe('<img src=x onerror=alert(1)>\\u202e');
  expect(text).toMatch(/name="v\.0\.3" value="none"[^>]* aria-invalid="true"/);

  const half = await person.submit(`${pathOf(id)}/fix`, { ...fields, 'v.0.3': '-1', do: 'send' });
  const again = await half.text();
  expect([
    half.status,
    fieldsIn(again)['v.0.3'],
    /was: none/.test(again),
    /Not sent/.test(again),
  ]).toEqual([422, '-1', true, true]);
  const checked = await person.submit(`${pathOf(id)}/fix`, {
    ...fields,
    'v.0.3': '3',
    do: 'check',
  });
  expect(await checked.text()).toContain('It can be sent.');
  expect(place.stored().has('PO-11')).toBe(false);
  const sent = await person.submit(`${pathOf(id)}/fix`, { ...fields, 'v.0.3': '3', do: 'send' });
  expect(sent.status).toBe(303);
  // To an address with a fragment, which the form has, a browser would only scroll.
  const next = await fetch(`http://127.0.0.1:${person.port}${sent.headers.get('location')}`, {
    headers: { cookie: person.cookie },
  });
  expect(next.headers.get('refresh') ?? `1; url=${pathOf(id)}`).toBe(`1; url=${pathOf(id)}`);
  await until('the closing', async () => {
    const page = (await person.page(pathOf(id))).text;
    return page.includes('Settled: accepted') && !page.includes('is being sent');
  });
  // The note came back as it was, without the escape that the page shows.
  const report = await until('its report', async () =>
    (await place.reportsNow()).find(({ file }) => file === 'evil.line-2.correction.json'),
  );
  expect(report).toMatchObject({
    state: 'finished',
    counts: { accepted: 1, orders: 1 },
    source: 'inbox',
  });
});

it('a row that an order lacks is added in the form, and is sent with it', async () => {
  const id = (await drop('lacks.csv', `${HEAD},note\nPO-51,NEW,A,none,x\n`)).get('PO-51');
  const fields = fieldsIn((await person.page(pathOf(id))).text);
  expect([fields['v.1.0'], fields['v.1.2']]).toEqual(['PO-51', '']);
  const now = { ...fields, 'v.0.3': '4', 'v.1.1': 'NEW', 'v.1.2': 'B', 'v.1.3': '5' };
  const others = Array.from({ length: 50 }, (_, i) => [
    [`v.${i + 2}.0`, 'PO-51'],
    [`v.${i + 2}.2`, `C-${i}`],
  ]);
  const many = { ...now, ...Object.fromEntries(others.flat()), do: 'send' };
  const refused = await (await person.submit(`${pathOf(id)}/fix`, many)).text();
  expect(refused).toContain('Not sent. More than 50 rows are added.');
  expect(fieldsIn(refused)['v.51.2']).toBe('C-49');
  const checked = await (await person.submit(`${pathOf(id)}/fix`, { ...now, do: 'check' })).text();
  expect(checked).toContain('It can be sent.');
  // There is room for another one, which is left out while it is empty.
  expect([fieldsIn(checked)['v.1.2'], fieldsIn(checked)['v.2.2']]).toEqual(['B', '']);
  expect((await person.submit(`${pathOf(id)}/fix`, { ...now, do: 'send' })).status).toBe(303);
  await until('the order', () => place.stored().get('PO-51') === 1);
});

it('a file that is dropped again: its form shows what was sent of it', async () => {
  const content = `${HEAD}\nPO-71,NEW,A,6 boxes\nPO-71,NEW,B,4\n`;
  const first = (await drop('sent.csv', content)).get('PO-71');
  const rows = await rowsOf(first);
  const sixth = [{ row: 1, cells: { quantity: '6' } }];
  const sent = await correct(first, {
    revision: rows.revision,
    rows: sixth,
  });
  expect(sent.body['sent']).toBe(true);
  await until('the order', () => place.stored().get('PO-71') === 1);
  await until('the closing', async () => (await shown(first)).body['closed']);

  const again = (await drop('sent-again.csv', content.replace('6 boxes', '9 boxes'))).get('PO-71');
  const { text } = await person.page(pathOf(again));
  const fields = fieldsIn(text);
  const check = async (values: Record<string, string>) =>
    plain(
      await (
        await person.submit(`${pathOf(again)}/fix`, { ...fields, ...values, do: 'check' })
      ).text(),
    );
  const other = await check({ 'v.0.3': '7' });
  expect(other).toMatch(
    /PO-71<\/a>: its history shows what has this number\. If this is the same order, discard it\./,
  );
  expect(other).not.toContain('Change the number');
});

it('of two people, and of a double submit, one sends; a stale page shows why not', async () => {
  const id = (await drop('two.csv', `${HEAD}\nPO-21,NEW,B,none\n`)).get('PO-21');
  const rows = await rowsOf(id);
  const body = { revision: rows.revision, rows: changed(rows, { quantity: '4' }) };
  const answers = await Promise.all([1, 2, 3].map(() => correct(id, body)));
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409, 409]);
  await until('the order', () => place.stored().get('PO-21'));
  const late = await person.submit(`${pathOf(id)}/fix`, {
    revision: String(rows.revision),
    'v.0.3': '9',
    do: 'send',
  });
  expect(late.status).toBe(409);
  expect(place.stored().get('PO-21')).toBe(1);
});

it('a correction that still needs a person closes the old dead letter and leads to the new one', async () => {
  const id = (await drop('again.csv', `${HEAD}\nPO-3,NEW,X-9,1\n`)).get('PO-3');
  const rows = await rowsOf(id);
  const sent = await correct(id, {
    revision: rows.revision,
    rows: changed(rows, { quantity: '2' }),
  });
  expect(sent.body['sent']).toBe(true);
  const next = await until('the result', async () => {
    const { body } = await person.call('GET', '/dead-letters/list?order=PO-3');
    const [one] = (body['deadLetters'] ?? []) as { id: string }[];
    return one === undefined || one.id === id || one.id.includes('#') ? undefined : one;
  });
  expect(next).toMatchObject({
    purchaseOrderNumber: 'PO-3',
    message: 'articleCode X-9 is invalid',
  });
  await until('the closing', async () => (await shown(id)).body['closed'] !== undefined);
  expect(Object.values((await rowsOf(next.id)).rows[0]?.cells ?? {})).toEqual([
    'PO-3',
    'NEW',
    'X-9',
    '2',
  ]);
  const old = await correct(id, { rows: [{ row: 1 }], dryRun: true });
  expect([old.status, old.body['code']]).toEqual([409, 'dead-letter-closed']);
  expect(old.body['message']).toMatch(/^PO-3 needs a person again in \S*again\.line-2\.correction/);
  // Each form of the order makes a file of the same name.
  const again = await rowsOf(next.id);
  const unchanged = { revision: again.revision, rows: changed(again, {}) };
  expect((await correct(next.id, unchanged)).body['sent']).toBe(true);
  const events = await until('the history of both files', async () => {
    const { text } = await person.page('/order?number=PO-3');
    const found = [...text.matchAll(/<tr>(.*?)<\/tr>/gs)].flatMap(([, row = '']) => {
      const shown = row.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
      return (
        /(?:UTC|Z) (corrected by|sent again unchanged by|in again\.line-2\.correction\.json \(.*?batch \S+)/.exec(
          shown,
        )?.[1] ?? []
      );
    });
    return found.length === 4 && found;
  });
  expect(events).toEqual([
    'corrected by',
    expect.stringContaining('in again.line-2'),
    'sent again unchanged by',
    expect.stringContaining('in again.line-2'),
  ]);
  expect(new Set(events).size).toBe(4);
});

it('a row is left out of an order, equal rows are sent as they are, and a row that was added is left out again', async () => {
  const content = `${HEAD}\nPO-171,NEW,A,1\nPO-171,NEW,B,5\nPO-171,NEW,B,5\n`;
  const id = (await drop('twice.csv', content)).get('PO-171');
  const path = `${pathOf(id)}/fix`;
  const { text } = await person.page(pathOf(id));
  expect(plain(text)).toContain('Leave this row out of the order');
  const fields = fieldsIn(text);
  const send = async (values: Record<string, string>) =>
    await (await person.submit(path, { ...fields, ...values })).text();
  const added = await send({ 'v.3.2': 'C', do: 'check' });
  expect([fieldsIn(added)['v.3.2'], fieldsIn(added)['v.4.2']]).toEqual(['C', '']);
  const left = await send({ 'v.3.2': 'C', 'out.3': 'leave', do: 'check' });
  expect([fieldsIn(left)['v.3.2'], fieldsIn(left)['v.4.2']]).toEqual(['', undefined]);
  expect(await send({ do: 'check' })).toContain('the row is equal to the one on line 3');
  const all = ['ok.0', 'ok.1', 'ok.2'].map((name) => [name, 'confirmed']);
  expect(await send({ ...Object.fromEntries(all), do: 'check' })).toContain('It can be sent.');
  const every = { 'out.0': 'leave', 'out.1': 'leave', 'out.2': 'leave' };
  expect(plain(await send({ ...every, do: 'check' }))).toContain('Every row is left out.');
  await person.submit(path, { ...fields, 'out.1': 'leave', do: 'send' });
  await until('the order', () => place.stored().get('PO-171') === 1);
  expect(await place.api.orders(await place.api.token())).toContainEqual(
    expect.objectContaining({
      purchaseOrderNumber: 'PO-171',
      items: [expect.objectContaining({ articleCode: 'A' }), { articleCode: 'B', quantity: 5 }],
    }),
  );
});

it('a row without a number joins the order that it is given in its own form, and settles with it', async () => {
  const ids = await drop('split.csv', `${HEAD}\nPO-95,NEW,C-5,5\n,NEW,H-3,4\nPO-96,NEW,C-6,1\n`);
  const nameless = pathOf(ids.get(''));
  const { text } = await person.page(nameless);
  const fields = { ...fieldsIn(text), 'v.0.0': 'PO-95' };
  expect(await (await person.submit(`${nameless}/fix`, { ...fields, do: 'check' })).text()).toMatch(
    /PO-95<\/a>: every check passes\. It can be sent\./,
  );
  await person.submit(`${nameless}/fix`, { ...fields, do: 'send' });
  await until(
    'both orders',
    () => place.stored().get('PO-95') === 1 && place.stored().has('PO-96'),
  );
  for (const number of ['', 'PO-95', 'PO-96'])
    await until(`the end of ${number}`, async () => (await shown(ids.get(number))).body['closed']);
  expect(await place.api.orders(await place.api.token())).toContainEqual(
    expect.objectContaining({
      purchaseOrderNumber: 'PO-95',
      items: expect.arrayContaining([
        { articleCode: 'C-5', quantity: 5 },
        { articleCode: 'H-3', quantity: 4 },
      ]),
    }),
  );
});

it('wrong corrections are refused with a code', async () => {
  const id = (await drop('wrong.csv', `${HEAD}\nPO-31,NEW,B,none\n`)).get('PO-31');
  for (const [body, code] of [
    [{}, 'parameter-wrong'],
    [{ rows: [{ row: 1, cells: { quantity: 1 } }] }, 'parameter-wrong'],
    [{ rows: [{ row: 1 }], revision: 7 }, 'dead-letter-changed'],
    [{ rows: [{ row: 2, cells: {} }], dryRun: true }, 'rows-invalid'],
    [{ rows: [{ row: 1 }], frob: 1 }, 'parameter-wrong'],
  ] as const) {
    expect((await correct(id, body)).body['code']).toBe(code);
  }
});

it('a dead letter of an export is corrected with the mapping of the export, without an inbox', async () => {
  const source =
    '- { name: erp, type: export, path: erp.csv, mapping: erp, stable: 100ms, poll: 200ms }\nmappings:\n  erp: { columns: { PO_NO: { is: purchaseOrderNumber }, MATNR: { is: articleCode }, MENGE: { is: quantity } } }';
  await using other = await openWorkplace({ source });
  const anna = await openOperator(other, other.start(['start']));
  await writeFile(path.join(other.folder, 'erp.csv'), 'PO_NO,MATNR,MENGE\nPO-1,B,none\n');
  const id = await until('the dead letter', async () => {
    const { body } = await anna.call('GET', '/dead-letters/list');
    return ((body['deadLetters'] ?? []) as { id: string }[]).find((one) => !one.id.includes('#'))
      ?.id;
  });
  const own = await until('its page, once the batch is finished', async () => {
    const { text } = await anna.page(`/dead-letters/${encodeURIComponent(id)}`);
    return text.includes('inbox or <a href="/upload">upload</a> it.') && text;
  });
  for (const text of [own, (await anna.page('/order')).text])
    expect(text).not.toContain('the inbox');
  const rows = [{ row: 1, cells: { MENGE: '5' } }];
  const sent = await until('the correction, once the batch is finished', async () => {
    const answer = await anna.call('POST', '/dead-letters/correct', { id, rows });
    return answer.body['code'] !== 'batch-in-progress' && answer;
  });
  expect(sent.body).toMatchObject({ sent: true, orders: [{ number: 'PO-1', verdict: 'new' }] });
  await until('the order', () => other.stored().get('PO-1'));
  const report = await until('the report', async () =>
    (await other.reportsNow()).find(
      ({ state, file }) => state === 'finished' && file === 'erp.line-2.correction.json',
    ),
  );
  expect(report.source).toBe('erp');
  await until(
    'the folder of handed-in files is empty',
    async () => (await readdir(path.join(other.folder, 'data', 'handed-in', 'erp'))).length === 0,
  );
});
