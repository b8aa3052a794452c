import { afterAll, beforeAll, expect, it } from 'vitest';
import { progressOf } from '../../src/admin/dashboard/plan-pages.ts';
import { type Operator, openOperator } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';
const REFUSED = ['PO-1', 'PO-2', 'PO-3'];

let place: Workplace;
let person: Operator;

beforeAll(async () => {
  const faults = [
    { kind: 'answer', status: 400, message: 'articleCode X is unknown', orders: REFUSED },
  ];
  place = await openWorkplace({ faults: { faults } });
  person = await openOperator(place, place.start(['start']));
  const rows = [
    ...REFUSED.map((number) => `${number},NEW,X,1`),
    'PO-4,NEW,A,none',
    'PO-5,NEW,A,none',
  ];
  await place.drop('orders.csv', `${[HEAD, ...rows].join('\n')}\n`);
  await until('the dead letters', async () => {
    const { body } = await person.call('GET', '/dead-letters');
    return body['total'] === 5 && !JSON.stringify(body['items']).includes('"line":0');
  });
});
afterAll(() => place[Symbol.asyncDispose]());

const run = (plan: Record<string, unknown>, expect = plan['count']) =>
  person.call('POST', `/plans/${String(plan['id'])}/run`, { expect });
const finished = (plan: Record<string, unknown>) =>
  until('the plan', async () => {
    const { body } = await person.call('GET', `/plans/${String(plan['id'])}`);
    return body['state'] === 'finished' ? body : undefined;
  });

it('orders that failed a check are not offered to be sent again as they are', async () => {
  const buttons = async (query: string) => {
    const { text } = await person.page(`/dead-letters${query}`);
    return ['>Send again…<', '>Discard…<'].map((one) => text.includes(one));
  };
  expect(await buttons('')).toEqual([true, true]);
  expect(await buttons('?kind=invalid')).toEqual([false, true]);
});

it('a plan counts what an action would do, and does nothing', async () => {
  const { status, body } = await person.call('POST', '/plans', { action: 'retry' });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    state: 'ready',
    total: 5,
    count: 3,
    counts: { retried: 3, invalid: 2 },
    listCheck: 'ok',
  });
  expect((await run(body, 5)).body).toMatchObject({
    code: 'plan-other-count',
    remedy: 'Send "expect":3 in the body to confirm.',
  });
  expect(place.stored().size).toBe(0);
});

it('running a plan does exactly what was planned, once, with a result for each', async () => {
  const { body: plan } = await person.call('POST', '/plans', { action: 'retry', q: 'PO-' });
  // One of them is discarded after the plan was made.
  await place.run(['dead-letters', 'discard', '--order', 'PO-3', '--yes']);
  const answers = await Promise.all([run(plan), run(plan)]);
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([202, 409]);
  const done = await finished(plan);
  const results = (done['items'] as { purchaseOrderNumber: string; result?: string }[]).map(
    (item) => [item.purchaseOrderNumber, item.result],
  );
  expect(results).toEqual([
    ['PO-1', 'retried'],
    ['PO-2', 'retried'],
    ['PO-3', 'settled'],
    ['PO-4', undefined],
    ['PO-5', undefined],
  ]);
  const actions = await Promise.all(
    REFUSED.map(
      async (number) =>
        (await person.call('GET', `/explain?order=${number}`)).body['operatorActions'],
    ),
  );
  expect(actions).toMatchObject([
    [{ what: 'retried' }],
    [{ what: 'retried' }],
    [{ what: 'discarded' }],
  ]);
});

it('the page plans and discards what the filter selects, without JavaScript', async () => {
  expect((await person.page('/dead-letters?q=po-5')).text).toContain(
    '<input type="hidden" name="q" value="po-5">',
  );
  const planned = await person.submit('/plans', {
    action: 'discard',
    q: 'po-5',
    back: '/dead-letters',
  });
  const to = planned.headers.get('location') ?? '';
  expect((await person.page(to)).text).toMatch(
    /<h1>Discard 1 order<.* A file that brings a discarded order again can send it: .*name="expect" value="1"/s,
  );
  await person.submit(`${to}/run`, { expect: '1' });
  await until('the result', async () => (await person.page(to)).text.includes('<h2>Results</h2>'));
  const done = await until('the record', async () => {
    const { text } = await person.page('/environment');
    return text.includes('1 discarded') && text;
  });
  expect(done).toMatch(/discard in bulk.*1 discarded.*discard in bulk.*1 order planned/s);
  await until('the list', async () => {
    const { body } = await person.call('GET', '/dead-letters?kind=invalid');
    return (
      (body['items'] as { purchaseOrderNumber: string }[])
        .map((item) => item.purchaseOrderNumber)
        .join() === 'PO-4'
    );
  });
});

it('a plan that runs says how many are done only from the first results on', () => {
  const plan = { action: 'discard' as const, count: 250, nameless: 50, done: 0 };
  expect(progressOf(plan)).toBe('Discarding 200 orders and 50 rows without an order number …');
  expect(progressOf({ ...plan, action: 'retry', nameless: 0 })).toBe('Sending 250 orders again …');
  expect(progressOf({ ...plan, done: 100 })).toBe('100 of 250');
});

it('orders that another file has are marked, listed alone, and discarded together; a plan shows items and columns', async () => {
  await place.drop('monday.csv', `${[HEAD, 'PO-20,NEW,A,1', 'PO-20,NEW,B,2'].join('\n')}\n`);
  await until('the order', () => place.stored().has('PO-20'));
  await place.drop(
    'again.csv',
    `${[HEAD, 'PO-20,NEW,A,none', 'PO-20,NEW,B,2', 'PO-21,NEW,<b>,none'].join('\n')}\n`,
  );
  const marked = await until('the mark', async () => {
    const { body } = await person.call('GET', '/dead-letters?already=true');
    return body['total'] === 1 && !JSON.stringify(body['items']).includes('"line":0') && body;
  });
  const already = 'this number is already accepted from "monday.csv", as A × 1, B × 2';
  expect(marked).toMatchObject({ already: 1, items: [{ purchaseOrderNumber: 'PO-20', already }] });
  expect((await person.call('GET', '/dead-letters')).body).toMatchObject({ already: 1 });
  expect((await person.call('GET', '/dead-letters?q=PO-21')).body).toMatchObject({
    already: 0,
    total: 1,
  });
  expect((await person.call('GET', '/dead-letters?q=PO-21&already=true')).body).toMatchObject({
    total: 0,
  });
  const { text } = await person.page('/dead-letters?batch=');
  expect(text).toContain(
    '1 of them is in another file already, accepted or in progress. <a href="/dead-letters?',
  );
  expect(text).toContain(
    '<strong>this number is already accepted from &quot;monday.csv&quot;, as A × 1, B × 2</strong>',
  );
  const { text: alone } = await person.page('/dead-letters?already=true');
  expect([alone.includes('PO-21'), alone.includes('name="already" value="true"')]).toEqual([
    false,
    true,
  ]);

  const { body: both } = await person.call('POST', '/plans', {
    action: 'discard',
    kind: 'invalid',
    q: 'again.csv',
  });
  expect(both['items']).toMatchObject([
    { purchaseOrderNumber: 'PO-20', field: 'quantity', items: 'A × none, B × 2', already },
    { purchaseOrderNumber: 'PO-21', items: '<b> × none' },
  ]);
  const planned = await person.submit('/plans', {
    action: 'discard',
    already: 'true',
    back: '/dead-letters',
  });
  const to = planned.headers.get('location') ?? '';
  const page = await person.page(to);
  expect(page.text).toMatch(
    /<h1>Discard 1 order<.*quantity\b.*<div class="quiet">A × none, B × 2<.*<strong>this number is already/s,
  );
  await person.submit(`${to}/run`, { expect: '1' });
  await until('nothing is marked', async () => {
    const { body } = await person.call('GET', '/dead-letters');
    return body['already'] === 0;
  });
});

it.each([
  [{ action: 'frob' }, 'body-wrong'],
  [{ action: 'retry', frob: 'x' }, 'parameter-wrong'],
  [{ action: 'retry', q: 7 }, 'body-wrong'],
])('the plan %j is refused', async (body, code) => {
  expect((await person.call('POST', '/plans', body)).body['code']).toBe(code);
  expect((await person.call('GET', '/plans/none')).body['code']).toBe('plan-unknown');
});

it('a conflict counts as in another file, with what differs; a plan says which numbers cannot be sent again', async () => {
  await place.drop('sent.csv', `${[HEAD, 'PO-40,NEW,B,2', 'PO-40,NEW,A,1'].join('\n')}\n`);
  await until('the order', () => place.stored().has('PO-40'));
  await place.drop(
    'old.csv',
    `${[HEAD, 'PO-40,NEW,B,2', 'PO-40,NEW,A,9', 'PO-41,NEW,B,none'].join('\n')}\n`,
  );
  const marked = await until('the conflict', async () => {
    const { body } = await person.call('GET', '/dead-letters?already=true&q=old.csv');
    return body['total'] === 1 && JSON.stringify(body['items']).includes('A × 1') && body;
  });
  const already = 'this number is known with A × 1, and this file has A × 9; 1 other item is equal';
  expect(marked).toMatchObject({
    already: 1,
    items: [{ purchaseOrderNumber: 'PO-40', kind: 'conflict', already }],
  });
  // By article, in whatever order the files have them, so that both contents can be compared.
  const [{ id, items }] = marked['items'] as [{ id: string; items: string }];
  expect(items).toBe('A × 9, B × 2');
  const cellsOf = (page: string) =>
    [...page.matchAll(/<td[^>]*data-title="article"><div>([^<]*)</g)].map(([, one]) => one);
  expect(cellsOf((await person.page(`/dead-letters/${id}`)).text)).toEqual(['A', 'B', 'A', 'B']);
  expect((await person.page('/order?number=PO-40')).text).toContain('9 × A, 2 × B');
  const { text: list } = await person.page('/dead-letters?q=old.csv');
  expect([list.includes('>Send again…<'), list.includes('>Discard…<')]).toEqual([false, true]);
  const again = await person.submit('/plans', {
    action: 'retry',
    q: 'old.csv',
    back: '/dead-letters',
  });
  expect((await person.page(again.headers.get('location') ?? '')).text).toContain(
    'skipped: its number was sent with other items. Agree with the supplier, then discard it',
  );
  const textOf = async (filter: Record<string, string>) => {
    const planned = await person.submit('/plans', {
      action: 'discard',
      back: '/dead-letters',
      ...filter,
    });
    return (await person.page(planned.headers.get('location') ?? '')).text;
  };
  const [free, taken] = [
    'A file that brings a discarded order again can send it',
    'cannot send it while its number',
  ];
  const alone = await textOf({ q: 'old.csv', already: 'true' });
  expect([alone.includes(free), alone.includes(taken)]).toEqual([false, true]);
  const mixed = await textOf({ q: 'old.csv' });
  expect([
    mixed.includes(free),
    mixed.includes('Those whose number is accepted or in progress cannot'),
  ]).toEqual([true, true]);
});
