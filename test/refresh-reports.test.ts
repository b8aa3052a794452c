import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openBatches } from '../src/ledger/batches.ts';
import { refreshReports } from '../src/refresh-reports.ts';
import { writeReport } from '../src/report/write-report.ts';
import { openTestRedis } from './support/open-redis.ts';
import { dead, inputOf, reportOf, rows } from './support/reported.ts';
import { makeTempFolder } from './support/temp-folder.ts';

const BATCH = '20261121T071500Z-inbox-orders-3f2a91c0';

it.each(['closings', 'find'] as const)(
  'a dead letter that closes after %s was read is closed in the report too',
  async (call) => {
    await using store = await openTestRedis();
    await using reports = await makeTempFolder();
    const { redis, keys } = store;
    const orders = ['1', '2', '3'].map((number, i) => dead(rows(i + 2, [number, 'A', '1']), 'refused', '400', 'No'));
    await writeReport(inputOf(join(reports.path, BATCH), orders, { report: reportOf(orders, { batch: BATCH }) }));
    const batches = openBatches({ redis, keys, owner: 'test' });
    await batches.begin({ batch: BATCH, source: 'inbox', kind: 'inbox', name: 'orders.csv', path: '/none' }, 1);
    await redis.hset(keys.batch(BATCH), { open: 3 });
    await batches.done(BATCH);

    /** As commit.lua does it. */
    async function close(number: string): Promise<void> {
      const closing = { number, at: '2026-11-22T08:00:00.000Z', by: 'accepted', batch: 'later' };
      await redis.hset(keys.closed(BATCH), number, JSON.stringify(closing));
      await redis.hincrby(keys.batch(BATCH), 'open', -1);
      await redis.sadd(keys.refresh, BATCH);
    }

    await close('1');
    let isLate = false;
    const meanwhile = async <T>(name: string, value: Promise<T>): Promise<T> => {
      const read = await value;
      if (name === call && !isLate) {
        isLate = true;
        await close('2');
      }
      return read;
    };
    const busy = {
      ...batches,
      find: (name: string) => meanwhile('find', batches.find(name)),
      closings: (name: string) => meanwhile('closings', batches.closings(name)),
    };
    for (let round = 0; round < 3; round += 1) await refreshReports({ batches: busy, reports: reports.path });
    const read = async (name: string) => JSON.parse(await readFile(join(reports.path, BATCH, name), 'utf8'));
    expect(await read('report.json')).toMatchObject({ open: 1 });
    const letters: { closed?: object }[] = await read('dead-letters.json');
    expect(letters.map(({ closed }) => closed !== undefined)).toEqual([true, true, false]);
  },
);
