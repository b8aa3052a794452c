import { expect, it } from 'vitest';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Running, type Workplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';

/** A gauge of what all daemons share. */
const SHARED =
  /^po_sync_(?:orders_unsettled|orders_in_doubt|queue_jobs|batches|daemons|token_expiry|delivery_paused)/;

/** The samples of a scrape by series, such as `po_sync_queue_jobs{state="waiting"}`. */
type Scrape = Map<string, number>;

async function adminPort(daemon: Running): Promise<number> {
  return until('the daemon is ready', () => {
    const port = /"event":"daemon-ready".*"adminPort":(\d+)/.exec(daemon.out())?.[1];
    return port === undefined ? undefined : Number(port);
  });
}

async function scrape(port: number): Promise<Scrape> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  const lines = (await answer.text())
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [seriesOf(line), Number(line.split(' ').at(-1))]));
}

/** The name with its labels in order, without `environment`, which every series has. */
function seriesOf(line: string): string {
  const [, name = '', labels = ''] = /^([a-z0-9_]+)\{(.*)\} /.exec(line) ?? [];
  const all = labels.match(/[a-z]+="[^"]*"/g) ?? [];
  expect(all, line).toContain('environment="staging"');
  const own = all.filter((label) => !label.startsWith('environment=')).sort();
  return own.length === 0 ? name : `${name}{${own.join(',')}}`;
}

async function settleOne(place: Workplace, name: string, rows: readonly string[]): Promise<void> {
  const before = (await place.reportsNow()).filter(({ finishedAt }) => finishedAt).length;
  await place.drop(name, `${[HEAD, ...rows].join('\n')}\n`);
  await until(
    'the report',
    async () => (await place.reportsNow()).filter((one) => one.finishedAt).length > before,
  );
}

it('a scrape shows what a daemon did, and never an order, a batch or a file', async () => {
  const faults = [
    { kind: 'answer', status: 400, message: 'articleCode X-9 is invalid', orders: ['PO-3'] },
  ];
  await using place = await openWorkplace({ faults: { faults } });
  const daemon = place.start(['start']);
  const port = await adminPort(daemon);
  await settleOne(place, 'orders.csv', [
    'PO-1,NEW,A,1',
    'PO-2,NEW,A,1',
    'PO-3,NEW,X-9,1',
    'PO-4,NEW,A,none',
  ]);
  await settleOne(place, 'again.csv', ['PO-1,NEW,A,1']);

  const now = await until('both files are finished', async () => {
    const found = await scrape(port);
    const finished = found.get('po_sync_files_total{result="finished",source="inbox"}');
    return finished === 2 && found.get('po_sync_batches{state="active"}') === 0 && found;
  });
  const own = (series: string) => now.get(`po_sync_${series}`);
  expect(own('files_total{result="taken",source="inbox"}')).toBe(2);
  expect(own('files_total{result="admitted",source="inbox"}')).toBe(2);
  expect(own('orders_settled_total{outcome="accepted",source="inbox"}')).toBe(2);
  expect(own('orders_settled_total{outcome="refused",source="inbox"}')).toBe(1);
  expect(own('orders_settled_total{outcome="invalid",source="inbox"}')).toBe(1);
  expect(own('orders_settled_total{outcome="duplicate",source="inbox"}')).toBe(1);
  expect(own('delivery_attempts_total{result="accepted"}')).toBe(2);
  expect(own('delivery_attempts_total{result="refused"}')).toBe(1);
  expect(own('token_requests_total{result="issued"}')).toBe(1);
  expect(own('list_reads_total{result="complete"}')).toBeGreaterThan(0);
  expect(own('api_request_duration_seconds_count{operation="create",status="400"}')).toBe(1);
  // Whether it has pages is asked in between.
  const listed = own('api_request_duration_seconds_count{operation="list",status="200"}');
  expect(listed).toBeGreaterThan(0);
  expect(own('api_request_duration_seconds_count{operation="token",status="200"}')).toBe(1);
  expect(own('order_duration_seconds_count{source="inbox"}')).toBe(2);
  expect(own('batches{state="active"}')).toBe(0);
  expect(own('queue_jobs{state="waiting"}')).toBe(0);
  expect(own('redis_up')).toBe(1);
  expect(own('daemons')).toBe(1);
  expect(own('orders_unsettled')).toBe(0);
  expect(own('token_expiry_timestamp_seconds')).toBeGreaterThan(Date.now() / 1_000);
  expect([...now.keys()].filter((series) => /PO-\d|\d{8}T\d{6}Z|\.csv/.test(series))).toEqual([]);
  expect(now.size).toBeLessThan(400);
});

it('a scrape shows how many orders were created twice', async () => {
  await using place = await openWorkplace();
  const port = await adminPort(place.start(['start']));
  await settleOne(place, 'orders.csv', ['PO-1,NEW,A,1', 'PO-2,NEW,A,1']);
  expect((await scrape(port)).get('po_sync_orders_created_twice')).toBe(0);
  const order = {
    purchaseOrderNumber: 'PO-1',
    orderState: 'NEW',
    items: [{ articleCode: 'A', quantity: 1 }],
  };
  await place.api.create(order, await place.api.token());
  expect((await place.run(['reconcile'])).code).toBe(2);
  await until(
    'it is shown',
    async () => (await scrape(port)).get('po_sync_orders_created_twice') === 1,
  );
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toContain('po_sync_guarantee_holds{assumption="once",environment="staging"} 0\n');
  const overview = await (await fetch(`http://127.0.0.1:${port}/`)).text();
  expect(overview).toContain('1 order was created twice');
});

it('a scrape counts an unreadable file until a later one of the same name is read', async () => {
  await using place = await openWorkplace();
  const port = await adminPort(place.start(['start']));
  const unreadable = async () =>
    (await scrape(port)).get('po_sync_unreadable_files{source="inbox"}');
  expect(await unreadable()).toBe(0);
  await place.drop('orders.csv', 'article,amount\nA,1\n');
  await until('it is counted', async () => (await unreadable()) === 1);
  await place.drop('orders.csv', `${HEAD}\nPO-1,NEW,A,1\n`);
  await until('it is replaced', async () => (await unreadable()) === 0);
});

it('a scrape shows a pause by its code, and that it ended', async () => {
  await using place = await openWorkplace();
  const port = await adminPort(place.start(['start']));
  const paused = async () => (await scrape(port)).get('po_sync_delivery_paused{code="operator"}');
  expect(await paused()).toBeUndefined();
  await place.run(['pause', '--reason', 'stock-taking']);
  await until('the pause is shown', async () => (await paused()) === 1);
  // The daemon looks at the pauses on its own.
  const counted = async () => (await scrape(port)).get('po_sync_pauses_total{code="operator"}');
  await until('the pause is counted', async () => (await counted()) === 1);
  await place.run(['resume']);
  await until('the end is shown', async () => (await paused()) === undefined);
  expect(await counted()).toBe(1);
});

it('without Redis a scrape still answers: redis_up is 0, and what the daemons share is left out', async () => {
  await using redis = await startTestRedis();
  await using place = await openWorkplace({ redis: redis.url });
  const port = await adminPort(place.start(['start']));
  await settleOne(place, 'orders.csv', ['PO-1,NEW,A,1']);
  expect((await scrape(port)).get('po_sync_orders_unsettled')).toBe(0);

  await redis.kill();
  const away = await until('the outage is shown', async () => {
    const found = await scrape(port);
    return found.get('po_sync_redis_up') === 0 && found;
  });
  expect(away.get('po_sync_orders_settled_total{outcome="accepted",source="inbox"}')).toBe(1);
  expect([...away.keys()].filter((series) => SHARED.test(series))).toEqual([]);

  await redis.restart();
  await until(
    'Redis is back',
    async () => (await scrape(port)).get('po_sync_orders_unsettled') === 0,
  );
});

it('a scrape does not wait for a Redis that does not answer', async () => {
  await using redis = await startTestRedis();
  await using place = await openWorkplace({ redis: redis.url });
  const port = await adminPort(place.start(['start']));
  await scrape(port);
  redis.freeze();
  try {
    const found = await until('the outage is shown', async () => {
      const one = await scrape(port);
      return one.get('po_sync_redis_up') === 0 && one;
    });
    expect([...found.keys()].filter((series) => SHARED.test(series))).toEqual([]);
  } finally {
    await redis.restart();
  }
});
