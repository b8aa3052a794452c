import { execFile } from 'node:child_process';
import { open, readFile, writeFile } from 'node:fs/promises';
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

  it('by a program that pauses at a line end is reported after it was settled; dropped again, the rest is sent', async () => {
    const more = `notify: [{ on: [attention], command: [tee, -a, notices.txt] }]`;
    await using place = await openWorkplace({ more });
    const daemon = place.start(['start']);
    const both = csvOf(2).trimEnd().split('\n');
    const first = `${both.slice(0, -1).join('\n')}\n`;
    await using writer = await open(path.join(place.inbox, 'pause.csv'), 'a');
    await writer.writeFile(first);
    await until('the first rows to be settled', async () =>
      (await place.reportsNow()).some(({ file }) => file === 'pause.csv'),
    );
    await writer.writeFile(`${both.at(-1)}\n`);
    const unreadable = async () =>
      JSON.parse((await place.run(['status', '--json'])).out).unreadable as object[];
    const found = await until('the change', async () => {
      const files = await unreadable();
      return files.length > 0 && files;
    });
    expect({ unreadable: found }).toMatchObject({
      unreadable: [
        {
          file: 'pause.csv',
          error: { code: 'unreadable-changed' },
          counts: { orders: 1, accepted: 1 },
        },
      ],
    });
    expect((await place.run(['batches', 'list', '--open'])).out).toContain('pause.csv');
    expect((await place.run(['batches', 'show', 'pause.csv'])).out).toContain(
      'Drop the complete file again.',
    );
    const notices = await until('the notice', async () => {
      const text = await readFile(path.join(place.folder, 'notices.txt'), 'utf8').catch(() => '');
      return text !== '' && text;
    });
    expect(notices.match(/the file was changed after it was read/g)).toHaveLength(1);
    await place.drop('pause.csv', csvOf(2));
    await until('the rest', () => place.stored().size === 2);
    await until('the end of the warning', async () => (await unreadable()).length === 0);
    daemon.child.kill('SIGTERM');
    const { out: log } = await daemon.ended;
    expect(new Set(place.stored().values())).toEqual(new Set([1]));
    expect(log.match(/"file-changed-after-read"/g)).toHaveLength(1);
  });
});
