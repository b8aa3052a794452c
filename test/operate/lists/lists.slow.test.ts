import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createListTables } from '../../../src/operate/lists/list-tables.ts';
import type { DeadLetter } from '../../../src/order/dead-letter.ts';
import { idOf } from '../../../src/order/letter-id.ts';
import { sentence } from '../../../src/order/sentence.ts';
import { connectAsAdmin } from '../../support/redis-groups.ts';
import { startTestRedis } from '../../support/test-redis.ts';
import { until } from '../../support/until.ts';
import { openWorkplace } from '../../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';

/** Batch names sort by time. */
const batchOf = (i: number) => `20261122T100000Z-${i.toString(16).padStart(8, '0')}`;

type Given = {
  number: string;
  article?: string;
  kind?: DeadLetter['kind'];
  message?: string;
  minute?: number;
};

function letterOf(
  { number, article = 'ART-1', kind = 'refused', message = 'is wrong', minute = 0 }: Given,
  i: number,
  batch = batchOf(0),
) {
  const at = `2026-11-22T10:${String(minute).padStart(2, '0')}:00.000Z`;
  return {
    id: idOf(batch, i),
    revision: 1,
    purchaseOrderNumber: number,
    kind,
    code: kind,
    message: sentence(message),
    signature: message.replace(/\d+/g, 'N'),
    attempts: 1,
    firstAt: at,
    lastAt: at,
    location: { line: i + 2 },
    payload: { items: [{ articleCode: article, quantity: 1 }] },
  } satisfies DeadLetter;
}

/** A table of batches, the oldest first, each with its dead letters. */
function tableOf(batches: readonly (readonly Given[])[]) {
  const table = createListTables();
  for (const [i, letters] of batches.entries()) {
    const from = {
      batch: batchOf(i),
      source: i % 2 === 0 ? 'inbox' : 'erp',
      file: `Orders ${i}.csv`,
    };
    for (const [k, one] of letters.entries()) table.add(from, letterOf(one, k, from.batch));
  }
  return table;
}

describe('the search of dead letters', () => {
  it('shows the orders of a file by their lines, also those that another one holds, which are reported last', () => {
    const table = createListTables();
    const from = { batch: batchOf(0), source: 'inbox', file: 'Orders.csv' };
    for (const line of [5, 6, 9, 15, 3, 8])
      table.add(from, { ...letterOf({ number: `PO-${line}` }, line), location: { line } });
    const lines = (after?: string) =>
      table.page({}, 4, after).items.map(({ location }) => location.line);
    expect(lines()).toEqual([3, 5, 6, 8]);
    expect(lines(table.page({}, 4).next)).toEqual([9, 15]);
  });

  it('counts and shows what a look at every dead letter finds, in the order of the files', () => {
    const messages = [
      'quantity 7 is wrong',
      'quantity 8 is wrong',
      'Article  UNKNOWN',
      'po-3 is late',
    ];
    const kinds = ['refused', 'invalid', 'conflict'] as const;
    const batches = Array.from({ length: 9 }, (_, b) =>
      Array.from({ length: (b * 7) % 11 }, (_, k) => ({
        number: `PO-${b}-${k}`,
        article: `ART-${(b * k) % 5}`,
        kind: kinds[(b + k) % 3] ?? 'refused',
        message: messages[(b * 3 + k) % 4] ?? '',
        minute: (b * 5 + k * 3) % 60,
      })),
    );
    const table = tableOf(batches);
    const all = batches
      .flatMap((letters, b) => letters.map((letter, k) => ({ ...letter, b, k })))
      .sort((one, other) => other.b - one.b || one.k - other.k);
    for (const q of [
      '',
      'po-3',
      'art-4',
      'wrong',
      'article unknown',
      'orders 5',
      'PO-1-1',
      'nowhere',
      '7 is',
    ]) {
      for (const kind of [undefined, 'refused'] as const) {
        for (const source of [undefined, 'erp']) {
          const words = q.toLowerCase();
          const wanted = all.filter((one) => {
            const texts = [
              one.number,
              one.article,
              one.message.replace('  ', ' '),
              `orders ${one.b}.csv`,
            ];
            const isFound = texts.some((text) => text.toLowerCase().includes(words));
            const isSource = source === undefined || one.b % 2 === 1;
            return isFound && isSource && (kind === undefined || one.kind === kind);
          });
          const filter = {
            ...(q === '' ? {} : { q }),
            ...(kind === undefined ? {} : { kind }),
            ...(source === undefined ? {} : { source }),
          };
          const { total, groups } = table.summary(filter);
          const [first, second] = [
            table.page(filter, 4),
            table.page(filter, 500, table.page(filter, 4).next),
          ];
          const rows = first.next === undefined ? first.items : [...first.items, ...second.items];
          expect([filter, total]).toEqual([filter, wanted.length]);
          expect(rows.map((row) => row.purchaseOrderNumber)).toEqual(
            wanted.map(({ number }) => number),
          );
          expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(wanted.length);
          const times = wanted.map((one) => one.minute).sort((a, b) => a - b);
          const last = groups.map(({ lastAt }) => lastAt).sort();
          expect(last.at(-1)?.slice(14, 16)).toBe(times.at(-1)?.toString().padStart(2, '0'));
        }
      }
    }
  });

  it('does not find a text across two dead letters, and no longer finds a closed one', () => {
    const table = tableOf([[{ number: 'PO-1' }, { number: 'PO-2' }]]);
    expect(table.summary({ q: 'art-1 po-2' }).total).toBe(0);
    expect(table.summary({ q: 'art-1\npo-2' }).total).toBe(0);
    table.remove(batchOf(0), [idOf(batchOf(0), 0)]);
    expect(table.summary({ q: 'po-1' }).total).toBe(0);
    expect(table.summary({ q: 'po-2' }).total).toBe(1);
  });

  it('says how many rows of a group have no number', () => {
    const table = tableOf([
      [{ number: 'PO-1', message: 'from line 1' }, { number: '' }, { number: '' }],
      [{ number: 'PO-2', message: 'from line 2' }, { number: 'PO-3' }],
    ]);
    const groupsOf = (filter: Record<string, string>) =>
      table.summary(filter).groups.map((one) => one.nameless);
    expect(groupsOf({})).toEqual([2, 0]);
    expect(groupsOf({ batch: batchOf(1) })).toEqual([0, 0]);
    expect(groupsOf({ q: 'po-2' })).toEqual([0]);
  });
});

describe('the count of open dead letters', () => {
  it('adds up what the batches have, and names the oldest with one', () => {
    using table = createListTables();
    expect(table.openLetters()).toEqual({ orders: 0, oldest: undefined });
    const state = 'finished';
    for (const [i, letters] of [0, 3, 2].entries())
      table.putBatch({ batch: batchOf(i), source: 's', file: 'a', state, open: true, letters });
    expect(table.openLetters()).toEqual({ orders: 5, oldest: batchOf(1) });
    table.removeBatch(batchOf(1));
    expect(table.openLetters()).toEqual({ orders: 2, oldest: batchOf(2) });
  });

  it('keeps the pages from reading every batch for the state that each of them shows', async () => {
    await using redis = await startTestRedis();
    await using place = await openWorkplace({ redis: redis.url });
    const daemon = place.start(['start']);
    const port = await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
    await place.drop('orders.csv', `${HEAD}\nPO-1,NEW,A,none\n`);
    const batch = await until(
      'the report',
      async () => (await place.reportsNow()).find((one) => one.finishedAt)?.batch,
    );
    await using raw = connectAsAdmin(redis);
    const [key = ''] = await raw.redis.keys(`*:b:${batch}`);
    const prefix = key.slice(0, key.indexOf(':b:'));
    for (let i = 0; i < 1_000; i += 1) {
      await raw.redis.hset(`${prefix}:b:${batchOf(i)}`, {
        batch: batchOf(i),
        name: 'a.csv',
        state: 'done',
        total: 1,
        open: 1,
      });
      await raw.redis.zadd(`${prefix}:batches`, i, batchOf(i));
    }
    const calls = async () => {
      const stats = await raw.redis.info('commandstats');
      return Number(/cmdstat_hget:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    };
    const at = `http://127.0.0.1:${port}`;
    await until('the count of all', async () => {
      const answer = await fetch(`${at}/api/v1/status`);
      return ((await answer.json()) as { deadLetters: number }).deadLetters === 1_001;
    });
    const before = await calls();
    const page = async () => (await fetch(`${at}/order?number=PO-1`)).text();
    await Promise.all(Array.from({ length: 40 }, page));
    // The daemon itself asks, too, the longer the more often.
    expect((await calls()) - before).toBeLessThan(20_000);
  });
});

describe('a list of dead letters that a person damaged', () => {
  it('does not keep the others from the dashboard, and is named in the log', async () => {
    await using place = await openWorkplace();
    await place.drop('damaged.csv', `${HEAD}\nPO-1,NEW,A,none\n`);
    await place.drop('good.csv', `${HEAD}\nPO-2,NEW,A,none\n`);
    await place.run(['start', '--once']);
    const damaged =
      (await place.reportsNow()).find(({ file }) => file === 'damaged.csv')?.batch ?? '';
    await writeFile(
      path.join(place.reports, damaged, 'dead-letters.json'),
      '[\n{\n  "purchaseOrderNumber":\n',
    );
    const daemon = place.start(['start']);
    const port = await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
    const numbers = await until('the lists', async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/dead-letters`);
      if (answer.status !== 200) return undefined;
      return (await answer.text()).match(/PO-\d/g) ?? [];
    });
    expect([...new Set(numbers)]).toEqual(['PO-2']);
    const trouble = daemon
      .out()
      .split('\n')
      .filter((line) => line.includes('"read-model-trouble"'));
    expect(trouble.map((line) => line.includes(damaged))).toEqual([true]);
  });
});
