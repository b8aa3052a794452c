import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { foundOrders } from '../../src/operate/batches/accepted-orders.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { splitCells } from '../../src/report/lines.ts';
import { RESULTS_HEADER, resultLine } from '../../src/report/results.ts';
import { orderOf } from '../support/entry.ts';
import { type Operator, openOperator } from '../support/operator.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';
import { finishedReport, sheet } from '../support/week.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

let place: Workplace;
let person: Operator;

/** The cells of a list in these columns, each order or item as one text. */
async function listed(list: 'orders' | 'items', query: string, ...columns: string[]) {
  return await until('the list', async () => {
    const reply = await fetch(`http://127.0.0.1:${person.port}/api/v1/${list}.csv?${query}`, {
      headers: { cookie: person.cookie, connection: 'close' },
    });
    const [head = '', ...lines] = (await reply.text()).split('\n').slice(0, -1);
    const names = head.split(',');
    return (
      reply.status === 200 &&
      lines.map((line) =>
        columns.map((name) => splitCells(line, ',')[names.indexOf(name)]).join(' '),
      )
    );
  });
}

/** What a ledger of before the backup knows: PO-2 is only in the report of its file, the others are only at the API. */
beforeAll(async () => {
  const redis = await openDatabase();
  place = await openWorkplace({ redis });
  person = await openOperator(place, place.start(['start']));
  await place.drop('before.csv', sheet('PO-1,NEW,A,1', 'PO-2,NEW,A,1'));
  await finishedReport(place, 'before.csv');
  const connection = await connectRedis(redis);
  const keys = keysOf('staging', place.api.baseUrl);
  await connection.hdel(keys.settled('PO-2'), 'PO-2');
  const token = await place.api.token();
  const content = { items: [{ articleCode: 'A', quantity: 7 }] };
  for (const number of ['PO-3', 'PO-4', 'PO-5', 'PO-7'])
    await place.api.create({ ...orderOf(number), ...content }, token);
  await place.run(['reconcile', '--repair', '--yes']);
  await place.drop('wrong.csv', sheet('PO-3,NEW,,7', 'PO-7,NEW,,7', 'PO-8,NEW,,7'));
  await finishedReport(place, 'wrong.csv');
  await place.drop(
    'after.csv',
    sheet('PO-2,NEW,A,1', 'PO-3,NEW,A,7', 'PO-4,NEW,A,7', 'PO-6,NEW,A,6'),
  );
  await finishedReport(place, 'after.csv');
  await place.drop('again.csv', sheet('PO-4,NEW,A,7', 'PO-5,NEW,A,7', 'PO-6,NEW,A,6'));
  await finishedReport(place, 'again.csv');
  connection.disconnect();
  await until('the lists', async () => {
    const { body } = await person.call('GET', '/batches?state=finished');
    return (body['items'] as unknown[] | undefined)?.length === 4;
  });
});
afterAll(() => place[Symbol.asyncDispose]());

it('an order that a restored ledger found at the API is in the list of accepted orders once, by an unknown sender, also where a person has to correct it', async () => {
  const all = await listed(
    'orders',
    'accepted=true',
    'file',
    'purchaseOrderNumber',
    'outcome',
    'sender',
  );
  expect(all).toEqual([
    'before.csv PO-1 accepted ',
    'before.csv PO-2 accepted ',
    'wrong.csv PO-7 invalid unknown',
    'after.csv PO-3 duplicate unknown',
    'after.csv PO-4 duplicate unknown',
    'after.csv PO-6 accepted ',
    'again.csv PO-5 duplicate unknown',
  ]);
  expect(new Set(all.map((line) => line.split(' ')[1]))).toEqual(new Set(place.stored().keys()));
});

it('such an order belongs to the first file that brought it, also where that is not among the files of the list', async () => {
  expect(await listed('orders', 'accepted=true&q=again', 'purchaseOrderNumber')).toEqual(['PO-5']);
  expect(await listed('orders', 'accepted=true&q=after', 'purchaseOrderNumber')).toEqual([
    'PO-3',
    'PO-4',
    'PO-6',
  ]);
});

it('its items are listed, because the list of the API proves them, but not those of a row that is wrong', async () => {
  const items = await listed(
    'items',
    '',
    'file',
    'purchaseOrderNumber',
    'articleCode',
    'quantity',
    'note',
    'sender',
  );
  expect(items.slice(2)).toEqual([
    'wrong.csv PO-7   differs unknown',
    'after.csv PO-3 A 7  unknown',
    'after.csv PO-4 A 7  unknown',
    'after.csv PO-6 A 6  ',
    'again.csv PO-5 A 7  unknown',
  ]);
});

it('the page of an accepted order says since when and how po-sync knows it, and what to do if it never arrived', async () => {
  const page = async (number: string) => (await person.page(`/order?number=${number}`)).text;
  const sent = await page('PO-6');
  expect(sent).toMatch(
    /<p>Accepted since <time[^>]*>[^<]+<\/time>: then the API answered po-sync that it has it\. po-sync does not keep whether later lists/,
  );
  expect(sent).toContain("<code>po-sync explain PO-6 --list</code> reads the API's list now");
  expect(await page('PO-5')).toMatch(
    /<p>Accepted since .*: then the API.{1,5}s list showed it to po-sync\./,
  );
  const [, anchor = 'none'] = /href="\/for-clerks#([^"]+)">The supplier says/.exec(sent) ?? [];
  expect((await person.page('/for-clerks')).text).toContain(`<h2 id="${anchor}">`);
});

it('the page of an order says that duplicates in other files may be missing, and how to find them', async () => {
  const { text } = await person.page('/order?number=PO-6');
  expect(text).toMatch(
    /Other files that have this order only as a duplicate may be missing here\. To find them, <a [^>]*>search every report/,
  );
});

const [monday, tuesday] = [
  '20261123T071500Z-inbox-week-3f2a91c0',
  '20261124T071500Z-inbox-week-7c1d02ab',
];

/** What is found in two reports of the orders A and B, each twice; the ledger has `known` of every order. */
async function foundIn(known: object, most?: number) {
  await using temp = await makeTempFolder();
  const message = 'the API already had this order';
  const duplicate = {
    outcome: 'duplicate',
    attempts: 0,
    at: '',
    code: 'duplicate',
    message,
  } as const;
  const lines = ['A', 'B', 'A'].map((purchaseOrderNumber, line) =>
    resultLine({ ...duplicate, line, purchaseOrderNumber }),
  );
  for (const batch of [monday, tuesday]) {
    await mkdir(path.join(temp.path, batch));
    await writeFile(path.join(temp.path, batch, 'results.csv'), RESULTS_HEADER + lines.join(''));
  }
  const kept = [monday, 'expired', tuesday].map((batch) => ({
    batch,
    file: '',
    hasLetters: false,
    duplicates: 3,
  }));
  const context = {
    config: { reports: { path: temp.path } },
    ledger: { lookup: async (numbers: string[]) => numbers.map(() => known) },
  } as unknown as Parameters<typeof foundOrders>[2];
  return [...(await foundOrders(kept.slice(0, 1), kept, context, most))];
}

it.each([
  ['found in the list of the API', { kind: 'accepted', compact: { batchNo: 0 } }, ['A', 'B']],
  ['removed after ledger.keep', { kind: 'nothing' }, ['A', 'B']],
  ['sent by a batch whose report expired', { kind: 'accepted', compact: { batchNo: 7 } }, []],
])('of the orders that the ledger has as %s, %j are found', async (_, known, numbers) => {
  expect(await foundIn(known)).toEqual(numbers.map((number) => [number, monday]));
});

it('a list of more found orders than fit in memory is refused', async () => {
  await expect(foundIn({ kind: 'nothing' }, 1)).rejects.toMatchObject({
    code: 'order-list-too-large',
  });
});
