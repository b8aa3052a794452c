import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRedis, type Redis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { until } from '../support/until.ts';
import { csvOf, type Ended, openWorkplace, type Workplace } from '../support/workplace.ts';

const FAULTS = [
  { kind: 'drop', when: 'after', orders: ['PO-1', 'PO-2'], attempts: '1' },
  { kind: 'drop', when: 'before', orders: ['PO-3'], attempts: '1', how: 'reset' },
  // The first read is the one of the new ledger.
  { kind: 'answer', on: 'list', status: 403, calls: '2-999' },
];

describe('orders in doubt where the API gives no list', () => {
  const stack = new AsyncDisposableStack();
  let place: Workplace;
  let redis: Redis;

  beforeAll(async () => {
    const url = await openDatabase();
    redis = await connectRedis(url);
    stack.defer(() => redis.disconnect());
    place = stack.use(await openWorkplace({ faults: { faults: FAULTS }, redis: url }));
    await place.drop('orders.csv', csvOf(4));
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
  });
  afterAll(() => stack.disposeAsync());

  const run = (...args: string[]): Promise<Ended> => place.run(args, { USER: 'anna' });

  async function deadLetters(): Promise<[string, string][]> {
    const { out } = await run('--json', 'dead-letters', 'list');
    return JSON.parse(out).deadLetters.map((one: { purchaseOrderNumber: string; kind: string }) => [
      one.purchaseOrderNumber,
      one.kind,
    ]);
  }

  it('explain says what was found out and asks the person', async () => {
    expect(await deadLetters()).toEqual([
      ['PO-1', 'inDoubt'],
      ['PO-2', 'inDoubt'],
      ['PO-3', 'inDoubt'],
    ]);
    expect((await run('explain', 'PO-1')).out).toMatch(
      /^PO-1 {2}in doubt, waits for a person[\s\S]*--as accepted[\s\S]*--as resend/,
    );
  });

  it('dead-letters list says how to resolve them, not to correct them', async () => {
    const { out } = await run('dead-letters', 'list');
    expect(out).toMatch(
      /Check whether the API has the orders[\s\S]*dead-letters resolve ORDER --as accepted/,
    );
    expect(out).not.toMatch(/Correct|discard|unchanged/);
  });

  it('discard leaves them: whether the API has them is not known', async () => {
    const { code, out } = await run('dead-letters', 'discard', '--all', '--yes');
    expect({ code, out }).toEqual({
      code: 2,
      out: expect.stringContaining('3 orders cannot be discarded: in doubt'),
    });
  });

  it('retry asks the list again and never just sends them', async () => {
    const { out } = await run('dead-letters', 'retry', '--order', 'PO-1', '--yes');
    expect(out).toMatch(/list could not be read[\s\S]*1 order looked up in the API's list again/);
    await place.run(['start', '--once']);
    expect(place.stored().get('PO-1')).toBe(1);
    expect(await deadLetters()).toHaveLength(3);
  });

  it('resolve --as accepted settles one that is there', async () => {
    expect(await run('dead-letters', 'resolve', 'PO-1', '--as', 'accepted', '--yes')).toMatchObject(
      {
        code: 0,
        out: expect.stringContaining('PO-1 is settled as accepted'),
      },
    );
    const [report] = await place.reportsNow();
    if (report === undefined) throw new Error('no report');
    expect(report.open).toBe(2);
    const { out } = await run('--json', 'dead-letters', 'list', '--all', '--order', 'PO-1');
    expect(JSON.parse(out).deadLetters).toMatchObject([
      { closed: { by: 'confirmed', who: 'anna' } },
    ]);
    expect(await run('dead-letters', 'resolve', 'PO-1', '--as', 'accepted', '--yes')).toMatchObject(
      {
        code: 1,
        err: expect.stringContaining('is not in doubt.'),
      },
    );
  });

  it('resolve --as resend sends one that is not there', async () => {
    expect(await run('dead-letters', 'resolve', 'PO-3', '--as', 'resend')).toMatchObject({
      code: 1,
    });
    const twice = 'If the API has it, it is created twice.';
    const planned = (await run('dead-letters', 'resolve', 'PO-3', '--as', 'resend', '--dry-run'))
      .out;
    expect(planned).toContain(`PO-3 would be queued to be sent again. ${twice}`);
    const { code, out } = await run('dead-letters', 'resolve', 'PO-3', '--as', 'resend', '--yes');
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining(`PO-3 is queued to be sent again. ${twice}`),
    });
    await place.run(['start', '--once']);
    expect(place.stored().get('PO-3')).toBe(1);
    expect(await deadLetters()).toEqual([['PO-2', 'inDoubt']]);
    expect((await run('explain', 'PO-3')).out).toMatch(/^PO-3 {2}accepted[\s\S]*resent by anna/);
    const { out: all } = await run('--json', 'dead-letters', 'list', '--all', '--order', 'PO-3');
    expect(JSON.parse(all).deadLetters).toMatchObject([
      { closed: { by: 'accepted', who: 'anna' } },
    ]);
  });

  it('reconcile says that there is no list, doctor what that means', async () => {
    expect(await run('reconcile')).toMatchObject({
      code: 1,
      err: expect.stringContaining('This API does not offer its list'),
    });
    const { code, out } = await run('doctor');
    expect(code).toBe(0);
    expect(out).toMatch(/warn +API +.*an order whose answer is lost stays in doubt → Check/);
  });

  it('after a rollback delivery waits for a person, who may resume it without the list', async () => {
    const text = await readFile(place.config, 'utf8');
    await writeFile(place.config, text.replace('list: trust', 'list: none'));
    expect(await run('reconcile', '--repair', '--yes')).toMatchObject({
      code: 0,
      out: 'Delivery is not waiting for the list.\n',
    });
    await redis.flushdb();
    await place.drop('more.csv', csvOf(2, 11));
    const daemon = place.start(['start']);
    await until('a hold that names the way out', async () =>
      (await run('status')).out.includes('run po-sync reconcile'),
    );
    expect((await run('resume')).out).toMatch(/still paused[\s\S]*run po-sync reconcile --repair/);
    expect(await run('reconcile', '--repair')).toMatchObject({ code: 1 });
    expect(place.stored().has('PO-11')).toBe(false);
    expect(await run('reconcile', '--repair', '--yes')).toMatchObject({
      code: 0,
      out: 'Delivery resumes without the list.\n',
    });
    // With list: prove, a list is read as for a new ledger.
    expect(await redis.hget(keysOf('staging').listProof, 'assumed')).toBe('none');
    await until(
      'the orders',
      () => place.stored().get('PO-11') === 1 && place.stored().get('PO-12') === 1,
    );
    daemon.child.kill('SIGTERM');
    await daemon.ended;
  });
});

describe('orders in doubt where a person decides and the list can be had', () => {
  it('what the list shows is neither sent again nor discarded, and retry settles it', async () => {
    const faults = [{ kind: 'drop', when: 'after', orders: ['PO-1', 'PO-2'], attempts: '1' }];
    await using place = await openWorkplace({ faults: { faults }, delivery: ', onDoubt: hold' });
    await place.drop('orders.csv', csvOf(3));
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
    expect(
      await place.run(['dead-letters', 'resolve', 'PO-1', '--as', 'resend', '--yes']),
    ).toMatchObject({
      code: 1,
      err: expect.stringContaining('sending it again would create it twice'),
    });
    expect(await place.run(['reconcile'])).toMatchObject({
      code: 2,
      out: expect.stringMatching(
        /2 orders are different at the API, in content or state\. Settle what is the same with po-sync reconcile --repair\. [^\n]*\n[\s\S]*PO-1 +in doubt +the same/,
      ),
    });
    expect(await place.run(['dead-letters', 'retry', '--order', 'PO-1', '--yes'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('1 order settled as accepted'),
    });
    const explained = await place.run(['explain', 'PO-1'], { USER: 'anna' });
    expect(explained.out).toMatch(
      /its dead letter of orders\.csv was closed: found in the API's list /,
    );
    expect(explained.out).not.toContain('rebuilt');
    expect(await place.run(['reconcile', '--repair', '--yes'])).toMatchObject({
      code: 0,
      out: expect.stringContaining(
        '0 orders added to the ledger. 1 order settled as accepted. Ledger and API agree.',
      ),
    });
    expect(await place.reportsNow()).toMatchObject([
      { open: 0, counts: { accepted: 1, inDoubt: 2 } },
    ]);
    expect([...place.stored().values()]).toEqual([1, 1, 1]);
  });
});

it('status and explain say that the list cannot be read, since when and why, and the log warns', async () => {
  const faults = [
    { kind: 'drop', when: 'after', orders: ['PO-1'], attempts: '1' },
    { kind: 'answer', on: 'list', status: 500, message: 'list is broken', calls: '2-999' },
  ];
  await using place = await openWorkplace({ faults: { faults } });
  const daemon = place.start(['start']);
  await place.drop('orders.csv', csvOf(2));
  await until('the failed list', async () => {
    const { out } = await place.run(['status']);
    return /API's list +could not be read for .*list is broken.*; orders in doubt wait for it/.test(
      out,
    );
  });
  expect((await place.run(['explain', 'PO-1'])).out).toMatch(
    /every read of it since 20.* UTC failed: .*list is broken/,
  );
  expect(daemon.out()).toMatch(/"level":"warn".*"event":"list-read".*list is broken/);
  daemon.child.kill('SIGTERM');
  await daemon.ended;
});
