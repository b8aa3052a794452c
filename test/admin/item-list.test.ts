import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { UNSHOWN } from '../../src/ledger/entry.ts';
import { createItemLists } from '../../src/operate/batches/item-list.ts';
import type { ReadItems } from '../../src/operate/orders/file-search.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { splitCells } from '../../src/report/lines.ts';
import { RESULTS_HEADER, resultLine } from '../../src/report/results.ts';
import { type Operator, openOperator } from '../support/operator.ts';
import { plain } from '../support/plain.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';
import { finishedReport, settleWeek, sheet } from '../support/week.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';
import { unzip } from '../support/zip.ts';

let place: Workplace;
let person: Operator;
let redis: string;

const finished = (file: string) => finishedReport(place, file);

/** The file in `done`, when it is there. */
const done = (name: string) =>
  until(`${name} in done`, async () => {
    const folder = path.join(place.inbox, 'done');
    const [day = ''] = await readdir(folder);
    return (await readdir(path.join(folder, day))).includes(name) && path.join(folder, day, name);
  });

/** The rows of the list when it is not refused; `items`: file, line, number, article, quantity, note. */
async function download(query = '', at = '/api/v1/items.csv') {
  return until('the list', async () => {
    const reply = await fetch(`http://127.0.0.1:${person.port}${at}?${query}`, {
      headers: { cookie: person.cookie, connection: 'close' },
    });
    const text = await reply.text();
    if (reply.status !== 200) return undefined;
    const [head = '', ...lines] = text.split('\n').slice(0, -1);
    const rows = lines.map((line) => splitCells(line, ','));
    const items = rows.map(([file, , line, number, article, quantity, , note]) =>
      [file, line, number, article, quantity, note].join(' ').trimEnd(),
    );
    return { headers: reply.headers, head, rows, items, text };
  });
}

beforeAll(async () => {
  redis = await openDatabase();
  const refusal = {
    kind: 'answer',
    status: 400,
    message: 'articleCode X is unknown',
    orders: ['PO-2'],
    attempts: '1',
  };
  place = await openWorkplace({ redis, faults: { faults: [refusal] } });
  person = await openOperator(place, place.start(['start']));
  const rows = [
    'PO-1,NEW,A,1',
    'PO-2,NEW,X,2',
    'PO-1,NEW,+B,12',
    'PO-3,NEW,"0815",none',
    'PO-4,NEW,A,none',
  ];
  // A spreadsheet drops the zeros of the article, and of the cell that shows whether one did.
  await settleWeek(place, rows, (fix) =>
    fix.replace('none', '7').replace('"0815"', '815').replace('01.000', '1'),
  );
  await place.drop(
    'other.csv',
    sheet('PO-1,NEW,A,1', 'PO-1,NEW,+B,12', 'PO-5,NEW,A,5', 'PO-6,NEW,A,6'),
  );
  await finished('other.csv');
  await until('the lists', async () => {
    const { body } = await person.call('GET', '/batches?state=finished');
    const { body: settled } = await person.call('GET', '/corrections');
    return [body, settled].every(({ items }) => (items as unknown[] | undefined)?.length === 3);
  });
});
afterAll(() => place[Symbol.asyncDispose]());

it('the page of a file says that its list lacks what a fix file brought, and no other page does', async () => {
  const { body } = await person.call('GET', '/batches?state=finished');
  const says = new Map<string, boolean>();
  for (const { batch, file } of body['items'] as { batch: string; file: string }[])
    says.set(
      file,
      (await person.page(`/batches/${batch}`)).text.includes(
        'Without those that another file brought later',
      ),
    );
  expect(Object.fromEntries(says)).toEqual({
    '=week.csv': true,
    'fix.csv': false,
    'other.csv': false,
  });
});

const WEEK = ["'=week.csv 3 PO-2 X 2", "'=week.csv 2 PO-1 A 1", "'=week.csv 2 PO-1 '+B 12"];

it('the list has every item of the accepted orders once, as it was sent', async () => {
  const { head, headers, rows, items } = await download();
  expect(head).toBe(
    'file,batch,line,purchaseOrderNumber,articleCode,quantity,acceptedAt,note,sender,itemLine,conflict',
  );
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(items.slice(0, 3).sort()).toEqual(WEEK.toSorted());
  expect(items.slice(3)).toEqual([
    'fix.csv 2 PO-3 0815 7',
    'other.csv 4 PO-5 A 5',
    'other.csv 5 PO-6 A 6',
  ]);
  const sent = place.events.flatMap((event) => (event.type === 'stored' ? [event.order] : []));
  expect(new Set(rows.map(([, , , number]) => number))).toEqual(new Set(sent));
  // The second item of PO-1 is in the row after the next, in a file whose other columns name the first row of the order.
  expect(
    rows
      .map((row) => `${row[5]} ${row[9]}`)
      .slice(0, 3)
      .sort(),
  ).toEqual(['1 2', '12 4', '2 3']);
  const { batch, startedAt } = await finished('fix.csv');
  const [, own, , , , , acceptedAt = ''] = rows[3] ?? [];
  expect([own, acceptedAt > startedAt]).toEqual([batch, true]);
});

it('the file of the list can be read as a table, and is named after its days', async () => {
  const { text, headers } = await download('from=2020-01-01&to=2099-12-31');
  expect(text).toContain(',PO-3,"0815",7,');
  expect(headers.get('content-disposition')).toBe(
    'attachment; filename="items-2020-01-01-2099-12-31.csv"',
  );
  const { batch } = await finished('=week.csv');
  const of = (await download(`q=${encodeURIComponent(batch)}`)).headers.get('content-disposition');
  expect(of).toBe('attachment; filename="_week-items.csv"; filename*=UTF-8\'\'%3Dweek-items.csv');
});

it('the list takes `accepted=true` as the list of orders does, and no other value', async () => {
  expect((await download('q=fix&accepted=true')).items).toEqual(['fix.csv 2 PO-3 0815 7']);
  const { status, body } = await person.call('GET', '/items.csv?accepted=false');
  expect([status, JSON.stringify(body)]).toEqual([
    400,
    expect.stringContaining('accepted cannot be false.'),
  ]);
});

it('the page Batches links it with its filters', async () => {
  const { text } = await person.page('/batches?q=fix&limit=1');
  expect(text).toContain(
    '<a href="/items.csv?q=fix">accepted orders with articles and quantities</a>',
  );
  expect(text).toContain('The days are those on which the files were taken.');
  expect((await download('q=fix', '/items.csv')).items).toEqual(['fix.csv 2 PO-3 0815 7']);
});

it('the list is a workbook too: numbers of orders and articles as text, quantities as numbers, times of a named zone', async () => {
  const { text } = await person.page('/batches?q=other&zone=Europe/Berlin&limit=1');
  const link =
    /<a href="(\/items\.xlsx\?[^"]*)">accepted orders with articles and quantities, as a spreadsheet</.exec(
      text,
    );
  const reply = await fetch(`http://127.0.0.1:${person.port}${plain(link?.[1] ?? '')}`, {
    headers: { cookie: person.cookie, connection: 'close' },
  });
  expect(reply.headers.get('content-disposition')).toBe('attachment; filename="items.xlsx"');
  const xml =
    (await unzip(Buffer.from(await reply.arrayBuffer())))
      .get('xl/worksheets/sheet1.xml')
      ?.toString() ?? '';
  const cells = [...xml.matchAll(/<c [^>]*?(?: t="(\w+)")?>(.*?)<\/c>/g)].map(
    ([, type = 'number', value = '']) =>
      `${type === 'number' ? '#' : ''}${value.replace(/<[^>]*>/g, '')}`,
  );
  expect(cells.slice(0, 10).join()).toBe(
    'Order number,Article,Quantity,Accepted (Europe/Berlin),Note,Line,File,Batch,Sender,Conflict',
  );
  const { rows } = await download('q=other');
  expect(cells.slice(10, 13)).toEqual(['PO-5', 'A', '#5']);
  expect(cells.slice(14, 17)).toEqual(['', '#4', 'other.csv']);
  const [, , , , , , at = ''] = rows[0] ?? [];
  expect(Date.parse(`${cells[13]?.replace(' ', 'T')}+01:00`)).toBe(
    Math.floor(Date.parse(at) / 1_000) * 1_000,
  );
  expect(cells.length).toBe(10 * (1 + rows.length));
});

it('an order that a later file had with other items is marked, also after that was discarded', async () => {
  await place.drop('=later.csv', sheet('PO-5,NEW,A,50', 'PO-6,NEW,A,6'));
  const { batch } = await finished('=later.csv');
  const marks = async () => (await download('q=other')).rows.map((row) => `${row[3]} ${row[10]}`);
  const open = await until('the mark', async () =>
    (await marks()).find((one) => one.includes('later')),
  );
  expect(open).toBe('PO-5 in conflict in =later.csv');
  expect(await marks()).toContain('PO-6 ');
  await place.run(['dead-letters', 'discard', '--batch', batch, '--yes']);
  await until('the other mark', async () =>
    (await marks()).includes('PO-5 conflict in =later.csv, discarded'),
  );
});

it('the page of an order says that cells of its file differ where they were restored', async () => {
  const page = async (number: string) => (await person.page(`/order?number=${number}`)).text;
  const note = 'so the cells of this file can differ from these items.';
  expect(
    await until(
      'the items',
      async () => (await page('PO-3')).match(/>0815<.*As sent: [^<]*/s)?.[0],
    ),
  ).toContain(note);
  expect(
    await until('the items', async () => (await page('PO-5')).match(/As sent: [^<]*/)?.[0]),
  ).not.toContain(note);
});

it('the accepted orders of a lost report are listed from the ledger, and the list is refused where it has fewer', async () => {
  const results = path.join(place.reports, (await finished('other.csv')).batch, 'results.csv');
  const text = await readFile(results, 'utf8');
  await rm(results);
  expect((await download('q=other')).items).toEqual([
    'other.csv 0 PO-5 A 5',
    'other.csv 0 PO-6 A 6',
  ]);
  // Orders of other files, and the same number in no list twice.
  const all = (await download()).items.map((one) => one.split(' ')[2]);
  expect(all.filter((number) => number === 'PO-5' || number === 'PO-1')).toEqual([
    'PO-1',
    'PO-1',
    'PO-5',
  ]);

  const connection = await connectRedis(redis);
  const settled = keysOf('staging', place.api.baseUrl).settled('PO-6');
  const kept = (await connection.hget(settled, 'PO-6')) ?? '';
  await connection.hdel(settled, 'PO-6');
  const reply = await person.call('GET', '/items.csv?q=other');
  await connection.hset(settled, 'PO-6', kept);
  connection.disconnect();
  await writeFile(results, text);
  expect([reply.status, reply.body['code'], reply.body['remedy']]).toEqual([
    409,
    'order-list-incomplete',
    'Select other days, so that these files are not among them, or restore the reports from a backup.',
  ]);
});

it('an order whose items cannot be proven is one line that says why', async () => {
  const connection = await connectRedis(redis);
  const keys = keysOf('staging', place.api.baseUrl);
  await connection.hdel(keys.settled('PO-6'), 'PO-6');
  connection.disconnect();
  expect((await download('q=other')).items).toEqual([
    'other.csv 4 PO-5 A 5',
    'other.csv 5 PO-6   unproven',
  ]);

  await writeFile(await done('other.csv'), sheet('PO-5,NEW,A,50'));
  await rm(await done('fix.csv'));
  const { items } = await download();
  expect(items.slice(0, 3).sort()).toEqual(WEEK.toSorted());
  expect(items.slice(3)).toEqual([
    'fix.csv 2 PO-3   missing',
    'other.csv 4 PO-5   differs',
    'other.csv 5 PO-6   unproven',
  ]);

  await writeFile(await done('other.csv'), 'no orders');
  expect((await download('q=other')).items[0]).toBe('other.csv 4 PO-5   unreadable');
});

it('a list of more than 100,000 orders is refused, a workbook of more than 20,000 orders names the CSV file', async () => {
  await place.drop('many.csv', sheet('PO-7,NEW,A,none'));
  const { batch } = await finished('many.csv');
  const connection = await connectRedis(redis);
  await connection.hset(keysOf('staging', place.api.baseUrl).batch(batch), 'n:accepted', 100_000);
  connection.disconnect();
  await place.run(['dead-letters', 'discard', '--order', 'PO-7', '--yes']);
  const refusalOf = (name: string) =>
    until('the refusal', async () => {
      const reply = await fetch(`http://127.0.0.1:${person.port}/api/v1/items.${name}?q=many`, {
        headers: { cookie: person.cookie, connection: 'close' },
      });
      const text = await reply.text();
      return text.includes('item-list-too-large') && (JSON.parse(text) as Record<string, unknown>);
    });
  expect(await refusalOf('csv')).toMatchObject({
    status: 409,
    detail: 'A list of items has at most 100,000 orders; these files have 100,001 orders.',
    remedy: 'Select fewer days, or a source.',
  });
  expect(await refusalOf('xlsx')).toMatchObject({
    detail: 'A spreadsheet has at most 20,000 orders; these files have 100,001 orders.',
    remedy: 'Select fewer days, or a source, or download the CSV file.',
  });
});

describe('a list of items', () => {
  const batch = '20261121T071500Z-inbox-week-3f2a91c0';
  const accepted = {
    outcome: 'accepted',
    attempts: 1,
    at: '2026-11-21T07:15:01Z',
    code: '',
    message: '',
  } as const;
  const wait = () => new Promise<never>(() => undefined);

  /** Lists of two orders in a report; `read` stands for the thread. */
  async function openLists(folder: string, read: ReadItems, digest = 'd') {
    await mkdir(path.join(folder, batch));
    const lines = [1, 2].map((n) =>
      resultLine({ ...accepted, line: n + 1, purchaseOrderNumber: `PO-${n}` }),
    );
    await writeFile(path.join(folder, batch, 'results.csv'), RESULTS_HEADER + lines.join(''));
    const compact = { digest, attempts: 1, at: 0, batchNo: 1 };
    const context = {
      config: { reports: { path: folder } },
      clock: systemClock,
      batches: {
        find: async () => ({
          batch,
          kind: 'inbox',
          source: 'inbox',
          path: '/a',
          settledPath: '/a',
        }),
      },
      ledger: {
        lookup: async (numbers: string[]) => numbers.map(() => ({ kind: 'accepted', compact })),
      },
    } as unknown as Parameters<typeof createItemLists>[0];
    const { csv: list } = createItemLists(context, read, 200);
    return () =>
      list({ listed: [{ batch, file: 'week.csv', hasLetters: false }], found: new Map() });
  }

  const notesOf = async (pieces: AsyncIterable<string>) => {
    let text = '';
    for await (const piece of pieces) text += piece;
    return text
      .split('\n')
      .slice(1, -1)
      .map((line) => splitCells(line, ',').slice(3, 8).join(' '));
  };

  it('says of the orders that are not read in time that they are late', async () => {
    await using temp = await makeTempFolder();
    const list = await openLists(temp.path, async function* () {
      yield [{ purchaseOrderNumber: 'PO-1', items: [{ articleCode: 'A', quantity: 1 }] }];
      return await wait();
    });
    expect(await notesOf(list())).toEqual([
      'PO-1 A 1 2026-11-21T07:15:01Z ',
      'PO-2   2026-11-21T07:15:01Z late',
    ]);
    // The first one still waits for its file.
    expect(await notesOf(list())).toEqual([
      'PO-1   2026-11-21T07:15:01Z late',
      'PO-2   2026-11-21T07:15:01Z late',
    ]);
  });

  it('says of orders whose items the list of the API did not show that they are unproven', async () => {
    await using temp = await makeTempFolder();
    const list = await openLists(temp.path, () => expect.unreachable(), UNSHOWN);
    expect(await notesOf(list())).toEqual([
      'PO-1   2026-11-21T07:15:01Z unproven',
      'PO-2   2026-11-21T07:15:01Z unproven',
    ]);
  });

  it('that nobody reads to its end lets the next one begin', async () => {
    await using temp = await makeTempFolder();
    let open = 0;
    const many = Array.from({ length: 5_000 }, () => ({
      articleCode: 'A'.repeat(20),
      quantity: 1,
    }));
    const list = await openLists(temp.path, async function* () {
      open += 1;
      try {
        expect(open).toBe(1);
        yield [{ purchaseOrderNumber: 'PO-1', items: many }];
        yield [{ purchaseOrderNumber: 'PO-2', items: [{ articleCode: 'B', quantity: 2 }] }];
        return 'differs';
      } finally {
        open -= 1;
      }
    });
    const left = list();
    await left.next();
    await left.next();
    expect((await notesOf(list())).at(-1)).toBe('PO-2 B 2 2026-11-21T07:15:01Z ');
    expect((await notesOf(left)).at(-1)).toBe('PO-2   2026-11-21T07:15:01Z late');
  });
});

it('an order of a later file that came back under another number is marked with that number', async () => {
  await using other = await openWorkplace();
  const somebody = await openOperator(other, other.start(['start']));
  await other.drop('first.csv', sheet('PO-6,NEW,A,6'));
  await finishedReport(other, 'first.csv');
  await other.drop('renamed.csv', sheet('PO-6,NEW,A,60'));
  const fix = await other.read(await finishedReport(other, 'renamed.csv'), 'dead-letters.csv');
  await other.drop('renamed.fix.csv', fix.replace('PO-6,', 'PO-6-A,'));
  await finishedReport(other, 'renamed.fix.csv');
  const list = await until('the mark', async () => {
    const { text } = await somebody.page('/api/v1/items.csv');
    return text.includes('came back') && text;
  });
  expect(list).toContain('"conflict in renamed.csv, came back under another number, PO-6-A"');
});
