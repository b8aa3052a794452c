import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { oldestFirst } from '../../src/admin/api/order-list-route.ts';
import { orderList } from '../../src/operate/batches/order-list.ts';
import { splitCells } from '../../src/report/lines.ts';
import { RESULTS_HEADER, resultLine } from '../../src/report/results.ts';
import { type Operator, openOperator } from '../support/operator.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';
import { finishedReport, reportNamed, settleWeek, sheet } from '../support/week.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

const TOKEN = 'order-list-token-0123456789abcdef';
const COLUMNS =
  'file,batch,line,purchaseOrderNumber,outcome,attempts,at,code,message,settled,settledAt,settledIn';

let place: Workplace;
let person: Operator;

const reportOf = (file: string) => reportNamed(place, file);
const finished = (file: string) => finishedReport(place, file);

/** What the control API answers, and the rows of the list by column. */
async function download(query = '', at = '/api/v1/orders.csv') {
  const reply = await fetch(`http://127.0.0.1:${person.port}${at}?${query}`, {
    redirect: 'manual',
    headers: { cookie: person.cookie, connection: 'close' },
  });
  const text = await reply.text();
  const [head = '', ...lines] = text.split('\n').slice(0, -1);
  const rows = lines.map((line) => splitCells(line, ','));
  const orders = rows.map(([file, , line, number, outcome, , , , , settled]) => [
    file,
    line,
    number,
    outcome,
    settled,
  ]);
  return { status: reply.status, headers: reply.headers, text, head, rows, orders };
}

beforeAll(async () => {
  const refusal = {
    kind: 'answer',
    status: 400,
    message: 'articleCode X is unknown',
    orders: ['PO-2'],
    attempts: '1',
  };
  place = await openWorkplace({ faults: { faults: [refusal] } });
  person = await openOperator(place, place.start(['start'], { PO_SYNC_ADMIN_TOKEN: TOKEN }));
  await settleWeek(
    place,
    ['PO-1,NEW,A,1', 'PO-2,NEW,X,1', 'PO-3,NEW,A,none', 'PO-4,NEW,A,none'],
    (fix) => fix.replace('none', '7'),
  );
  await place.drop('other.csv', sheet('PO-1,NEW,A,1', 'PO-5,NEW,A,1'));
  await finished('other.csv');
  await until('the lists', async () => {
    const { body } = await person.call('GET', '/batches?state=finished');
    const { body: settled } = await person.call('GET', '/corrections');
    return [body, settled].every(({ items }) => (items as unknown[] | undefined)?.length === 3);
  });
});
afterAll(() => place[Symbol.asyncDispose]());

it('all orders of the files that match are one CSV file, with what settled them since', async () => {
  const { status, headers, head, rows, orders } = await download();
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(headers.get('content-disposition')).toBe('attachment; filename="orders.csv"');
  expect(head).toBe(COLUMNS);
  expect(orders).toEqual([
    ["'=week.csv", '2', 'PO-1', 'accepted', ''],
    ["'=week.csv", '3', 'PO-2', 'refused', 'accepted'],
    ["'=week.csv", '4', 'PO-3', 'invalid', 'accepted'],
    ["'=week.csv", '5', 'PO-4', 'invalid', 'discarded'],
    ['fix.csv', '2', 'PO-3', 'accepted', ''],
    ['other.csv', '2', 'PO-1', 'duplicate', ''],
    ['other.csv', '3', 'PO-5', 'accepted', ''],
  ]);
  const [week, fix] = [await reportOf('=week.csv'), await reportOf('fix.csv')];
  const refused = rows[1] ?? [];
  expect(refused.slice(1, 9)).toEqual([
    week?.batch,
    '3',
    'PO-2',
    'refused',
    '1',
    expect.any(String),
    refused[7],
    refused[8],
  ]);
  expect(refused[8]).toContain('articleCode X is unknown');
  expect([rows[1]?.[11], rows[2]?.[11]]).toEqual([week?.batch, fix?.batch]);
});

it('the list of accepted orders has each once, also one that was refused at first', async () => {
  const { orders, headers } = await download('accepted=true&from=2020-01-01&to=2099-12-31');
  expect(orders.map(([file, , number]) => [file, number])).toEqual([
    ["'=week.csv", 'PO-1'],
    ["'=week.csv", 'PO-2'],
    ['fix.csv', 'PO-3'],
    ['other.csv', 'PO-5'],
  ]);
  expect(orders.map(([, , number]) => number)).toEqual([...place.stored().keys()].sort());
  expect(headers.get('content-disposition')).toContain('accepted-orders-2020-01-01-2099-12-31.csv');
});

it('batches, corrections and the list are those of the days from … to, both included, in a time zone', async () => {
  const day = (offset: number, zone = 'UTC') =>
    new Intl.DateTimeFormat('sv', { timeZone: zone }).format(Date.now() + offset * 86_400_000);
  const found = async (query: string) => {
    const { body } = await person.call('GET', `/batches?${query}`);
    const { body: settled } = await person.call('GET', `/corrections?${query}`);
    const { rows } = await download(query);
    return [
      (body['items'] as unknown[]).length,
      (settled['items'] as unknown[]).length,
      rows.length,
    ];
  };
  for (const zone of ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
    const [before, today, next] = [day(-1, zone), day(0, zone), day(1, zone)];
    expect(await found(`from=${before}&to=${next}&zone=${zone}`)).toEqual([3, 3, 7]);
    expect(await found(`from=${before}&zone=${zone}`)).toEqual([3, 3, 7]);
    expect(await found(`to=${next}&zone=${zone}`)).toEqual([3, 3, 7]);
    expect(await found(`from=${day(2, zone)}&zone=${zone}`)).toEqual([0, 0, 0]);
    expect(await found(`to=${day(-2, zone)}&zone=${zone}`)).toEqual([0, 0, 0]);
    expect(await found(`from=${before}&to=${next}&day=2020-02-02&zone=${zone}`)).toEqual([0, 0, 0]);
    const { status, body } = await person.call('GET', `/batches?from=${next}&to=${today}`);
    expect([status, body['code'], body['detail']]).toEqual([
      400,
      'parameter-wrong',
      'to must not be before from.',
    ]);
  }
  const { text } = await person.page('/batches?day=2026-11-21&q=week');
  expect(text).toContain('<input name="from" type="date" value="2026-11-21">');
  expect(text).toContain('<input name="to" type="date" value="2026-11-21">');
});

it('the page Batches links both lists with its filters, and says why one is refused', async () => {
  const { text } = await person.page('/batches?q=week&limit=1');
  expect(text).toContain('<a href="/orders.csv?q=week&amp;accepted=true">accepted orders</a>');
  expect(text).toContain('<a href="/orders.csv?q=week">all orders with their outcomes</a>');
  expect((await download('q=week', '/orders.csv')).rows).toHaveLength(4);

  await place.run(['pause', '--reason', 'stock-taking']);
  await place.drop('late.csv', sheet('PO-6,NEW,A,1'));
  const refused = await until('the refusal', async () => {
    const reply = await download();
    return reply.status === 409 && (JSON.parse(reply.text) as Record<string, unknown>);
  });
  expect(refused).toMatchObject({
    code: 'order-list-unfinished',
    detail: expect.stringMatching(
      /^1 file is not finished, so the list would lack orders: late\.csv \(batch \S+\)\.$/,
    ),
  });
  const led = await download('q=late', '/orders.csv');
  expect([led.status, led.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(/^\/batches\?q=late&note=/),
  ]);
  const shown = await person.page(led.headers.get('location') ?? '');
  expect(shown.text).toMatch(
    /class="note bad" role="status">1 file is not finished, .*late\.csv.* <a href="\/batches\?q=late&amp;state=finished">List the finished files<\/a> <span class="quiet"><time /,
  );
  expect(shown.text).toContain('<option value="finished">finished, also cancelled</option>');
  expect((await download('state=finished')).rows).toHaveLength(7);
  await place.run(['resume']);
  await finished('late.csv');
});

it('a list of all orders that would lack some because a report is missing is refused; the accepted ones are in the ledger', async () => {
  const report = await finished('other.csv');
  await rm(path.join(place.reports, report.batch, 'results.csv'));
  const { status, text } = await until('every file is finished', async () => {
    const reply = await download();
    return !reply.text.includes('unfinished') && reply;
  });
  expect([status, JSON.parse(text)]).toMatchObject([
    409,
    {
      code: 'order-list-incomplete',
      detail: `The list would lack orders, because a report is missing: other.csv (batch ${report.batch}).`,
      remedy: expect.stringMatching(/^List only accepted orders, or select other days/),
    },
  ]);
  expect((await download('q=week')).rows).toHaveLength(4);
  const accepted = await download('q=other&accepted=true');
  expect(accepted.orders).toEqual([['other.csv', '0', 'PO-5', 'accepted', '']]);
  expect(accepted.rows[0]?.[8]).toBe('its report is lost; the ledger has it');
});

it('of files taken within a second, the one taken first is listed first', () => {
  const taken = (startedAt: number, name: string) => ({
    startedAt,
    batch: `20261121T071500Z-inbox-${name}`,
  });
  const [week, fix, other] = [
    taken(1_100, 'week-3f2a91c0'),
    taken(1_500, 'fix-7c1d02ab'),
    taken(1_500, 'other-0a1b2c3d'),
  ];
  expect(oldestFirst([week, other, fix])).toEqual([week, fix, other]);
});

it('a list of many orders is read and passed on in small pieces', async () => {
  await using temp = await makeTempFolder();
  const line = (n: number) =>
    resultLine({
      line: n,
      purchaseOrderNumber: `PO-${n}`,
      outcome: 'accepted',
      attempts: 1,
      at: '',
      code: '',
      message: '',
    });
  const results = RESULTS_HEADER + Array.from({ length: 100_000 }, (_, n) => line(n)).join('');
  const listed = ['a', 'b'].map((batch) => ({ batch, file: `${batch}.csv`, hasLetters: false }));
  for (const { batch } of listed) {
    await mkdir(path.join(temp.path, batch));
    await writeFile(path.join(temp.path, batch, 'results.csv'), results);
  }
  const context = { config: { reports: { path: temp.path } } } as Parameters<typeof orderList>[1];
  let [lines, longest] = [0, 0];
  for await (const piece of orderList(listed, context)) {
    lines += piece.split('\n').length - 1;
    longest = Math.max(longest, piece.length);
  }
  expect(lines).toBe(200_001);
  expect(longest).toBeLessThan(70_000);
});
