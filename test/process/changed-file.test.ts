import { execFile } from 'node:child_process';
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { countOf } from '../support/account.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

describe('a file that is written to after it was taken', () => {
  it('sends nothing twice and is reported; dropped again, its other orders are sent', async () => {
    const faults = [{ kind: 'delay', by: '60ms', on: 'create' }];
    await using place = await openWorkplace({
      faults: { faults },
      pace: 'settle: 1s, timeout: 10s',
    });
    const daemon = place.start(['start']);
    const draft = path.join(place.folder, 'draft');
    await writeFile(draft, csvOf(1_000));
    await using writer = await open(draft, 'a');
    await place.drop('other.csv', csvOf(1, 90_001));
    await promisify(execFile)('mv', [draft, path.join(place.inbox, 'orders.csv')]);
    await until('orders under way', () => countOf(place.events, 'stored') > 100);
    await writer.writeFile('PO-5000,NEW,A,1\n');
    const report = await until('the report', async () =>
      (await place.reportsNow()).find(({ file }) => file === 'orders.csv'),
    );
    expect(report).toMatchObject({
      state: 'unreadable',
      error: { code: 'unreadable-changed' },
      open: 0,
    });
    const { orders, accepted } = report.counts;
    expect(orders).toBeGreaterThan(100);
    expect(accepted).toBe(orders);
    const results = (await place.read(report, 'results.csv')).trimEnd().split('\n').slice(1);
    expect(results).toHaveLength(orders);
    expect(results.every((line) => line.includes(',accepted,'))).toBe(true);
    const page = await place.read(report, 'report.html');
    expect(page).toContain('This file was changed after it was read');
    expect(page).not.toContain('No orders were sent');
    await place.drop('again.csv', csvOf(1_000));
    await until('the rest', async () =>
      (await place.reportsNow()).some(
        ({ file, state }) => file === 'again.csv' && state === 'finished',
      ),
    );
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    expect(new Set(place.stored().values())).toEqual(new Set([1]));
    expect(place.stored().size).toBe(1_001);
    const again = (await place.reportsNow()).find(({ file }) => file === 'again.csv');
    expect(again?.counts.accepted).toBeLessThan(1_000);
  });
});
