import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';
import { openOperator } from '../support/operator.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { until } from '../support/until.ts';

const HEAD = 'PO_NO;MATNR;MENGE\n';
const MORE = `mappings:
  erp: { columns: { PO_NO: { is: purchaseOrderNumber }, MATNR: { is: articleCode }, MENGE: { is: quantity } } }
`;

describe('an export', () => {
  it('is only read; what is known costs no call, what is wrong is reported once, what is fixed is sent', async () => {
    await using place = await openWorkplace({
      more: MORE,
      source:
        '- { name: erp, type: export, path: erp.csv, mapping: erp, stable: 100ms, poll: 200ms }',
    });
    const file = path.join(place.folder, 'erp.csv');
    const received = () => place.events.filter(({ type }) => type === 'received').length;
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });

    await writeFile(file, `${HEAD}1001;BOLT;5\n1002;NUT;many\n`);
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
    expect([...place.stored()]).toEqual([['1001', 1]]);

    expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
    expect(await place.reportsNow()).toHaveLength(1);

    await writeFile(file, `${HEAD}1001;BOLT;5\n1002;NUT;many\n1003;NUT;1\n`);
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
    expect(received()).toBe(2);
    const [, second] = await place.reportsNow();
    expect(second).toMatchObject({
      open: 0,
      counts: { orders: 3, accepted: 1, duplicate: 2, invalid: 0 },
    });

    await writeFile(file, `${HEAD}1001;BOLT;6\n1002;NUT;7\n1003;NUT;1\n`);
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
    const [first, , third] = await place.reportsNow();
    expect(third).toMatchObject({ open: 1, counts: { accepted: 1, duplicate: 1, conflict: 1 } });
    expect(first).toMatchObject({ open: 0, counts: { invalid: 1 } });
    expect(received()).toBe(3);
    expect(await readdir(path.join(place.folder, 'data', 'spool', 'erp'))).toEqual([]);
    expect(await readdir(place.folder)).toContain('erp.csv');
  });

  it('says which of its orders were not sent because they wait since an earlier version, and which were settled since', async () => {
    await using place = await openWorkplace({
      more: MORE,
      source:
        '- { name: erp, type: export, path: erp.csv, mapping: erp, stable: 100ms, poll: 200ms }',
    });
    const rows = '1001;BOLT;5\n1002;NUT;many\n;NUT;some\n1003;NUT;few\n';
    const version = async (more: string) => {
      await writeFile(path.join(place.folder, 'erp.csv'), `${HEAD}${rows}${more}`);
      await place.run(['start', '--once']);
      const report = (await place.reportsNow()).at(-1);
      if (report === undefined) throw new Error('no report');
      return {
        report,
        page: await place.read(report, 'report.html'),
        results: await place.read(report, 'results.csv'),
      };
    };

    const first = await version('');
    expect(first.report).toMatchObject({ counts: { invalid: 3 }, warnings: [] });
    const second = await version('1004;NUT;1\n');
    const waits = '3 orders were not sent: when this file was read, they waited for a person.';
    expect(second.report.counts).toMatchObject({ accepted: 1, duplicate: 4 });
    expect(second.report.warnings).toEqual([expect.stringContaining(waits)]);
    expect(second.page).toMatch(
      /<header class="neutral">[\s\S]*<h1>Nothing new in this file needed you/,
    );
    expect(second.results).toMatch(
      new RegExp(
        `,1003,duplicate,.*,known-invalid,.*waits for a person in .*erp\\.csv.* \\(batch ${first.report.batch}\\)`,
      ),
    );
    expect(second.results).toMatch(
      /,,duplicate,.*,known-invalid,"unchanged, and waits for a person in /,
    );

    await place.run(['dead-letters', 'discard', '--order', '1003', '--yes']);
    const third = await version('1004;NUT;1\n1005;NUT;1\n');
    expect(third.report.warnings[0]).toContain(
      '2 orders were not sent: when this file was read, they waited',
    );
    expect(third.results).toMatch(
      /,1003,duplicate,.*,known-settled,.*needed a person before in .*; it was settled since/,
    );
    expect(third.results).toMatch(/,1002,duplicate,.*,known-invalid,.*waits for a person/);

    await place.run(['dead-letters', 'discard', '--order', '1002', '--yes']);
    const fourth = await version('1004;NUT;1\n1005;NUT;1\n1006;NUT;1\n');
    expect(fourth.report.warnings).toEqual([expect.stringContaining('1 order was not sent')]);
    expect(fourth.page).toContain('<h1>Nothing new in this file needed you');
  });

  it('of a pattern with newestOnly is read from the newest file alone, also when that is gone, and after Redis lost its data', async () => {
    const redis = await openDatabase();
    const pattern = "type: export, path: 'erp/PO_*.csv', mapping: erp, stable: 100ms, poll: 200ms";
    await using place = await openWorkplace({
      redis,
      more: MORE,
      source: `- { name: erp, ${pattern} }`,
    });
    await using client = Object.assign(new Redis(redis), {
      [Symbol.asyncDispose]: async () => client.disconnect(),
    });
    const once = () => place.run(['start', '--once']);
    const file = (day: string) => path.join(place.folder, 'erp', `PO_${day}.csv`);
    await mkdir(path.dirname(file('')));
    // 1002 was cancelled after Friday.
    const content = {
      20: '1001;BOLT;5\n1002;NUT;1\n',
      21: '1001;BOLT;5\n1002;NUT;1\n',
      23: '1001;BOLT;6\n1003;NUT;1\n',
    };
    for (const [day, rows] of Object.entries(content)) {
      await writeFile(file(day), HEAD + rows);
      await utimes(
        file(day),
        new Date(`2026-11-${day}T03:00:00Z`),
        new Date(`2026-11-${day}T03:00:00Z`),
      );
    }
    const config = await readFile(place.config, 'utf8');
    await writeFile(place.config, config.replace('poll: 200ms', 'poll: 200ms, newestOnly: true'));

    expect(await once()).toMatchObject({ code: 0 });
    expect(await place.reportsNow()).toMatchObject([
      { file: 'PO_23.csv', counts: { accepted: 2 } },
    ]);
    await rm(file('23'));
    expect(await once()).toMatchObject({ code: 0 });
    await client.flushdb();
    for (const _ of [1, 2]) expect(await once()).toMatchObject({ code: 0 });
    expect(await place.reportsNow()).toHaveLength(1);
    expect([...place.stored().keys()].toSorted()).toEqual(['1001', '1003']);

    await writeFile(file('20'), `${HEAD}1001;BOLT;6\n1004;NUT;1\n`);
    expect(await once()).toMatchObject({ code: 0 });
    expect([...place.stored().keys()].toSorted()).toEqual(['1001', '1003', '1004']);
    expect((await place.reportsNow()).map((report) => report.file)).toEqual([
      'PO_23.csv',
      'PO_20.csv',
    ]);
  });

  it('has fix files that an inbox with other columns takes, also when they come back wrong and are corrected again', async () => {
    await using place = await openWorkplace({
      more: MORE,
      source: `- { name: erp, type: export, path: erp.csv, mapping: erp, stable: 100ms, poll: 200ms }
  - { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 200ms }`,
    });
    await writeFile(path.join(place.folder, 'erp.csv'), `${HEAD}1001;BOLT;5\n1002;NUT;many\n`);
    await place.run(['start', '--once']);
    const generations: [wrong: string, right: string][] = [
      ['many', 'more'],
      ['more', 'most'],
      ['most', '7'],
    ];
    for (const [i, [wrong, right]] of generations.entries()) {
      const last = (await place.reportsNow()).at(-1);
      if (last === undefined) throw new Error('no report');
      const fix = await place.read(last, 'fix.xlsx');
      await place.drop(`fix-${i}.csv`, fix.replace(wrong, right));
      await place.run(['start', '--once']);
      expect((await place.reportsNow()).at(-1)?.error).toBeUndefined();
    }
    expect(Object.fromEntries(place.stored())).toEqual({ 1001: 1, 1002: 1 });
    const reports = await place.reportsNow();
    expect(reports.map(({ source, readAs, open }) => [source, readAs, open])).toEqual([
      ['erp', undefined, 0],
      ['inbox', 'erp', 0],
      ['inbox', 'erp', 0],
      ['inbox', 'erp', 0],
    ]);
  });

  it('is read again after its mapping was corrected, with the content that was unreadable before', async () => {
    await using place = await openWorkplace({
      more: MORE,
      source:
        '- { name: erp, type: export, path: erp.csv, mapping: erp, stable: 100ms, poll: 200ms }',
    });
    await writeFile(path.join(place.folder, 'erp.csv'), 'PO_NO;MATNR;QTY\n1001;BOLT;5\n');
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
    const [first] = await place.reportsNow();
    if (first?.state !== 'unreadable') throw new Error('it was read');
    expect(first.error?.remedy).toMatch(/reads .* this one again with another mapping/);
    expect(await place.read(first, 'report.html')).not.toMatch(/drop/i);

    await writeFile(place.config, (await readFile(place.config, 'utf8')).replace('MENGE', 'QTY'));
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
    expect(Object.fromEntries(place.stored())).toEqual({ 1001: 1 });
    const [, second] = await place.reportsNow();
    expect(second).toMatchObject({ state: 'finished', counts: { accepted: 1 } });
    expect((await place.run(['status'])).out).not.toContain('unreadable');
  });

  it('sends its cancelled orders with its next version, and says so before and after the cancellation', async () => {
    await using place = await openWorkplace({
      more: MORE,
      source:
        '- { name: erp, type: export, path: erp.csv, mapping: erp, stable: 100ms, poll: 200ms }',
    });
    const running = place.start(['start']);
    const person = await openOperator(place, running);
    await place.run(['pause']);
    await until('the pause', () => running.out().includes('paused by'));
    const file = path.join(place.folder, 'erp.csv');
    await writeFile(file, `${HEAD}1001;BOLT;5\n`);
    const { batch } = await until('the order', async () => {
      const { batches } = await place.json('batches', 'list');
      return batches[0]?.counts?.orders === 1 && batches[0];
    });
    const truth =
      'orders that are still in the export are sent as soon as the export or its mapping changes in anything';
    const pageText = async () => (await person.page(`/batches/${batch}`)).text;
    expect(await pageText()).toContain(`are in no fix file. Cancelled ${truth}`);
    expect(await pageText()).toContain(
      'Rows that failed a check and orders that the API refused stay open.',
    );
    const texts = [
      await place.run(['batches', 'cancel', batch, '--dry-run']),
      await place.run(['batches', 'cancel', batch]),
      await place.run(['batches', 'cancel', batch, '--yes']),
    ].map(({ out, err }) => out + err);
    for (const text of texts) {
      expect(text).toContain(truth);
      expect(text).not.toContain('drop the file again');
    }
    const report = await until('the report', async () => {
      return (await place.reportsNow()).find(({ state }) => state === 'cancelled');
    });
    expect(report).toMatchObject({ isExport: true, counts: { cancelled: 1 } });
    expect(await place.read(report, 'report.html')).toMatch(
      /1 order was withdrawn\. Cancelled orders that are still in the export/,
    );
    expect(await pageText()).toContain(`Cancelled ${truth}`);
    for (const command of [
      ['batches', 'show', batch],
      ['explain', '1001'],
    ])
      expect((await place.run(command)).out.replace(/\s+/g, ' ')).toContain(truth);

    await place.run(['resume']);
    await writeFile(file, `${HEAD}1001;BOLT;5\n1002;NUT;1\n`);
    await until('both orders', () => place.stored().size === 2);
    running.child.kill('SIGTERM');
    await running.ended;
  });
});
