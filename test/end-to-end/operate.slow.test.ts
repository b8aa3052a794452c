import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Report } from '../../src/report/report.ts';
import { until } from '../support/until.ts';
import { type Ended, openWorkplace, type Workplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';
const ROWS = [
  'PO-1,NEW,A-1,1',
  'PO-3,NEW,A-1,2',
  'PO-3,NEW,,5',
  'PO-7,NEW,"X-9\u001b[2J",1',
  ',NEW,A-2,1',
  'PO-2,NEW,A-1,none',
  'PO-5,NEW,X-9,1',
  'PO-6,NEW,X-9,1',
];
const FAULTS = [
  {
    kind: 'answer',
    status: 400,
    message: 'articleCode X-9 is invalid',
    orders: ['PO-5'],
    attempts: '1',
  },
  { kind: 'answer', status: 400, message: 'articleCode \u001b[31mX-9', orders: ['PO-6'] },
];

/** What the documents of several commands hold, as far as it is looked at one by one. */
type Shown = {
  deadLetters: { kind: string; purchaseOrderNumber: string; signature: string }[];
  groups: { signature: string }[];
  queue: { unsettledOrders: number };
  token: object;
  daemons: object[];
  batches: { state: string }[];
  findings: { check: string; state: string }[];
};

describe("the operator's commands", () => {
  let planned = '';
  const stack = new AsyncDisposableStack();
  let place: Workplace;

  beforeAll(async () => {
    place = stack.use(await openWorkplace({ faults: { faults: FAULTS } }));
    await place.drop('orders.csv', `${[HEAD, ...ROWS].join('\n')}\n`);
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
  });
  afterAll(() => stack.disposeAsync());

  const run = (...args: string[]): Promise<Ended> => place.run(args, { USER: 'anna' });

  async function json(...args: string[]): Promise<{ code: number | null; document: Shown }> {
    const { code, out, err } = await run('--json', ...args);
    expect(err).toBe('');
    return { code, document: JSON.parse(out) };
  }

  async function report(): Promise<Report> {
    const [only] = await place.reportsNow();
    if (only === undefined) throw new Error('no report');
    return only;
  }

  it.each([
    [
      ['--kind', 'refused'],
      ['PO-5', 'PO-6'],
    ],
    [['--order', 'PO-3'], ['PO-3']],
    [['--kind', 'invalid', '--order', 'PO-2'], ['PO-2']],
  ])('dead-letters list %j finds %j', async (filters, numbers) => {
    const { document } = await json('dead-letters', 'list', ...filters);
    expect(document.deadLetters.map((deadLetter) => deadLetter.purchaseOrderNumber)).toEqual(
      numbers,
    );
  });

  it('dead-letters list finds all of a signature, and those of a batch by the end of its name', async () => {
    const { document: all } = await json(
      'dead-letters',
      'list',
      '--batch',
      (await report()).batch.slice(-8),
    );
    expect(all.deadLetters).toHaveLength(6);
    const signature = all.groups[0]?.signature ?? '';
    const { document } = await json('dead-letters', 'list', '--signature', signature);
    expect(document.deadLetters.every((one) => one.signature === signature)).toBe(true);
  });

  it('--order can be repeated, and an unknown one among others is an error that names all, and changes nothing', async () => {
    const two = ['--order', 'PO-5', '--order', 'PO-2'];
    const { document } = await json('dead-letters', 'list', ...two);
    expect(document.deadLetters.map((one) => one.purchaseOrderNumber)).toEqual(['PO-2', 'PO-5']);
    // Another spelling of a number that the ledger knows.
    const spelled = ['--order', 'po-05', '--order', 'PO-2'];
    const { document: alike } = await json('dead-letters', 'list', ...spelled);
    expect(alike.deadLetters).toEqual(document.deadLetters);
    const { out: retry } = await run('dead-letters', 'retry', '--order', 'po-05', '--dry-run');
    expect(retry).toMatch(/^1 order would be queued to be sent again\.\nTo do exactly this/);
    const { document: plan } = await json('dead-letters', 'discard', ...two, '--dry-run');
    expect(plan).toEqual({
      dryRun: true,
      id: expect.any(String),
      plan: { discarded: 2 },
    });
    for (const action of ['discard', 'retry']) {
      const { code, out, err } = await run(
        'dead-letters',
        action,
        ...two,
        '--order',
        'T-1',
        '--order',
        'T-2',
        '--yes',
      );
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/Orders T-1, T-2 not found in staging\./);
    }
    expect(await deadLettersLeft()).toBe(6);
  });

  it('--limit limits the list, also as JSON, and actions; total and groups cover all', async () => {
    const { document } = await json('dead-letters', 'list', '--limit', '1');
    expect(document.deadLetters).toHaveLength(1);
    expect(document).toMatchObject({ total: 6 });
    const { document: plan } = await json('dead-letters', 'discard', '--limit', '2', '--dry-run');
    expect(plan).toMatchObject({ dryRun: true, plan: { discarded: 2 } });
  });

  it('discard without a filter needs --all where nobody is asked', async () => {
    const { out } = await run('dead-letters', 'discard', '--dry-run');
    expect(out).toMatch(
      /^6 orders would be discarded\.\nTo do exactly this, use --yes --plan \w+\.\n$/,
    );
    const refused = {
      error: { code: 'usage-missing-filter', remedy: expect.stringContaining('--all') },
    };
    expect(await json('dead-letters', 'discard', '--yes')).toMatchObject({
      code: 1,
      document: refused,
    });
    expect(await json('dead-letters', 'discard', '--limit', '1', '--yes')).toMatchObject({
      code: 1,
      document: refused,
    });
    expect(await run('dead-letters', 'discard')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/Add --yes and a filter/),
    });
    expect(await deadLettersLeft()).toBe(6);
  });

  it('a plan does exactly what its dry run showed: without filters, for its own command', async () => {
    const { document: dry } = await json('dead-letters', 'retry', '--kind', 'refused', '--dry-run');
    planned = (dry as { id?: string }).id ?? '';
    const both = ['dead-letters', 'retry', '--plan', planned];
    expect((await json(...both, '--kind', 'refused')).document).toMatchObject({
      error: { code: 'usage-plan-and-filter' },
    });
    expect(
      (await json('dead-letters', 'discard', '--plan', planned, '--yes')).document,
    ).toMatchObject({ error: { code: 'plan-unknown' } });
    expect((await json(...both, '--dry-run')).document).toMatchObject({ plan: { retried: 2 } });
  });

  async function deadLettersLeft(): Promise<number> {
    return (await json('dead-letters', 'list')).document.deadLetters.length;
  }

  it('explain finds an order in another spelling', async () => {
    for (const typed of ['po-5', ' PO-5', 'PO-005'])
      expect((await json('explain', typed)).document).toMatchObject({ order: 'PO-5' });
    expect((await json('explain', 'po-55')).document).toMatchObject({
      error: { code: 'order-unknown', message: 'Order po-55 not found in staging.' },
    });
  });

  it('commands find a batch by the name of its file', async () => {
    const { batch } = await report();
    expect((await json('batches', 'show', 'orders.csv')).document).toMatchObject({ batch });
    const { document: ofFile } = await json('dead-letters', 'list', '--batch', 'orders.csv');
    expect(ofFile.deadLetters).toHaveLength(6);
    expect((await json('dead-letters', 'list', '--batch', 'orders.txt')).document).toMatchObject({
      error: { code: 'batch-unknown', message: 'Batch orders.txt not found.' },
    });
    expect((await json('batches', 'cancel', 'orders.csv', '--yes')).document).toMatchObject({
      error: { code: 'batch-finished' },
    });
    expect((await json('batches', 'show', 'orders.txt')).document).toMatchObject({
      error: { code: 'batch-unknown', message: 'Batch orders.txt not found.' },
    });
  });

  it('explain shows file, lines, checks, the words of the API and what to do', async () => {
    const { out: refused } = await run('explain', 'PO-5');
    expect(refused).toMatch(/^PO-5 {2}refused, waits for a person\n {2}1 × X-9\n/);
    expect(refused).toMatch(
      /in orders\.csv \(source inbox\), line 8, batch \S+\n.*attempt 1: articleCode X-9 is invalid \(HTTP 400\)\n.*refused after 1 attempt/,
    );
    expect(refused).toContain('po-sync dead-letters retry --order PO-5');
    const { out: invalid } = await run('explain', 'PO-3');
    expect(invalid).toMatch(/^PO-3 {2}invalid, waits for a person\n/);
    expect(invalid).toMatch(/lines 3, 4, batch/);
    expect(invalid).toMatch(/line 4, articleCode is empty/);
    const { out: accepted } = await run('explain', 'PO-1');
    expect(accepted).toMatch(/^PO-1 {2}accepted\n/);
    const { document } = await json('explain', 'PO-1');
    expect(document).toMatchObject({
      order: 'PO-1',
      state: 'accepted',
      appearances: [{ result: { line: 2 } }],
    });
  });

  it('retry first shows what it would do, and does nothing without a yes', async () => {
    const { document: dry, code } = await json('dead-letters', 'retry', '--dry-run');
    expect({ dry, code }).toEqual({
      code: 2,
      dry: {
        dryRun: true,
        id: expect.any(String),
        plan: { retried: 2, invalid: 4 },
        listCheck: 'ok',
      },
    });
    const { code: refused, err, out } = await run('dead-letters', 'retry', '--kind', 'refused');
    expect(refused).toBe(1);
    expect(out).toBe('2 orders would be queued to be sent again.\n');
    expect(err).toContain('Run again with --yes');
    expect((await json('status')).document.queue.unsettledOrders).toBe(0);
  });

  it('retry sends orders again; the accepted ones close their dead letters, the others wait again', async () => {
    const { code, out } = await run('dead-letters', 'retry', '--kind', 'refused', '--yes');
    expect({ code, out }).toEqual({
      code: 0,
      out: '2 orders queued to be sent again.\n',
    });
    const { out: explained } = await run('explain', 'PO-5');
    expect(explained).toMatch(/retried by anna/);
    const { document: waiting } = await json('dead-letters', 'list', '--order', 'PO-5');
    expect(waiting.deadLetters).toMatchObject([{ now: 'queued' }]);
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
    expect(place.stored().get('PO-5')).toBe(1);
    const { document } = await json('dead-letters', 'list', '--kind', 'refused', '--all');
    expect(document.deadLetters).toMatchObject([
      { purchaseOrderNumber: 'PO-5', closed: { by: 'accepted', who: 'anna' } },
      { purchaseOrderNumber: 'PO-6' },
    ]);
    expect(await report()).toMatchObject({ open: 5, counts: { accepted: 1, refused: 2 } });
    const { out: again } = await run('explain', 'PO-6');
    expect(again).toMatch(/refused after 1 attempt[\s\S]*retried by anna[\s\S]*attempt 2:/);
  });

  it('a plan names what is settled since, and leaves it alone', async () => {
    expect(await json('dead-letters', 'retry', '--plan', planned, '--yes')).toMatchObject({
      code: 2,
      document: { changed: [{ order: 'PO-5', verdict: 'settled' }], done: { retried: 1 } },
    });
    await place.run(['start', '--once']);
  });

  it('discard closes dead letters, also one without a number, and frees the number', async () => {
    expect(await run('dead-letters', 'discard', '--kind', 'invalid', '--yes')).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^4 orders discarded\.\nA file that brings a discarded order again can send it .* taken out of the export\.\n$/,
      ),
    });
    expect(await report()).toMatchObject({ open: 1, counts: { invalid: 4 } });
    const { document: all } = await json('dead-letters', 'list', '--all');
    expect(all.deadLetters).toContainEqual(
      expect.objectContaining({
        purchaseOrderNumber: '',
        closed: { at: expect.any(String), by: 'discarded', who: 'anna' },
      }),
    );
    expect((await json('dead-letters', 'discard', '--all', '--yes')).document).toEqual({
      done: { discarded: 1 },
    });
    expect(await run('dead-letters', 'list')).toMatchObject({ out: 'No orders need a person.\n' });
    // Nothing is left to retry or discard.
    const { out: closed } = await run('dead-letters', 'list', '--all');
    expect(closed).toContain('All of them are closed.');
    expect(closed).toMatch(/PO-6 +refused, closed .*discarded by anna/);
    expect(closed).not.toContain('po-sync dead-letters');
    expect((await run('explain', 'PO-6')).out).toMatch(/^PO-6 {2}refused, discarded since\n/);
    expect(await run('dead-letters', 'retry', '--order', 'PO-6', '--yes')).toMatchObject({
      code: 0,
      out: 'No open dead letter matches.\n',
    });
    expect((await json('explain', 'PO-6')).document).toMatchObject({
      state: 'nothing',
      operatorActions: [
        { what: 'retried', who: 'anna', after: { attempt: 1 } },
        { what: 'retried', who: 'anna', after: { attempt: 2 } },
        { what: 'discarded', who: 'anna' },
      ],
    });
  });

  it('reconcile finds what the API has and the ledger does not, and adds it', async () => {
    expect(await run('reconcile')).toMatchObject({
      code: 0,
      out: expect.stringContaining('They agree. No order is listed twice.'),
    });
    const token = await place.api.token();
    const order = {
      purchaseOrderNumber: 'HAND-1',
      orderState: 'NEW',
      items: [{ articleCode: 'A', quantity: 3 }],
    };
    await place.api.create(order, token);
    const { code, document } = await json('reconcile');
    expect(code).toBe(2);
    expect(document).toMatchObject({
      listed: 3,
      accepted: 2,
      unknown: [{ order: 'HAND-1' }],
      missing: [],
    });
    expect(await run('reconcile', '--repair', '--yes')).toMatchObject({
      code: 0,
      out: expect.stringContaining('1 order added to the ledger. Ledger and API agree.'),
    });
    const calls = place.stored().size;
    await place.drop('again.csv', `${HEAD}\nHAND-1,NEW,A,3\n`);
    await place.run(['start', '--once']);
    expect(place.stored().size).toBe(calls);
    expect((await run('explain', 'HAND-1')).out).toMatch(
      /accepted: the API's list shows it[\s\S]*duplicate/,
    );
  });

  it('pause holds delivery while files are taken; resume continues it', async () => {
    expect(await run('pause', '--reason', 'stock-taking')).toMatchObject({
      code: 0,
      out: expect.stringContaining('paused by anna: stock-taking'),
    });
    const daemon = place.start(['start']);
    await place.drop('later.csv', `${HEAD}\nPO-100,NEW,A,1\n`);
    const document = await until('an order that waits', async () => {
      const { document: now } = await json('status');
      return (
        now.queue.unsettledOrders === 1 &&
        now.batches.some(({ state }) => state === 'sending') &&
        now
      );
    });
    expect(document).toMatchObject({
      daemons: [{ pid: daemon.child.pid, version: expect.any(String), host: expect.any(String) }],
      pauses: [{ code: 'operator', message: 'paused by anna: stock-taking', held: true }],
      batches: [{ file: 'later.csv', state: 'sending' }],
    });
    expect(place.stored().has('PO-100')).toBe(false);
    expect((await run('explain', 'PO-100')).out).toMatch(
      /^PO-100 {2}waits to be sent[\s\S]*To resume delivery, run po-sync resume\./,
    );
    expect(await run('resume')).toMatchObject({
      code: 0,
      out: expect.stringContaining('is running'),
    });
    await until('the order', () => place.stored().get('PO-100') === 1);
    expect(await run('resume')).toMatchObject({
      code: 0,
      out: expect.stringContaining('not paused by an operator; it is running.'),
    });
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    expect((await json('status')).document.daemons).toEqual([]);
    expect((await run('resume')).out).toContain('it begins when a daemon runs.');
  });
});

it('an order that needs a person is listed and retried once while its report is there and its file cannot be moved', async () => {
  const faults = [{ kind: 'answer', status: 400, message: 'unknown article', attempts: '1' }];
  await using place = await openWorkplace({ faults: { faults } });
  await writeFile(path.join(place.folder, 'inbox', 'done'), 'not a folder');
  place.start(['start']);
  await place.drop('orders.csv', `${HEAD}\nPO-1,NEW,A,1\n`);
  await until('the report', async () =>
    (await place.reportsNow()).some(({ state }) => state === 'finished'),
  );
  const { deadLetters } = await place.json('dead-letters', 'list');
  expect(deadLetters).toHaveLength(1);
  const retried = await place.json('dead-letters', 'retry', '--order', 'PO-1', '--yes');
  expect(retried).toMatchObject({ done: { retried: 1 } });
});
