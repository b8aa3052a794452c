import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/report/report.ts';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';
import { freePort } from '../support/free-port.ts';
import { openOperator } from '../support/operator.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { until } from '../support/until.ts';
import type { Workplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';
const table = (...rows: string[]) => [HEAD, ...rows, ''].join('\n');

/** The same API at another address. */
async function move(place: Workplace): Promise<void> {
  const config = await readFile(place.config, 'utf8');
  const [from, to] = config.includes('127.0.0.1:')
    ? ['127.0.0.1:', 'localhost:']
    : ['localhost:', '127.0.0.1:'];
  await writeFile(place.config, config.replaceAll(from, to));
}

async function json(place: Workplace, ...args: string[]) {
  return JSON.parse((await place.run(['--json', ...args])).out);
}

/** The fix file of a report, corrected. */
async function fixed(
  place: Workplace,
  report: Report,
  ...[from, to]: [RegExp, string]
): Promise<string> {
  return (await place.read(report, 'fix.xlsx')).replace(from, to);
}

async function first(place: Workplace): Promise<Report> {
  const [report] = await place.reportsNow();
  if (report === undefined) throw new Error('no report');
  return report;
}

const CAUSES: [title: string, lose: (place: Workplace, redis: string) => Promise<void>][] = [
  ['the API has another address', move],
  [
    'Redis lost its data',
    async (_, redis) => {
      await using client = Object.assign(new Redis(redis), {
        [Symbol.asyncDispose]: async () => client.disconnect(),
      });
      await client.flushdb();
    },
  ],
];

describe.each(CAUSES)('after %s', (_, lose) => {
  it('a fix file closes the dead letter of before, and its page is not red any more', async () => {
    const redis = await openDatabase();
    await using place = await openWorkplace({ redis });
    await place.drop('q.csv', table('GOOD-1,NEW,A,1', 'BAD-1,NEW,A,none'));
    expect((await place.run(['start', '--once'])).code).toBe(2);
    await lose(place, redis);
    await place.drop('other.csv', table('GOOD-2,NEW,A,1'));
    expect((await place.run(['start', '--once'])).code).toBe(0);
    expect((await json(place, 'batches', 'list')).batches).toMatchObject([
      { file: 'other.csv', open: 0 },
      { file: 'q.csv', state: 'finished', open: 1, counts: { orders: 2, accepted: 1, invalid: 1 } },
    ]);
    await place.drop('q.csv.fix.csv', await fixed(place, await first(place), /none/, '7'));
    expect((await place.run(['start', '--once'])).code).toBe(0);
    expect(await json(place, 'status')).toMatchObject({ deadLetters: 0 });
    const report = await first(place);
    expect(report.open).toBe(0);
    expect(JSON.parse(await place.read(report, 'dead-letters.json'))).toMatchObject([
      { closed: { by: 'accepted' } },
    ]);
    const { settledPath } = await json(place, 'batches', 'show', report.batch);
    expect(settledPath).toMatch(/done\/\S+\/q\.csv$/);
    expect(await readFile(`${settledPath}.result.html`, 'utf8')).toContain(
      '<h1>Nothing here needs you</h1>',
    );
    expect([...place.stored()].sort(([a], [b]) => a.localeCompare(b))).toEqual([
      ['BAD-1', 1],
      ['GOOD-1', 1],
      ['GOOD-2', 1],
    ]);
  });

  it('a fix file of before is not the last readable file of its source, and counts as a fix file', async () => {
    const redis = await openDatabase();
    await using place = await openWorkplace({ redis });
    await place.drop('q.csv', table('GOOD-1,NEW,A,1', 'BAD-1,NEW,A,none'));
    await place.run(['start', '--once']);
    await place.drop('q-fixed.csv', await fixed(place, await first(place), /,none/, ',2'));
    expect((await place.run(['start', '--once'])).code).toBe(0);
    await lose(place, redis);
    expect((await place.run(['start', '--once'])).code).toBe(0);
    expect((await json(place, 'status')).sources).toMatchObject([{ last: { file: 'q.csv' } }]);
    const reports = await place.reportsNow();
    const isFix = new Map(reports.map(({ file, isFixFile }) => [file, isFixFile]));
    expect(isFix).toEqual(
      new Map([
        ['q-fixed.csv', true],
        ['q.csv', undefined],
      ]),
    );
  });

  it('dead letters of before can be discarded, also rows without a number', async () => {
    const redis = await openDatabase();
    await using place = await openWorkplace({ redis });
    await place.drop('q.csv', table('GOOD-1,NEW,A,1', 'BAD-1,NEW,A,none', ',NEW,B,2'));
    expect((await place.run(['start', '--once'])).code).toBe(2);
    await lose(place, redis);
    expect((await place.run(['start', '--once'])).code).toBe(0);
    const { batch } = await first(place);
    expect(await place.run(['dead-letters', 'discard', '--batch', batch, '--yes'])).toMatchObject({
      code: 0,
    });
    expect((await place.run(['start', '--once'])).code).toBe(0);
    expect((await first(place)).open).toBe(0);
    expect(await json(place, 'status')).toMatchObject({ deadLetters: 0 });
  });

  it('a row that became an order before does not become another one', async () => {
    const redis = await openDatabase();
    await using place = await openWorkplace({ redis });
    await place.drop('q.csv', table(',NEW,A,7'));
    expect((await place.run(['start', '--once'])).code).toBe(2);
    const written = await place.read(await first(place), 'fix.xlsx');
    const [header, row] = written.split(/\r?\n/);
    const correct = (number: string) => `${header}\n${number}${row}\n`;
    await place.drop('q.csv.fix.csv', correct('NOW-1'));
    await place.run(['start', '--once']);
    expect([...place.stored().keys()]).toEqual(['NOW-1']);
    await lose(place, redis);
    await place.run(['start', '--once']);
    await place.drop('again.csv', correct('NOW-2'));
    await place.run(['start', '--once']);
    expect([...place.stored()]).toEqual([['NOW-1', 1]]);
  });

  it('the report of a file turns green when rows that came back in a later file are settled', async () => {
    const redis = await openDatabase();
    await using place = await openWorkplace({ redis });
    await place.drop('q.csv', table('BAD-1,NEW,A,none'));
    await place.run(['start', '--once']);
    await place.drop('q.csv.fix.csv', await fixed(place, await first(place), /none/, 'some'));
    await place.run(['start', '--once']);
    expect(JSON.parse(await place.read(await first(place), 'dead-letters.json'))).toMatchObject([
      { closed: { by: 'fixed', waitsIn: expect.stringContaining('q.csv.fix') } },
    ]);
    await lose(place, redis);
    await place.run(['start', '--once']);
    const second = (await place.reportsNow())[1];
    if (second === undefined) throw new Error('no report');
    await place.drop('again.csv', await fixed(place, second, /some/, '7'));
    await place.run(['start', '--once']);
    const [{ closed }] = JSON.parse(await place.read(await first(place), 'dead-letters.json'));
    expect(closed).toMatchObject({ by: 'fixed', end: { by: 'accepted' } });
    expect(closed).not.toHaveProperty('waitsIn');
    expect([...place.stored()]).toEqual([['BAD-1', 1]]);
  });

  it('files that were read before are known again', async () => {
    const redis = await openDatabase();
    await using place = await openWorkplace({ redis });
    await place.drop('q.csv', table('GOOD-1,NEW,A,1'));
    await place.drop('broken.csv', '\u0000\u0001');
    await place.run(['start', '--once']);
    await lose(place, redis);
    await place.drop('again.csv', table('GOOD-1,NEW,A,1'));
    await place.run(['start', '--once']);
    const { batches } = await json(place, 'batches', 'list');
    const again = batches.find(({ file }: { file: string }) => file === 'again.csv');
    expect(again.warnings).toEqual([
      expect.stringContaining('The same content was read before, as "q.csv"'),
    ]);
    const { unreadable } = await json(place, 'status');
    expect(unreadable).toMatchObject([
      { file: 'broken.csv', settledPath: expect.stringContaining('failed') },
    ]);
    expect(path.basename(unreadable[0].settledPath)).toBe('broken.csv');
  });

  it('explain says from the reports who sent an order, with its items from the file', async () => {
    const redis = await openDatabase();
    await using place = await openWorkplace({ redis, sandbox: { record: true } });
    await place.drop('q.csv', table('SENT-1,NEW,A,1'));
    await place.run(['start', '--once']);
    await place.setFaults([{ kind: 'answer', on: 'create', status: 422 }]);
    await place.drop('refused.csv', table('SENT-2,NEW,A,2'));
    expect((await place.run(['start', '--once'])).code).toBe(2);
    await place.setFaults([]);
    await place.run(['dead-letters', 'retry', '--order', 'SENT-2', '--yes']);
    expect((await place.run(['start', '--once'])).code).toBe(0);
    const [q, refused] = await place.reportsNow();
    await lose(place, redis);
    // It waits for the list, with which the ledger is built again.
    await place.drop('other.csv', table('OTHER-1,NEW,A,1'));
    expect((await place.run(['start', '--once'])).code).toBe(0);
    await place.drop('conflict.csv', table('SENT-1,NEW,A,3'));
    expect((await place.run(['start', '--once'])).code).toBe(2);

    for (const [order, report, quantity] of [
      ['SENT-1', q, 1],
      ['SENT-2', refused, 2],
    ] as const) {
      const explained = await json(place, 'explain', order);
      expect(explained.accepted).toMatchObject({ batch: report?.batch });
      expect(Date.parse(explained.accepted.at)).toBeGreaterThanOrEqual(
        Date.parse(report?.startedAt ?? ''),
      );
      expect(explained.content).toMatchObject({
        status: 'sent',
        items: [{ articleCode: 'A', quantity }],
      });
      const { out } = await place.run(['explain', order]);
      expect(out).not.toMatch(/lost its data|already had|no report says|before po-sync/);
    }
    expect((await place.run(['explain', 'SENT-2'])).out).toMatch(
      /dead letter was closed: accepted by \S+, batch/,
    );
    expect((await place.run(['dead-letters', 'list'])).out).toContain(
      "different items, found in the API's list",
    );
  });
});

it('back at the former address, reconcile --repair keeps what was sent at the other one from being sent again', async () => {
  await using place = await openWorkplace();
  const once = async (name: string, text: string) => {
    await place.drop(name, text);
    return (await place.run(['start', '--once'])).code;
  };
  expect(await once('first.csv', table('PO-1,NEW,A,1'))).toBe(0);
  await move(place);
  expect(await once('second.csv', table('PO-2,NEW,A,1'))).toBe(0);
  await move(place);
  await place.run(['pause', '--reason', 'address']);
  expect((await place.run(['reconcile', '--repair', '--yes'])).code).toBe(0);
  await place.run(['resume']);
  expect(await once('again.csv', table('PO-1,NEW,A,1', 'PO-2,NEW,A,1'))).toBe(0);
  expect([...place.stored()].sort(([a], [b]) => a.localeCompare(b))).toEqual([
    ['PO-1', 1],
    ['PO-2', 1],
  ]);
  const { batches }: { batches: { file: string }[] } = await json(place, 'batches', 'list');
  expect(batches.map(({ file }) => file).sort()).toEqual(['again.csv', 'first.csv', 'second.csv']);
});

it('after the API has another address, the metric of dead letters agrees with status, and their pages open', async () => {
  await using place = await openWorkplace({
    env: { PO_SYNC_ADMIN_PORT: String(await freePort()) },
  });
  await place.drop('q.csv', table('BAD-1,NEW,A,none', 'BAD-2,NEW,A,none'));
  expect((await place.run(['start', '--once'])).code).toBe(2);
  await move(place);
  const daemon = place.start(['start']);
  const { adminPort } = await until('the daemon', async () => {
    const { daemons }: { daemons: { adminPort?: number }[] } = await json(place, 'status');
    return daemons.find(({ adminPort: port }) => port !== undefined);
  });
  const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  expect(/^po_sync_dead_letter_orders\S* (\d+)$/m.exec(metrics)?.[1]).toBe('2');
  expect(await json(place, 'status')).toMatchObject({ deadLetters: 2 });
  const { page } = await openOperator(place, daemon);
  const { batch } = await first(place);
  const letter = await until('the dead letter', async () => {
    const { text } = await page(`/dead-letters?batch=${batch}`);
    return /<a href="(\/dead-letters\/[^"]*)">BAD-1/.exec(text)?.[1];
  });
  expect((await page(letter)).text).toMatch(/BAD-1[\s\S]*is not a number/);
  expect((await page(`/batches/${batch}`)).text).toContain('q.csv');
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

it('a pause of a person lasts at a new address of the API, also without the ledger of the former one', async () => {
  await using place = await openWorkplace();
  const runUntilItWaits = async () => {
    const daemon = place.start(['start']);
    await until(
      'the order waits',
      async () => (await json(place, 'status')).queue.unsettledOrders === 1,
    );
    daemon.child.kill('SIGTERM');
    await daemon.ended;
  };
  await place.run(['pause', '--reason', 'do not send']);
  await place.drop('waits.csv', table('PO-1,NEW,A,1'));
  await runUntilItWaits();
  await move(place);
  const { code, err } = await place.run(['start', '--once']);
  expect([code, err]).toEqual([
    1,
    expect.stringContaining('to the address that baseUrl had before'),
  ]);
  await rm(/remove (\S+\.json):/.exec(err.replace(/\s+/g, ' '))?.[1] ?? '');
  await runUntilItWaits();
  expect((await json(place, 'status')).pauses).toMatchObject([
    { reason: expect.stringContaining('do not send') },
  ]);
  expect(place.stored().size).toBe(0);
  await place.run(['resume']);
  expect((await place.run(['start', '--once'])).code).toBe(0);
  expect([...place.stored()]).toEqual([['PO-1', 1]]);
});

it('a pause of a person lasts where somebody sets the former address of the API again, and ends there with it', async () => {
  await using place = await openWorkplace();
  const once = () => place.run(['start', '--once', '--max-wait', '20s']);
  await place.drop('first.csv', table('PO-1,NEW,A,1'));
  await once();
  await move(place);
  await place.drop('second.csv', table('PO-2,NEW,A,1'));
  await once();
  await place.run(['pause', '--reason', 'do not send']);
  await move(place);
  await place.drop('third.csv', table('PO-3,NEW,A,1'));
  expect(await once()).toMatchObject({ code: 2, err: expect.stringContaining('do not send') });
  expect([...place.stored().keys()]).toEqual(['PO-1', 'PO-2']);
  await place.run(['resume']);
  expect((await once()).code).toBe(0);
  await move(place);
  expect(await json(place, 'status')).toMatchObject({ pauses: [] });
  expect([...place.stored().keys()]).toEqual(['PO-1', 'PO-2', 'PO-3']);
});
