import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { Closed, DeadLetter } from '../../src/order/dead-letter.ts';
import type { Report } from '../../src/report/report.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

const HEADER = 'purchaseOrderNumber,orderState,articleCode,quantity';
const EXPORT = '- { name: erp, type: export, path: erp.csv, stable: 100ms, poll: 100ms }';
const BOTH = `${EXPORT}\n  - { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 100ms }`;

function table(...rows: string[]): string {
  return [HEADER, ...rows, ''].join('\n');
}

async function show(place: Workplace, ...rows: string[]): Promise<void> {
  await writeFile(path.join(place.folder, 'erp.csv'), table(...rows));
  await place.run(['start', '--once']);
}

async function lastOf(place: Workplace): Promise<Report> {
  const report = (await place.reportsNow()).at(-1);
  if (report === undefined) throw new Error('no report');
  return report;
}

/** Drops a file with one order, which the API refuses, and gives its fix file. */
async function fixFileOf(place: Workplace, number: string): Promise<string> {
  await place.drop('orders.csv', table(`${number},NEW,A,1`));
  await place.run(['start', '--once']);
  return await place.read(await lastOf(place), 'dead-letters.csv');
}

async function openNow(place: Workplace): Promise<number[]> {
  return (await place.reportsNow()).map(({ open }) => open);
}

describe('a dead letter', () => {
  it('of an export closes when the export shows again what was accepted', async () => {
    await using place = await openWorkplace({ source: EXPORT });
    await show(place, 'PO-1,NEW,A,1', 'PO-2,NEW,B,1');
    await show(place, 'PO-1,NEW,A,2', 'PO-2,NEW,B,none');
    expect(await openNow(place)).toEqual([0, 2]);
    await show(place, 'PO-1,NEW,A,1', 'PO-2,NEW,B,1');
    expect(await openNow(place)).toEqual([0, 0, 0]);
    const [, wrong, right] = await place.reportsNow();
    if (wrong === undefined) throw new Error('no report');
    const deadLetters = JSON.parse(await place.read(wrong, 'dead-letters.json'));
    const closed = { by: 'corrected', batch: right?.batch };
    expect(deadLetters).toMatchObject([
      { kind: 'conflict', closed },
      { kind: 'invalid', closed },
    ]);
    expect(right).toMatchObject({ counts: { duplicate: 2 } });
    expect(place.stored().size).toBe(2);
  });

  it('is counted and listed once where a person copied the folder of its report', async () => {
    await using place = await openWorkplace();
    await place.drop('a.csv', table('PO-1,NEW,A,none', 'PO-2,NEW,A,1'));
    await place.run(['start', '--once']);
    const { batch } = await lastOf(place);
    const json = async (...args: string[]) =>
      JSON.parse((await place.run(['--json', ...args])).out);
    const seen = async () => [
      (await json('status')).deadLetters,
      (await json('dead-letters', 'list')).deadLetters.length,
      (await json('explain', 'PO-1')).appearances.length,
    ];
    expect(await seen()).toEqual([1, 1, 1]);
    for (const copy of [`${batch} (copy)`, `${batch}-old`])
      await cp(path.join(place.reports, batch), path.join(place.reports, copy), {
        recursive: true,
      });
    expect(await seen()).toEqual([1, 1, 1]);
    await place.run(['dead-letters', 'discard', '--order', 'PO-1', '--yes']);
    expect(await seen()).toEqual([0, 0, 1]);
  });

  it('of a number that another file has in another spelling is sent when a person confirms it', async () => {
    await using place = await openWorkplace();
    await place.drop('erp.csv', table('0088,NEW,A,1', '0099,NEW,A,1'));
    await place.run(['start', '--once']);
    await place.drop('list.csv', table('88,NEW,A,1', '99,NEW,B,2'));
    expect((await place.run(['start', '--once'])).code).toBe(2);
    const [, held] = await place.reportsNow();
    if (held === undefined) throw new Error('no report');
    expect(held).toMatchObject({ counts: { accepted: 0, invalid: 2 }, open: 2 });
    expect(await place.read(held, 'results.csv')).toMatch(
      /^2,88,invalid,0,[^,]+,other-spelling,"order 88 differs from 0088, which/m,
    );
    const { out } = await place.run(['explain', '88']);
    expect(out).toContain('order 88 differs from 0088, which is accepted from "erp.csv"');
    expect(out).toMatch(
      /If it is the same order[\s\S]*discard --order 88\n[\s\S]*If it really is another order[\s\S]*Correct the/,
    );
    expect(await place.read(held, 'report.html')).toContain('<bdi>88</bdi> with <bdi>0088</bdi>');

    const fix = await place.read(held, 'dead-letters.csv');
    const [header = '', first = '', second = ''] = fix.split('\n');
    await place.drop('unchanged.csv', `${header}\n${first}\n`);
    await place.run(['start', '--once']);
    expect(place.stored().size).toBe(2);
    await place.drop('fix.csv', `${header}\n${second.replace(/,[^,]*$/, ',confirmed')}\n`);
    await place.run(['start', '--once']);
    expect([...place.stored().keys()].sort()).toEqual(['0088', '0099', '99']);
    await place.run(['dead-letters', 'discard', '--order', '88', '--yes']);
    expect((await place.run(['status', '--exit-code'])).code).toBe(0);
  });

  it('of a number is held where two files have it in two spellings and are in the inbox when the daemon starts', async () => {
    await using place = await openWorkplace();
    const numbers = Array.from({ length: 20 }, (_, i) => 900 + i);
    await place.drop('erp.csv', table(...numbers.map((number) => `0${number},NEW,A,1`)));
    await place.drop('list.csv', table(...numbers.map((number) => `${number},NEW,A,1`)));
    await place.run(['start', '--once']);
    expect([...place.stored().keys()].map(Number).sort((a, b) => a - b)).toEqual(numbers);
    expect(await openNow(place)).toEqual(expect.arrayContaining([0, 20]));
  });

  it.each(['first', 'second'])(
    'of a refused order that two files have is not sent again once a fix file of the %s made it another order',
    async (which) => {
      const faults = [
        { kind: 'answer', status: 400, code: 400, message: 'unknown article', orders: ['PO-7'] },
      ];
      await using place = await openWorkplace({ faults: { faults }, sandbox: { record: true } });
      await place.drop('monday.csv', table('PO-7,NEW,A,5', 'PO-1,NEW,A,1'));
      await place.run(['start', '--once']);
      await place.drop('tuesday.csv', table('PO-2,NEW,A,1', 'PO-7,NEW,A,5'));
      await place.run(['start', '--once']);
      const both = await place.reportsNow();
      expect(both.map(({ open }) => open)).toEqual([1, 1]);
      const fixed = both[which === 'first' ? 0 : 1];
      const other = both[which === 'first' ? 1 : 0];
      if (fixed === undefined || other === undefined) throw new Error('no reports');
      const otherFix = await place.read(other, 'dead-letters.csv');
      await place.setFaults([]);
      await place.drop(
        'fix.csv',
        (await place.read(fixed, 'dead-letters.csv')).replace('PO-7,', 'PO-8,'),
      );
      await place.run(['start', '--once']);
      const sent = ['PO-1', 'PO-2', 'PO-8'];
      expect([...place.stored().keys()].sort()).toEqual(sent);

      await place.run(['dead-letters', 'retry', '--order', 'PO-7', '--yes']);
      await place.run(['start', '--once']);
      expect([...place.stored().keys()].sort()).toEqual(sent);
      await place.drop('unchanged.csv', otherFix);
      await place.run(['start', '--once']);
      expect([...place.stored().keys()].sort()).toEqual(sent);
      const { out } = await place.run(['explain', 'PO-7']);
      expect(out.replace(/\s+/g, ' ')).toContain('PO-8');
    },
  );

  it('of a refused order is sent again neither as it is nor corrected once its number is sent in another spelling', async () => {
    const faults = [
      { kind: 'answer', status: 400, code: 400, message: 'unknown article', orders: ['0088'] },
    ];
    await using place = await openWorkplace({ faults: { faults } });
    await place.drop('erp.csv', table('0088,NEW,A,1', '0099,NEW,A,1'));
    await place.run(['start', '--once']);
    await place.drop('list.csv', table('88,NEW,A,1'));
    await place.run(['start', '--once']);
    expect([...place.stored().keys()].sort()).toEqual(['0099', '88']);

    const planned = await place.run([
      'dead-letters',
      'retry',
      '--order',
      '0088',
      '--dry-run',
      '--json',
    ]);
    expect(JSON.parse(planned.out)).toMatchObject({ plan: { 'other-spelling': 1 } });
    const { out } = await place.run(['dead-letters', 'retry', '--order', '0088', '--yes']);
    expect(out.replace(/\s+/g, ' ')).toContain(
      '1 order cannot be sent again: its number is accepted or in progress from another file, only with other case',
    );
    const [refused] = await place.reportsNow();
    if (refused === undefined) throw new Error('no report');
    const [header = '', row = ''] = (await place.read(refused, 'dead-letters.csv')).split('\n');
    await place.drop('fix.csv', `${header}\n${row.replace(/^0088,NEW,A,/, '0088,NEW,B,')}\n`);
    await place.run(['start', '--once']);
    expect([...place.stored().keys()].sort()).toEqual(['0099', '88']);
    const [now] = JSON.parse((await place.run(['dead-letters', 'list', '--json'])).out).deadLetters;
    expect(now).toMatchObject({
      purchaseOrderNumber: '0088',
      message: expect.stringContaining('order 0088 differs from 88'),
    });
  });

  it('of an order that a fix file makes another one do not wait for the damaged list of another file with it', async () => {
    const faults = [
      { kind: 'answer', status: 400, code: 400, message: 'unknown article', orders: ['PO-7'] },
    ];
    await using place = await openWorkplace({ faults: { faults } });
    for (const name of ['monday.csv', 'tuesday.csv']) {
      await place.drop(name, table('PO-7,NEW,A,5', `${name},NEW,A,1`));
      await place.run(['start', '--once']);
    }
    const [fixed, other] = await place.reportsNow();
    if (fixed === undefined || other === undefined) throw new Error('no reports');
    await writeFile(
      path.join(place.reports, other.batch, 'dead-letters.json'),
      '[\n{"purchaseOrderNumber": "cut o\n',
    );
    await place.drop(
      'fix.csv',
      (await place.read(fixed, 'dead-letters.csv')).replace('PO-7,', 'PO-8,'),
    );
    expect((await place.run(['start', '--once', '--max-wait', '30s'])).code).toBe(0);
    expect([...place.stored().keys()].sort()).toEqual(['PO-8', 'monday.csv', 'tuesday.csv']);
  });

  it.each(['saved again', 'in a second round', 'confirmed'])(
    'of a refused order that was accepted under another number is held when another file has it as it was: %s',
    async (how) => {
      const bad = { kind: 'answer', status: 400, message: 'number is taken', orders: ['OLD-1'] };
      await using place = await openWorkplace({
        faults: { faults: [bad] },
        sandbox: { record: true },
      });
      const file = table('OLD-1,NEW,A,1', 'OLD-1,NEW,B,1', 'OLD-3,NEW,A,1');
      await place.drop('orders.csv', file);
      await place.run(['start', '--once']);
      let fix = await place.read(await lastOf(place), 'dead-letters.csv');
      if (how === 'in a second round') {
        await place.drop('first.csv', fix.replaceAll('OLD-1,NEW,A', 'OLD-1,NEW,C'));
        await place.run(['start', '--once']);
        fix = await place.read(await lastOf(place), 'dead-letters.csv');
      }
      const confirmed =
        how === 'confirmed' ? fix.replace(/[^,\n]*$/gm, (check) => check && 'confirmed') : fix;
      const [head = '', ...rows] = confirmed.split('\n');
      const header = how === 'confirmed' ? (fix.split('\n')[0] ?? '') : head;
      await place.drop('fix.csv', [header, ...rows].join('\n').replaceAll('OLD-1,', 'NEW-1,'));
      await place.setFaults([]);
      await place.run(['start', '--once']);
      const sent = ['NEW-1', 'OLD-3'];
      expect([...place.stored().keys()].sort()).toEqual(sent);

      const again = path.join(place.folder, 'again.csv');
      await writeFile(again, file);
      const preview = JSON.parse((await place.run(['check', again, '--preview', '--json'])).out);
      expect(JSON.stringify(preview)).toMatch(/"new":0,.*"invalid":1/);

      await place.drop('saved.csv', how === 'confirmed' ? file : file.replaceAll(',', ';'));
      expect((await place.run(['start', '--once'])).code).toBe(2);
      expect([...place.stored().keys()].sort()).toEqual(sent);
      const saved = await lastOf(place);
      const [letter] = JSON.parse(await place.read(saved, 'dead-letters.json'));
      expect(letter).toMatchObject({ purchaseOrderNumber: 'OLD-1', code: 'already-corrected' });
      expect(letter.message).toMatch(
        /was already sent as NEW-1, from "fix\.csv".*: if .* same order, discard it/,
      );

      // Unchanged, it is held again. A person who means it can send it.
      const next = await place.read(saved, 'dead-letters.csv');
      await place.drop('unchanged.csv', next);
      await place.run(['start', '--once']);
      expect([...place.stored().keys()].sort()).toEqual(sent);
      await place.drop('meant.csv', next.replace(/"?01[.,]000"?$/gm, 'confirmed'));
      await place.run(['start', '--once']);
      expect([...place.stored().keys()].sort()).toEqual([...sent, 'OLD-1'].sort());
    },
  );

  it.each(['a second fix file', 'a retry'])(
    'of a refused order of two files is sent once while a fix file with another number of it waits: %s',
    async (how) => {
      const bad = { kind: 'answer', status: 400, message: 'number is taken', orders: ['OLD-1'] };
      await using place = await openWorkplace({
        faults: { faults: [bad] },
        sandbox: { record: true },
      });
      for (const name of ['monday.csv', 'tuesday.csv']) {
        await place.drop(name, table('OLD-1,NEW,A,1', `${name},NEW,A,1`));
        await place.run(['start', '--once']);
      }
      const [monday, tuesday] = await place.reportsNow();
      if (monday === undefined || tuesday === undefined) throw new Error('no reports');
      const other = await place.read(tuesday, 'dead-letters.csv');
      await place.setFaults([]);
      await place.run(['pause', '--reason', 'test']);
      await place.drop(
        'first.csv',
        (await place.read(monday, 'dead-letters.csv')).replace('OLD-1,', 'NEW-1,'),
      );
      await until('the order', async () => {
        await place.run(['start', '--once']);
        return JSON.parse((await place.run(['explain', 'NEW-1', '--json'])).out).state === 'queued';
      });
      if (how === 'a retry') {
        const planned = await place.run([
          'dead-letters',
          'retry',
          '--order',
          'OLD-1',
          '--dry-run',
          '--json',
        ]);
        expect(JSON.parse(planned.out)).toMatchObject({ plan: { corrected: 1 } });
        const { out } = await place.run(['dead-letters', 'retry', '--order', 'OLD-1', '--yes']);
        expect(out).toContain('brought the same rows back as another order');
      } else await place.drop('second.csv', other.replace('OLD-1,', 'NEW-2,'));
      await place.run(['resume']);
      await place.run(['start', '--once']);
      expect([...place.stored().keys()].sort()).toEqual(['NEW-1', 'monday.csv', 'tuesday.csv']);
      const open = (await place.reportsNow()).map(({ file, open }) => `${file} ${open}`);
      expect(open).toContain(how === 'a retry' ? 'tuesday.csv 1' : 'second.csv 1');
    },
  );

  it('of an order that a person made two orders is sent again although the other one was sent', async () => {
    const bad = { kind: 'answer', status: 400, message: 'no', orders: ['OLD-1', 'OLD-2', 'NEW-2'] };
    await using place = await openWorkplace({
      faults: { faults: [bad] },
      sandbox: { record: true },
    });
    await place.drop(
      'orders.csv',
      table('OLD-1,NEW,A,1', 'OLD-1,NEW,B,1', 'OLD-2,NEW,C,1', 'OLD-2,NEW,D,1'),
    );
    await place.run(['start', '--once']);
    const fix = await place.read(await lastOf(place), 'dead-letters.csv');
    const two = fix.replace('OLD-1,NEW,A', 'NEW-1,NEW,A').replace('OLD-1,NEW,B', 'NEW-2,NEW,B');
    // Of the second, one row stays what it was.
    const parted = two
      .replace('OLD-2,NEW,D', 'NEW-3,NEW,D')
      .replaceAll(/"?01[.,]000"?$/gm, 'confirmed');
    await place.drop('first.csv', parted);
    await place.run(['start', '--once']);
    expect([...place.stored().keys()].sort()).toEqual(['NEW-1', 'NEW-3']);
    await place.setFaults([]);
    const next = await place.read(await lastOf(place), 'dead-letters.csv');
    await place.drop('second.csv', next.replace('NEW,B', 'NEW,E'));
    await place.run(['start', '--once']);
    expect([...place.stored().keys()].sort()).toEqual(['NEW-1', 'NEW-2', 'NEW-3', 'OLD-2']);
  });

  it.each(['NEW-1', 'NEW-2'])(
    'of an order that became two is held in another file also where one of the two was discarded: %s',
    async (refused) => {
      const bad = { kind: 'answer', status: 400, message: 'no', orders: ['OLD-1', refused] };
      await using place = await openWorkplace({
        faults: { faults: [bad] },
        sandbox: { record: true },
      });
      const file = table('OLD-1,NEW,A,1', 'OLD-1,NEW,B,1');
      await place.drop('orders.csv', file);
      await place.run(['start', '--once']);
      const fix = await place.read(await lastOf(place), 'dead-letters.csv');
      const two = fix.replace('OLD-1,NEW,A', 'NEW-1,NEW,A').replace('OLD-1,NEW,B', 'NEW-2,NEW,B');
      await place.run(['pause', '--reason', 'test']);
      await place.drop('first.csv', two.replaceAll(/"?01[.,]000"?$/gm, 'confirmed'));
      const stateOf = async (number: string) =>
        JSON.parse((await place.run(['explain', number, '--json'])).out).state;
      await until('both orders', async () => {
        await place.run(['start', '--once']);
        return (await stateOf('NEW-1')) === 'queued' && (await stateOf('NEW-2')) === 'queued';
      });
      await place.run(['resume']);
      await place.run(['start', '--once']);
      await place.run(['dead-letters', 'discard', '--order', refused, '--yes']);
      await place.setFaults([]);
      await place.drop('saved.csv', file.replaceAll(',', ';'));
      await place.run(['start', '--once']);
      const sent = [...place.stored().keys()];
      expect(sent).toEqual([refused === 'NEW-1' ? 'NEW-2' : 'NEW-1']);
      const [letter] = JSON.parse(await place.read(await lastOf(place), 'dead-letters.json'));
      expect(letter.message).toContain(`was already sent as ${sent[0]}`);
    },
  );

  it('of an order whose new number another file brought first is held in another file', async () => {
    const bad = { kind: 'answer', status: 400, message: 'no', orders: ['OLD-1'] };
    await using place = await openWorkplace({
      faults: { faults: [bad] },
      sandbox: { record: true },
    });
    const fix = await fixFileOf(place, 'OLD-1');
    await place.drop('new.csv', table('NEW-1,NEW,A,1'));
    await place.run(['start', '--once']);
    await place.drop('fix.csv', fix.replace('OLD-1,', 'NEW-1,'));
    await place.run(['start', '--once']);
    expect(await lastOf(place)).toMatchObject({ file: 'fix.csv', counts: { duplicate: 1 } });
    await place.setFaults([]);
    await place.drop('saved.csv', table('OLD-1,NEW,A,1').replaceAll(',', ';'));
    await place.run(['start', '--once']);
    expect([...place.stored().keys()]).toEqual(['NEW-1']);
    const [letter] = JSON.parse(await place.read(await lastOf(place), 'dead-letters.json'));
    expect(letter.message).toMatch(/was already sent as NEW-1, from "new\.csv"/);
  });

  it('of an order that has another number now is held in a file that a spreadsheet saved without its leading zeros', async () => {
    const bad = { kind: 'answer', status: 400, message: 'no', orders: ['0088'] };
    await using place = await openWorkplace({
      faults: { faults: [bad] },
      sandbox: { record: true },
    });
    const fix = await fixFileOf(place, '0088');
    await place.setFaults([]);
    await place.drop('fix.csv', fix.replace('0088', 'NEW-1'));
    await place.run(['start', '--once']);
    await place.drop('saved.csv', table('88,NEW,A,1').replaceAll(',', ';'));
    await place.run(['start', '--once']);
    expect([...place.stored().keys()]).toEqual(['NEW-1']);
    expect(await lastOf(place)).toMatchObject({ file: 'saved.csv', counts: { invalid: 1 } });
  });

  it('of a refused order that was accepted under another number is held when the same file is dropped again', async () => {
    const bad = {
      kind: 'answer',
      status: 400,
      message: 'number is taken',
      orders: ['OLD-1', 'OLD-2'],
    };
    await using place = await openWorkplace({
      faults: { faults: [bad] },
      sandbox: { record: true },
    });
    const file = table('OLD-1,NEW,A,1', 'OLD-1,NEW,B,1', 'OLD-2,NEW,C,1', 'OLD-3,NEW,A,1');
    await place.drop('orders.csv', file);
    await place.run(['start', '--once']);
    const first = await lastOf(place);
    const fix = await place.read(first, 'dead-letters.csv');
    await place.drop(
      'fix.csv',
      fix.replaceAll('OLD-1,', 'NEW-1,').replace('OLD-2,NEW,C', 'OLD-2,NEW,D'),
    );
    await place.setFaults([]);
    await place.run(['start', '--once']);
    const sent = ['NEW-1', 'OLD-2', 'OLD-3'];
    expect([...place.stored().keys()].sort()).toEqual(sent);

    await place.drop('orders.csv', file);
    expect((await place.run(['start', '--once'])).code).toBe(2);
    expect([...place.stored().keys()].sort()).toEqual(sent);
    const again = await lastOf(place);
    expect(again).toMatchObject({ counts: { duplicate: 1, invalid: 1, conflict: 1 }, open: 2 });
    const letters = JSON.parse(await place.read(again, 'dead-letters.json'));
    expect(letters[0]).toMatchObject({ purchaseOrderNumber: 'OLD-1', code: 'already-corrected' });
    expect(letters[0].problems[0].message).toMatch(
      /^line 2 of orders\.csv was already sent as NEW-1, from "fix\.csv".*: if OLD-1 is the same order, discard it\. .*write confirmed/,
    );

    // A person who means it can send it.
    const [header = '', ...rows] = (await place.read(again, 'dead-letters.csv'))
      .trimEnd()
      .split('\n');
    const confirmed = rows
      .filter((row) => row.startsWith('OLD-1,'))
      .map((row) => row.replace(/[^,]*$/, 'confirmed'));
    expect(confirmed).toHaveLength(2);
    await place.drop('meant.csv', `${[header, ...confirmed].join('\n')}\n`);
    await place.run(['start', '--once']);
    expect([...place.stored().keys()].sort()).toEqual(['NEW-1', 'OLD-1', 'OLD-2', 'OLD-3']);
  });

  it('of a conflict shows both contents, and closes when its fix file comes back with the accepted content', async () => {
    await using place = await openWorkplace();
    await place.drop('a.csv', table('PO-1,NEW,A,1'));
    await place.run(['start', '--once']);
    await place.drop('b.csv', table('PO-1,NEW,A,2'));
    await place.run(['start', '--once']);
    const [, wrong] = await place.reportsNow();
    if (wrong === undefined) throw new Error('no report');
    expect(JSON.parse(await place.read(wrong, 'dead-letters.json'))).toMatchObject([
      {
        payload: { items: [{ articleCode: 'A', quantity: 2 }] },
        known: { items: [{ articleCode: 'A', quantity: 1 }] },
      },
    ]);
    expect(await place.read(wrong, 'report.html')).toContain('<bdi class="item other">A × 1</bdi>');
    expect(await place.read(wrong, 'report.html')).toContain(
      'is already accepted with different items, from &quot;a.csv&quot; (batch ',
    );
    const { out } = await place.run(['explain', 'PO-1']);
    expect(out).toMatch(/conflict[^\n]*\n +in this file: {2}2 × A\n +already known: 1 × A\n/);
    expect(out).toContain(
      `Correct the fix file in ${path.join(place.folder, 'reports', wrong.batch)}`,
    );
    expect(out).toContain('  po-sync dead-letters discard --order PO-1\n');
    const listed = (await place.run(['dead-letters', 'list'])).out;
    expect(listed).toMatch(
      /Agree on the change with the supplier.*discard --order ORDER.*Or enter another number and/s,
    );
    expect(listed).not.toContain('Correct and drop');
    const fix = await place.read(wrong, 'dead-letters.csv');
    await place.drop('c.csv', fix.replace('PO-1,NEW,A,2', 'PO-1,NEW,A,1'));
    await place.run(['start', '--once']);
    expect(await openNow(place)).toEqual([0, 0, 0]);
  });

  it('of a conflict says that it brings again what was refused and corrected, and of no other content', async () => {
    const refusal = { kind: 'answer', status: 400, message: 'articleCode OLD is unknown' };
    const faults = [
      { ...refusal, orders: ['PO-1', 'PO-2'], attempts: '1' },
      { ...refusal, orders: ['PO-3'], attempts: '1-2' },
    ];
    await using place = await openWorkplace({ faults: { faults } });
    const old = [
      'PO-1,NEW,OLD,1',
      'PO-1,NEW,A,1',
      'PO-2,NEW,OLD,2',
      'PO-3,NEW,OLD,3',
      'PO-4,NEW,A,4',
    ];
    await place.drop('week.csv', table(...old));
    await place.run(['start', '--once']);
    const fix = await place.read(await lastOf(place), 'dead-letters.csv');
    await place.drop(
      'fix.csv',
      fix
        .replace(/,OLD,1/, ',B,1')
        .replace(/,OLD,2/, ',B,2')
        .replace(/,OLD,3/, ',OLD,30'),
    );
    await place.run(['start', '--once']);
    const again = await place.read(await lastOf(place), 'dead-letters.csv');
    await place.drop('again.csv', again.replace(',OLD,30', ',B,3'));
    await place.run(['start', '--once']);
    expect(await openNow(place)).toEqual([0, 0, 0]);
    // PO-1 and PO-3 have their old rows, in another sequence; PO-2 has another quantity, and PO-4 was never refused.
    const [first = '', second = ''] = old;
    await place.drop(
      'copy.csv',
      table(second, first, 'PO-2,NEW,OLD,20', 'PO-3,NEW,OLD,3', 'PO-4,NEW,A,40'),
    );
    await place.run(['start', '--once']);
    const copy = await lastOf(place);
    const letters: DeadLetter[] = JSON.parse(await place.read(copy, 'dead-letters.json'));
    const old1 = 'It has the items that the API refused in "week.csv" (batch ';
    expect(
      letters.map(({ purchaseOrderNumber, message }) => [
        purchaseOrderNumber,
        message.includes(old1),
      ]),
    ).toEqual([
      ['PO-1', true],
      ['PO-2', false],
      ['PO-3', true],
      ['PO-4', false],
    ]);
    // They are a kind of error beside the others: selected, they are discarded without these.
    const signatures = letters.map(({ signature }) => signature);
    expect(signatures[0]).toBe(signatures[2]);
    expect(signatures[1]).toBe(signatures[3]);
    expect(signatures[0]).not.toBe(signatures[1]);
    for (const text of [
      await place.read(copy, 'report.html'),
      (await place.run(['explain', 'PO-1'])).out,
    ])
      expect(text.replaceAll('&quot;', '"')).toContain(old1);
  });

  it('of a conflict does not say so of an order that was discarded, whose number another order got', async () => {
    const refusal = {
      kind: 'answer',
      status: 400,
      message: 'articleCode OLD is unknown',
      orders: ['PO-9'],
    };
    await using place = await openWorkplace({
      faults: { faults: [{ ...refusal, attempts: '1' }] },
    });
    await place.drop('week.csv', table('PO-9,NEW,OLD,1', 'PO-8,NEW,B,none'));
    await place.run(['start', '--once']);
    const fix = (await place.read(await lastOf(place), 'dead-letters.csv')).split('\n');
    await place.run(['dead-letters', 'discard', '--order', 'PO-9', '--yes']);
    const other = fix.filter((row) => !row.includes('OLD')).join('\n');
    await place.drop('fix.csv', other.replace('PO-8', 'PO-9').replace('none', '5'));
    await place.run(['start', '--once']);
    expect((await lastOf(place)).counts).toMatchObject({ orders: 1, accepted: 1 });
    await place.drop('copy.csv', table('PO-9,NEW,OLD,1'));
    await place.run(['start', '--once']);
    const [letter] = JSON.parse(await place.read(await lastOf(place), 'dead-letters.json'));
    expect(letter).toMatchObject({
      kind: 'conflict',
      message: expect.not.stringContaining('nothing in it is new'),
    });
  });

  it('shows what was changed in its rows, their new number, and how it ended rounds later', async () => {
    await using place = await openWorkplace();
    await place.drop(
      'a.csv',
      table('PO-1,NEW,A,none', 'PO-2,NEW,B,none', 'PO-3,NEW,"C<i",none', 'PO-3,NEW,D,1'),
    );
    await place.run(['start', '--once']);
    const [first] = await place.reportsNow();
    if (first === undefined) throw new Error('no report');
    const fix = await place.read(first, 'dead-letters.csv');
    const round = fix
      .replace('PO-1,NEW,A,none', 'PO-1,NEW,A,5')
      .replace('PO-2,NEW,B,none', 'PO-2,NEW,B2,some')
      .replace('PO-3,NEW,C<i,none', 'PO-9,NEW,C<i,3')
      .replace('PO-3,NEW,D,1', 'PO-9,NEW,D,1');
    await place.drop('tuesday.csv', round);
    await place.run(['start', '--once']);
    const closed = async () =>
      (JSON.parse(await place.read(first, 'dead-letters.json')) as { closed?: Closed }[]).map(
        (one) => one.closed,
      );
    const second = await lastOf(place);
    expect(await closed()).toMatchObject([
      {
        by: 'accepted',
        file: 'tuesday.csv',
        changes: [{ place: 'line 2', field: 'quantity', from: 'none', to: '5' }],
      },
      {
        by: 'fixed',
        waitsIn: second.batch,
        changes: [
          { place: 'line 3', field: 'articleCode', from: 'B', to: 'B2' },
          { place: 'line 3', field: 'quantity', from: 'none', to: 'some' },
        ],
      },
      {
        by: 'fixed',
        number: 'PO-9',
        changes: [{ field: 'purchaseOrderNumber' }, { to: '3' }, { place: 'line 5' }],
      },
    ]);

    const rest = await place.read(second, 'dead-letters.csv');
    await place.drop('wednesday.csv', rest.replace('B2,some', 'B2,2'));
    await place.run(['start', '--once']);
    const last = await lastOf(place);
    expect((await closed())[1]).toMatchObject({
      by: 'fixed',
      batch: second.batch,
      end: { by: 'accepted', batch: last.batch, file: 'wednesday.csv' },
    });
    expect(JSON.parse(await place.read(second, 'dead-letters.json'))).toMatchObject([
      {
        closed: {
          file: 'wednesday.csv',
          changes: [{ place: 'line 3', field: 'quantity', from: 'some', to: '2' }],
        },
      },
    ]);
    const page = await place.read(first, 'report.html');
    expect(page).toContain('<bdi>quantity: none → 5</bdi>');
    expect(page).toContain('<bdi>line 4, purchaseOrderNumber: PO-3 → PO-9</bdi>');
    expect(page).toMatch(/; then accepted in <bdi>wednesday\.csv<\/bdi>/);
    expect(page).not.toContain('C<i');
    expect(place.stored().size).toBe(3);
  });

  it('that a fix file leaves out is named in a warning, which is gone when it is discarded', async () => {
    await using place = await openWorkplace();
    await place.drop('a.csv', table('PO-1,NEW,A,none', 'PO-2,NEW,B,none'));
    await place.run(['start', '--once']);
    const first = await lastOf(place);
    const fix = await place.read(first, 'dead-letters.csv');
    const rows = fix.split('\n').filter((row) => !row.startsWith('PO-2,'));
    await place.drop('b.csv', rows.join('\n').replace('PO-1,NEW,A,none', 'PO-1,NEW,A,1'));
    await place.run(['start', '--once']);
    const warning = `1 of the 2 orders of "a.csv" (batch ${first.batch}) that needed a person is not in this file, so reading it leaves it open: PO-2.`;
    const { batch, warnings } = await lastOf(place);
    expect(warnings).toEqual([warning]);
    expect((await place.run(['batches', 'show', batch])).out).toContain('leaves it open');

    await place.run(['dead-letters', 'discard', '--order', 'PO-2', '--yes']);
    const after = await lastOf(place);
    expect(after).toMatchObject({ batch, warnings: [] });
    expect(await place.read(after, 'report.html')).not.toContain('leaves it open');
    expect((await place.run(['batches', 'show', batch])).out).not.toContain('leaves it open');
  });

  it('whose rows come back still wrong keeps its page red until the newest batch is settled', async () => {
    await using place = await openWorkplace();
    await place.drop('a.csv', table('PO-1,NEW,A,1'));
    await place.run(['start', '--once']);
    await place.drop('b.csv', table('PO-1,NEW,A,2', 'PO-2,NEW,B,none', 'PO-2,NEW,C,1'));
    await place.run(['start', '--once']);
    const first = await lastOf(place);
    const fix = await place.read(first, 'dead-letters.csv');
    // The name is taken by the first file, so that this one settles under another. It is named as it was dropped.
    await place.drop(
      'a.csv',
      fix
        .split('\n')
        .filter((row) => !row.startsWith('PO-2,NEW,B'))
        .join('\n'),
    );
    await place.run(['start', '--once']);
    const second = await lastOf(place);
    expect(await openNow(place)).toEqual([0, 0, 2]);
    const { out } = await place.run(['explain', 'PO-2']);
    expect(out).toContain(`its rows came back in a.csv and still wait in batch ${second.batch}`);
    expect(await place.read(first, 'report.html')).toContain('<h1>All 2 orders need you</h1>');
    expect(await place.read(first, 'report.html')).toContain(
      `<bdi>a.csv</bdi> <small>(batch <a data-in-reports href="../${second.batch}/report.html">`,
    );

    const again = await place.read(second, 'dead-letters.csv');
    await place.drop('d.csv', again.replace('PO-1,NEW,A,2', 'PO-1,NEW,A,1'));
    await place.run(['start', '--once']);
    const third = await lastOf(place);
    expect(await place.read(first, 'report.html')).toContain('<h1>1 of 2 orders needs you</h1>');
    expect(await place.read(first, 'report.html')).toContain(
      `href="../${third.batch}/report.html"`,
    );
    const closed = { by: 'fixed', batch: second.batch };
    const letters = async () => JSON.parse(await place.read(first, 'dead-letters.json'));
    expect(await letters()).toMatchObject([
      { closed },
      { closed: { ...closed, waitsIn: third.batch } },
    ]);

    await place.run(['dead-letters', 'discard', '--order', 'PO-2', '--yes']);
    await place.run(['start', '--once']);
    expect(await place.read(first, 'report.html')).toContain('<h1>Nothing here needs you</h1>');
    expect(
      (await letters()).map((one: { closed: { waitsIn?: string } }) => one.closed.waitsIn),
    ).toEqual([undefined, undefined]);
  });

  it('that was settled needs a person again while a fix file with other content is in conflict', async () => {
    await using place = await openWorkplace();
    await place.drop('a.csv', table('PO-1,NEW,A,none', 'PO-2,NEW,B,1', 'PO-3,NEW,C,none'));
    await place.run(['start', '--once']);
    const first = await lastOf(place);
    const fix = (await place.read(first, 'dead-letters.csv')).replace(
      'PO-3,NEW,C,none',
      'PO-3,NEW,C,3',
    );
    await place.drop('ben.csv', fix.replace('PO-1,NEW,A,none', 'PO-1,NEW,A,8'));
    await place.run(['start', '--once']);
    expect(await place.read(first, 'report.html')).toContain('<h1>Nothing here needs you</h1>');
    const ben = await lastOf(place);
    await place.drop('anna.csv', fix.replace('PO-1,NEW,A,none', 'PO-1,NEW,A,5'));
    await place.run(['start', '--once']);
    const anna = await lastOf(place);
    expect(anna).toMatchObject({ counts: { conflict: 1, duplicate: 1 } });
    const page = await place.read(first, 'report.html');
    expect(page).toContain('<h1>1 of 3 orders needs you</h1>');
    expect(page).toContain('<header class="care">');
    expect(page).toContain(
      `1 order was settled and came back with rows that were not accepted: it needs a person in <bdi>anna.csv</bdi> <small>(batch <a data-in-reports href="../${anna.batch}/report.html">`,
    );
    expect(page).toMatch(
      /accepted in <bdi>ben\.csv<\/bdi>.*; then came back in <bdi>anna\.csv<\/bdi>/,
    );
    const { out } = await place.run(['explain', 'PO-1']);
    expect(out).toContain(
      `its dead letter was closed: accepted, batch ${ben.batch}; then its rows came back in anna.csv and still wait in batch ${anna.batch}`,
    );
    const letters = async () =>
      JSON.parse(await place.read(first, 'dead-letters.json')) as { closed: Closed }[];
    expect((await letters())[0]).toMatchObject({
      closed: {
        by: 'accepted',
        batch: ben.batch,
        file: 'ben.csv',
        waitsIn: anna.batch,
        end: { file: 'anna.csv' },
      },
    });

    await place.run(['dead-letters', 'discard', '--order', 'PO-1', '--yes']);
    await place.run(['start', '--once']);
    expect(await place.read(first, 'report.html')).toContain('<h1>Nothing here needs you</h1>');
    expect((await letters()).map(({ closed: { waitsIn, by } }) => [waitsIn, by])).toEqual([
      [undefined, 'accepted'],
      [undefined, 'accepted'],
    ]);
  });

  it('that was discarded says which later fix file brought an order that was accepted', async () => {
    await using place = await openWorkplace();
    await place.drop('a.csv', table('PO-1,NEW,A,none', 'PO-2,NEW,A,none', 'PO-3,NEW,A,none'));
    await place.run(['start', '--once']);
    const first = await lastOf(place);
    const fix = await place.read(first, 'dead-letters.csv');
    await place.run(['dead-letters', 'discard', '--batch', first.batch, '--yes']);
    await place.drop(
      'b.csv',
      fix.replace('PO-1,NEW,A,none', 'PO-1,NEW,A,8').replace('PO-2,NEW,A,none', 'PO-4,NEW,A,9'),
    );
    await place.run(['start', '--once']);
    const second = await lastOf(place);
    expect(second.counts).toMatchObject({ accepted: 2, invalid: 1 });
    const ends = async () =>
      (JSON.parse(await place.read(first, 'dead-letters.json')) as { closed: Closed }[]).map(
        ({ closed }) => closed,
      );
    const ordered = {
      by: 'discarded',
      end: { by: 'accepted', batch: second.batch, file: 'b.csv' },
    };
    expect(await ends()).toMatchObject([
      ordered,
      ordered,
      { by: 'discarded', waitsIn: second.batch },
    ]);
    expect(await place.read(first, 'report.html')).toMatch(
      /discarded by .*; then accepted in <bdi>b\.csv<\/bdi>/,
    );
    expect((await place.run(['explain', 'PO-1'])).out).toMatch(
      /discarded by .*; then accepted, batch /,
    );

    // Refused at first, then corrected again.
    const last = await place.read(second, 'dead-letters.csv');
    await place.drop('c.csv', last.replace('PO-3,NEW,A,none', 'PO-3,NEW,A,7'));
    await place.run(['start', '--once']);
    expect((await ends())[2]).toMatchObject({
      by: 'discarded',
      end: { by: 'accepted', file: 'c.csv' },
    });
  });

  it('that was discarded says which later complete file had its order accepted', async () => {
    await using place = await openWorkplace();
    await place.drop('a.csv', table('PO-1,NEW,A,none', 'PO-2,NEW,A,none'));
    await place.run(['start', '--once']);
    await place.drop('b.csv', table('PO-1,NEW,B,none'));
    await place.run(['start', '--once']);
    const [first, second] = await place.reportsNow();
    await place.run(['dead-letters', 'discard', '--all', '--yes']);
    expect(await openNow(place)).toEqual([0, 0]);
    await place.drop('c.csv', table('PO-1,NEW,A,8', 'PO-3,NEW,A,9'));
    await place.run(['start', '--once']);
    const last = await lastOf(place);
    expect(last.counts).toMatchObject({ accepted: 2 });
    const ordered = {
      closed: { by: 'discarded', end: { by: 'accepted', batch: last.batch, file: 'c.csv' } },
    };
    for (const one of [first, second]) {
      if (one === undefined) throw new Error('no report');
      const [letter, other] = JSON.parse(await place.read(one, 'dead-letters.json')) as {
        closed: Closed;
      }[];
      expect(letter).toMatchObject(ordered);
      expect(other?.closed.end).toBeUndefined();
      expect(await place.read(one, 'report.html')).toMatch(
        /discarded by .*; then accepted in <bdi>c\.csv<\/bdi>/,
      );
    }
    expect((await place.run(['explain', 'PO-1'])).out).toMatch(
      /discarded by .*; then accepted, batch /,
    );
  });

  it('of a fix file that was settled needs a person again on the first page too', async () => {
    await using place = await openWorkplace();
    await place.drop('a.csv', table('PO-1,NEW,A,none'));
    await place.run(['start', '--once']);
    const first = await lastOf(place);
    await place.drop(
      'b.csv',
      (await place.read(first, 'dead-letters.csv')).replace('A,none', 'A,some'),
    );
    await place.run(['start', '--once']);
    const fix = await place.read(await lastOf(place), 'dead-letters.csv');
    for (const quantity of ['8', '5']) {
      await place.drop(`${quantity}.csv`, fix.replace('A,some', `A,${quantity}`));
      await place.run(['start', '--once']);
    }
    const page = await place.read(first, 'report.html');
    expect(page).toContain('<h1>The order needs you</h1>');
    expect(page).toContain(`in <bdi>5.csv</bdi> <small>(batch`);
    expect(page).toContain('The order went out after corrections.');
    expect(JSON.parse(await place.read(first, 'dead-letters.json'))).toMatchObject([
      { closed: { by: 'fixed', before: { by: 'accepted', file: '8.csv' } } },
    ]);
    const { out } = await place.run(['explain', 'PO-1', '--json']);
    expect(out).toContain('"before"');
    expect(page).toMatch(
      /still open<\/b> in <bdi>5\.csv<\/bdi>.*; before that accepted in <bdi>8\.csv<\/bdi>/,
    );
    await place.run(['dead-letters', 'discard', '--order', 'PO-1', '--yes']);
    await place.run(['start', '--once']);
    expect(await place.read(first, 'report.html')).toContain('<h1>Nothing here needs you</h1>');
  });

  it('stays open when another file or another source shows what was accepted', async () => {
    await using place = await openWorkplace({ source: BOTH });
    await show(place, 'PO-1,NEW,A,1');
    await place.drop('b.csv', table('PO-1,NEW,A,2'));
    await place.run(['start', '--once']);
    await place.drop('a.csv', table('PO-1,NEW,A,1'));
    await show(place, 'PO-1,NEW,A,1', 'PO-9,NEW,A,1');
    expect((await openNow(place)).filter((open) => open > 0)).toEqual([1]);
  });

  it('of other content, or that failed a check, stays open when the order that was in progress is accepted', async () => {
    // In progress until the second file is reported.
    const faults = [{ kind: 'answer', status: 503, message: 'closed', on: 'create' }];
    await using place = await openWorkplace({ sandbox: { record: true }, faults: { faults } });
    const daemon = place.start(['start']);
    await place.drop('a.csv', table('PO-1,NEW,A,1', 'PO-2,NEW,A,1'));
    await until('the order under way', () => place.events.some(({ type }) => type === 'received'));
    // A later version cancels PO-2, or has it with a value that nobody can read: a person must see that.
    const later =
      'purchaseOrderNumber,orderState,articleCode,quantity,status\nPO-1,NEW,A,2,open\nPO-2,NEW,A,1,cancelled\n';
    await place.drop('b.csv', later);
    const finished = async () =>
      (await place.reportsNow()).filter(({ state }) => state === 'finished').length;
    await until('the second report', async () => (await finished()) === 1);
    await place.setFaults([]);
    await until('both reported', async () => (await finished()) === 2);
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    const [, other] = await place.reportsNow();
    if (other === undefined) throw new Error('no report');
    const written = await place.read(other, 'dead-letters.json');
    expect(written).toContain('this number is already in progress with different items');
    expect(written).toContain('your operator can cancel its file as long as it waits');
    // Its report is written again a moment later.
    const { deadLetters } = JSON.parse((await place.run(['--json', 'dead-letters', 'list'])).out);
    expect(deadLetters.map((one: DeadLetter) => one.purchaseOrderNumber).sort()).toEqual([
      'PO-1',
      'PO-2',
    ]);
  });
});

it('a conflict whose other order was cancelled before it was sent says that the number is free, and its fix file as it is sends it', async () => {
  await using place = await openWorkplace();
  const daemon = place.start(['start']);
  const port = await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
  await place.run(['pause', '--reason', 'test']);
  await place.drop('a.csv', table('PO-1,NEW,A,1', 'PO-2,NEW,A,1'));
  await until('the first file', async () => (await place.run(['status'])).out.includes('a.csv'));
  await place.drop('b.csv', table('PO-1,NEW,A,5', 'PO-2,NEW,A,6'));
  const letters = async (): Promise<DeadLetter[]> =>
    JSON.parse((await place.run(['--json', 'dead-letters', 'list'])).out).deadLetters;
  await until('the conflicts', async () => (await letters()).length === 2);
  const { batches } = JSON.parse((await place.run(['--json', 'batches', 'list'])).out);
  const a = batches.find(({ file }: { file: string }) => file === 'a.csv').batch;
  await place.run(['batches', 'cancel', a, '--yes']);
  const free =
    'The other order with this number was cancelled or discarded: po-sync did not send it.';
  const flat = (text: string) => text.replace(/\s+/g, ' ');
  await until(
    'the report',
    async () => (await place.reportsNow()).filter((one) => one.finishedAt).length === 2,
  );
  expect(flat((await place.run(['explain', 'PO-1'])).out)).toContain(
    `${free} If this one is wanted, drop its fix file as it is`,
  );
  const admin = `http://127.0.0.1:${port}`;
  const page = await until('the list', async () => {
    const answer = await fetch(`${admin}/api/v1/dead-letters?q=PO-1`);
    const { items: [first] = [] } = (await answer.json()) as { items?: { id: string }[] };
    return first && `${admin}/dead-letters/${encodeURIComponent(first.id)}`;
  });
  expect(await (await fetch(page)).text()).toContain(free);
  const second = (await place.reportsNow()).find(({ file }) => file === 'b.csv');
  if (second === undefined) throw new Error('no report');
  await place.drop('fix.csv', await place.read(second, 'dead-letters.csv'));
  await place.run(['resume']);
  await until('both are accepted', async () => (await letters()).length === 0);
  expect(flat((await place.run(['explain', 'PO-2'])).out)).toContain('PO-2 accepted 6 × A');
});

it('discarded in a file in progress, it is listed with --all as closed, by whom and when, as in JSON', async () => {
  const refused = { kind: 'answer', status: 400, message: 'unknown article', articles: ['BAD'] };
  const busy = { kind: 'answer', status: 503, message: 'busy', articles: ['SLOW'] };
  await using place = await openWorkplace({
    faults: { faults: [refused, busy] },
    sandbox: { record: true },
  });
  const daemon = place.start(['start']);
  await place.drop('orders.csv', table('REF,NEW,BAD,1', 'WRONG,NEW,A,none', 'LATE,NEW,SLOW,1'));
  const listed = async (...args: string[]): Promise<DeadLetter[]> =>
    JSON.parse((await place.run(['--json', 'dead-letters', 'list', ...args])).out).deadLetters;
  await until('the refusal', async () => (await listed()).length === 2);
  for (const order of ['REF', 'WRONG'])
    await place.run(['dead-letters', 'discard', '--order', order, '--yes'], { USER: 'anna' });
  const { batch } = await lastOf(place);
  expect(await listed('--batch', batch)).toEqual([]);
  const closed = { by: 'discarded', who: 'anna', at: expect.any(String) };
  const found = await listed('--all', '--batch', batch);
  expect(
    found.toSorted((a, b) => (a.purchaseOrderNumber < b.purchaseOrderNumber ? -1 : 1)),
  ).toMatchObject([
    { purchaseOrderNumber: 'REF', kind: 'refused', message: 'unknown article', closed },
    { purchaseOrderNumber: 'WRONG', kind: 'invalid', closed },
  ]);
  expect(await listed('--all', '--order', 'REF')).toMatchObject([{ batch, closed }]);
  const { out } = await place.run(['dead-letters', 'list', '--all', '--batch', batch]);
  expect(out).toMatch(/REF +refused, closed .*discarded by anna/);
  await place.setFaults([]);
  await until('the report', async () => (await lastOf(place)).state === 'finished');
  expect(await listed('--all', '--batch', batch)).toMatchObject([{ closed }, { closed }]);
  daemon.child.kill('SIGTERM');
  await daemon.ended;
});

it('of an order that needs a person in several files, list, JSON and explain name the newest, also while its batch is held, and its correction closes all', async () => {
  const bad = { kind: 'answer', status: 400, message: 'no such article', articles: ['BAD'] };
  const refusalHold = ', concurrency: 2, refusalHold: { share: 50%, of: 6 }';
  await using place = await openWorkplace({
    faults: { faults: [bad] },
    sandbox: { record: true },
    delivery: refusalHold,
  });
  const taken = async (name: string, text: string): Promise<Report> => {
    const before = await place.reportsNow();
    const [last] = before.slice(-1);
    const secondOf = (at: string) => at.slice(0, 19);
    // The name of a batch begins with its second.
    await until(
      'the next second',
      () => secondOf(new Date().toISOString()) > secondOf(last?.startedAt ?? ''),
    );
    await place.drop(name, text);
    await place.run(['start', '--once', '--max-wait', '2s']);
    return await lastOf(place);
  };
  const rows = ['REF,NEW,BAD,2', 'INV,NEW,,1', 'OK,NEW,A,1'];
  const first = await taken('r.csv', table(...rows));
  const [second, third] = [
    await taken('r.csv', table(...rows)),
    await taken('other.csv', table(...rows.slice(0, 2))),
  ];
  expect(third).toMatchObject({ counts: { refused: 1, invalid: 1 }, open: 2 });
  const marks = async () => {
    const { deadLetters } = JSON.parse((await place.run(['dead-letters', 'list', '--json'])).out);
    return deadLetters.map(({ batch, newerIn }: { batch: string; newerIn?: string }) => [
      batch,
      newerIn,
    ]);
  };
  const older = (...batches: Report[]) =>
    batches.flatMap(({ batch }) => [
      [batch, third.batch],
      [batch, third.batch],
    ]);
  expect(await marks()).toEqual([
    ...older(first, second),
    [third.batch, undefined],
    [third.batch, undefined],
  ]);
  const { out } = await place.run(['dead-letters', 'list']);
  expect(
    out.match(new RegExp(`REF +refused, again in ${third.batch.slice(-8)} `, 'g')),
  ).toHaveLength(2);
  expect(out).toContain(`${third.batch}/dead-letters.csv`);
  expect(out).not.toContain(`${first.batch}/dead-letters.csv`);
  for (const number of ['REF', 'INV'])
    expect((await place.run(['explain', number])).out).toContain(
      `Correct the fix file in ${place.reports}/${third.batch}\n`,
    );

  // Held, because the API refuses the orders that only it has.
  const refused = Array.from({ length: 12 }, (_, i) => `H-${i},NEW,BAD,1`);
  const held = await taken('held.csv', table('REF,NEW,BAD,2', ...refused));
  expect((await place.run(['batches', 'show', held.batch])).out).toContain(
    'po-sync batches release',
  );
  const whileHeld = await marks();
  expect(whileHeld).toContainEqual([first.batch, held.batch]);
  expect(whileHeld).toContainEqual([third.batch, held.batch]);
  expect((await place.run(['explain', 'REF'])).out).toContain(
    `Its fix file is written when batch ${held.batch} is`,
  );
  await place.run(['batches', 'cancel', held.batch, '--yes']);
  await place.run(['start', '--once']);
  expect((await place.run(['explain', 'REF'])).out).toContain(
    `Correct the fix file in ${place.reports}/${held.batch}\n`,
  );

  const fix = await place.read(held, 'dead-letters.csv');
  await taken('fix.csv', fix.replace('REF,NEW,BAD', 'REF,NEW,A'));
  expect(place.stored().get('REF')).toBe(1);
  const { deadLetters } = JSON.parse(
    (await place.run(['dead-letters', 'list', '--json', '--order', 'REF'])).out,
  );
  expect(deadLetters).toEqual([]);
});

it('of an order that a fix file of another file sent under another number, list, explain and the page say so, and to discard it, also after Redis lost its data', async () => {
  const redis = await openDatabase();
  const bad = { kind: 'answer', status: 400, message: 'no such article', articles: ['BAD'] };
  await using place = await openWorkplace({ redis, faults: { faults: [bad] } });
  await using client = Object.assign(new Redis(redis), {
    [Symbol.asyncDispose]: async () => client.disconnect(),
  });
  const once = () => place.run(['start', '--once', '--max-wait', '60s']);
  const taken = async (name: string, text: string): Promise<Report> => {
    await place.drop(name, text);
    await once();
    const report = (await place.reportsNow()).find(({ file }) => file === name);
    if (report === undefined) throw new Error('no report');
    return report;
  };
  const first = await taken('first.csv', table('REF,NEW,BAD,1', 'TWO,NEW,BAD,2'));
  const second = await taken('second.csv', table('TWO,NEW,BAD,2', 'REF,NEW,BAD,1', 'IN-1,NEW,,1'));
  const copy = await taken('copy.csv', table('TWO,NEW,BAD,2', 'REF,NEW,BAD,1', 'IN-1,NEW,,1'));
  const fixes: [Report, string, string][] = [
    [first, 'REF,NEW,BAD', 'REF-9,NEW,A'],
    [second, 'IN-1,NEW,', 'IN-1-9,NEW,A'],
  ];
  for (const [report, before, after] of fixes) {
    const [header = '', ...rows] = (await place.read(report, 'dead-letters.csv')).split('\n');
    const row = rows.find((one) => one.startsWith(before)) ?? '';
    await taken(`${after.split(',')[0]}.csv`, `${header}\n${row.replace(before, after)}\n`);
  }
  expect([...place.stored().keys()].sort()).toEqual(['IN-1-9', 'REF-9']);

  const check = async (isLost: boolean) => {
    const listed = JSON.parse(
      (await place.run(['dead-letters', 'list', '--json'])).out,
    ).deadLetters;
    const sentAs = ({ purchaseOrderNumber: no, batch, sentAs: as }: Record<string, unknown>) => [
      no,
      batch,
      as,
    ];
    const [asRef, asRow] = ['REF-9', 'IN-1-9'].map((number) => {
      return { number, batch: expect.any(String), file: `${number}.csv` };
    });
    expect(new Set(listed.map(sentAs))).toEqual(
      new Set([
        ['TWO', first.batch, undefined],
        ...[second, copy].flatMap(({ batch }) => [
          ['TWO', batch, undefined],
          ['REF', batch, asRef],
        ]),
        ['IN-1', copy.batch, asRow],
      ]),
    );
    const { out } = await place.run(['dead-letters', 'list']);
    expect(out.match(/^REF +refused, sent as REF-9 /gm)).toHaveLength(2);
    // Those that were sent under another number are among the orders that need a person, as in the status and a retry.
    expect(JSON.parse((await place.run(['status', '--json'])).out).deadLetters).toBe(3);
    const only = isLost ? [] : ['send them again unchanged (only 1 of 3 can be)'];
    expect(out.match(/send them again unchanged.*$/gm) ?? []).toEqual(only);
    const plan = JSON.parse(
      (await place.run(['dead-letters', 'retry', '--dry-run', '--json'])).out,
    ).plan;
    expect(Object.values<number>(plan).reduce((sum, one) => sum + one, 0)).toBe(3);
    expect(out).toMatch(
      /REF was already sent as REF-9, from "REF-9\.csv"[\s\S]*dead-letters discard --order REF\n/,
    );
    const ofOne = (await place.run(['dead-letters', 'list', '--order', 'REF'])).out;
    expect(ofOne).not.toMatch(/Correct and drop|dead-letters retry|dead-letters\.csv/);
    const retried = await place.run([
      'dead-letters',
      'retry',
      '--order',
      'REF',
      '--order',
      'IN-1',
      '--dry-run',
    ]);
    expect(retried.code).toBe(2);
    expect(retried.out).not.toMatch(/Drop the fix file|Correct the fix file/);
    expect(retried.out).toContain(
      '2 orders cannot be sent again: a fix file brought the same rows back as another order.\n',
    );
    expect(retried.out).toMatch(
      /REF was already sent as REF-9, from "REF-9\.csv"[\s\S]*dead-letters discard --order REF\n/,
    );
    expect(retried.out).toMatch(/IN-1 was already sent as IN-1-9, from "IN-1-9\.csv"/);
    for (const [number, as] of [
      ['REF', 'REF-9'],
      ['IN-1', 'IN-1-9'],
    ] as const) {
      const text = (await place.run(['explain', number])).out;
      expect(text).toMatch(new RegExp(`${number} was already sent as ${as}, from "${as}\\.csv"`));
      expect(text).toContain(`po-sync dead-letters discard --order ${number}`);
      expect(text).not.toContain('Correct the fix file');
    }
    expect((await place.run(['explain', 'TWO'])).out).toContain('Correct the fix file');
  };
  await check(false);
  await client.flushdb();
  await once();
  await check(true);
  await place.run(['dead-letters', 'discard', '--order', 'REF', '--order', 'IN-1', '--yes']);
  expect([...place.stored().keys()].sort()).toEqual(['IN-1-9', 'REF-9']);
});

it('the page of a file that was dropped again links the report in which its rows were corrected', async () => {
  await using place = await openWorkplace();
  const dropOnce = async (name: string, text: string): Promise<Report> => {
    await place.drop(name, text);
    await place.run(['start', '--once']);
    return await lastOf(place);
  };
  const first = await dropOnce('a.csv', table('PO-1,NEW,A,1', ',NEW,B,2'));
  expect(await place.read(first, 'report.html')).not.toContain('read again');
  const second = await dropOnce('b.csv', table('PO-1,NEW,A,1', ',NEW,B,2'));
  await dropOnce(
    'c.csv',
    (await place.read(second, 'dead-letters.csv')).replace(/^,NEW,B/m, 'PO-2,NEW,B'),
  );
  expect(await openNow(place)).toEqual([1, 0, 0]);
  const [now] = await place.reportsNow();
  expect(now?.repeatedBy).toEqual({ batch: second.batch, file: 'b.csv', at: second.startedAt });
  const link = `<bdi>b.csv</bdi> <small>(batch <a data-in-reports href="../${second.batch}/report.html">`;
  // A page that is not written yet when a process ends is written by the next one.
  await until('the link', async () => {
    await place.run(['start', '--once']);
    const page = await place.read(first, 'report.html');
    return page.includes(`<b>The same file was read again:</b> ${link}`);
  });
});

it('an error that several rows of an order have is said once', async () => {
  await using place = await openWorkplace();
  await place.drop(
    'a.csv',
    table('PO-1,NEW,A,none', 'PO-1,NEW,B,none', 'PO-1,NEW,C,few', 'PO-2,NEW,A,none'),
  );
  await place.run(['start', '--once']);
  const [, one = '', two = ''] = (await place.read(await lastOf(place), 'results.csv')).split('\n');
  expect(one.match(/is not a number/g)).toHaveLength(2);
  expect(two.match(/is not a number/g)).toHaveLength(1);
});

it('explain shows one closing of several dead letters once', async () => {
  await using place = await openWorkplace();
  for (const name of ['a.csv', 'b.csv']) {
    await place.drop(name, table('PO-1,NEW,A,none'));
    await place.run(['start', '--once']);
  }
  const fix = await place.read(await lastOf(place), 'dead-letters.csv');
  await place.drop('c.csv', fix.replace('none', '1'));
  await place.run(['start', '--once']);
  const { out } = await place.run(['explain', 'PO-1']);
  expect(out.match(/its dead letter was closed: accepted/g)).toHaveLength(1);
});

it('the page of an unreadable file closes when a later file of the same name could be read', async () => {
  await using place = await openWorkplace();
  await place.drop('a.csv', table('PO-1,NEW,"A,1'));
  await place.run(['start', '--once']);
  const broken = await lastOf(place);
  expect(await place.read(broken, 'report.html')).toContain('<header class="care">');
  expect(await place.read(broken, 'report.html')).toContain(
    '<code class="line">PO-1,NEW,&quot;A,1</code>',
  );
  expect((await place.reportsNow())[0]).toMatchObject({
    error: { line: 2, text: 'PO-1,NEW,"A,1' },
  });
  await place.drop('b.csv', table('PO-2,NEW,A,1'));
  await place.run(['start', '--once']);
  expect(await place.read(broken, 'report.html')).toContain('What to do next');
  await place.drop('a.csv', table('PO-1,NEW,A,1'));
  await place.run(['start', '--once']);
  const right = await lastOf(place);
  expect((await place.reportsNow())[0]).toMatchObject({
    state: 'unreadable',
    replacedBy: right.batch,
  });
  const failed = path.join(place.folder, 'inbox', 'failed');
  const [day = ''] = await readdir(failed);
  const beside = await readFile(path.join(failed, day, 'a.csv.result.html'), 'utf8');
  for (const page of [await place.read(broken, 'report.html'), beside]) {
    expect(page).toContain('<header class="well">');
    expect(page).toContain(`A later file of this name was read in batch ${right.batch}.`);
    expect(page).not.toContain('What to do next');
  }
});

it('the page of an unreadable file that somebody removed is no longer red, until the file is back', async () => {
  await using place = await openWorkplace();
  await place.drop('a.csv', table('PO-1,NEW,"A,1'));
  await place.run(['start', '--once']);
  const failed = path.join(place.folder, 'inbox', 'failed');
  const [day = ''] = await readdir(failed);
  const file = path.join(failed, day, 'a.csv');
  const page = () => readFile(`${file}.result.html`, 'utf8');
  expect(await page()).toMatch(
    /<header class="care">.*If you dropped it by mistake, or if the new file has another name, delete this file/s,
  );

  await rename(file, path.join(place.folder, 'a.csv'));
  await place.run(['start', '--once']);
  expect(await page()).toMatch(
    /<header class="neutral">.*The file was removed since: nobody has to do anything here\./s,
  );
  expect(await page()).not.toContain('What to do next');
  const [report] = await place.reportsNow();
  expect(report).toMatchObject({
    state: 'unreadable',
    removedAt: expect.stringMatching(/^\d{4}-/),
  });

  await rename(path.join(place.folder, 'a.csv'), file);
  await place.run(['start', '--once']);
  expect(await page()).toContain('<header class="care">');
  expect((await place.reportsNow())[0]).not.toHaveProperty('removedAt');
});

const CONFIRM =
  'If it is another order, write confirmed into _error_check in each row of this order';

it.each([false, true])(
  'of an export that was sent under another number is held where a later version has other items under the old one, until a person confirms it (Redis lost its data: %s)',
  async (isLost) => {
    const refused = { kind: 'answer', status: 400, message: 'no such article', articles: ['BAD'] };
    const redis = await openDatabase();
    await using place = await openWorkplace({ redis, source: BOTH, faults: { faults: [refused] } });
    await using client = Object.assign(new Redis(redis), {
      [Symbol.asyncDispose]: async () => client.disconnect(),
    });
    const once = () => place.run(['start', '--once', '--max-wait', '60s']);
    const drop = async (name: string, text: string) => {
      await place.drop(name, text);
      await once();
      return await lastOf(place);
    };
    const stored = () => [...place.stored().keys()].sort();
    await show(place, 'PO-1,NEW,BAD,1', 'PO-2,NEW,A,none', 'PO-3,NEW,A,3', 'PO-4,NEW,BAD,4');
    const first = await place.read(await lastOf(place), 'dead-letters.csv');
    // An order of another file, too: its fix file is not that of the export.
    const another = await drop('other.csv', table('PO-4,NEW,BAD,4'));
    const otherFix = await place.read(another, 'dead-letters.csv');
    await drop('other-fix.csv', otherFix.replace('PO-4,NEW,BAD,4', 'PO-7,NEW,A,4'));
    const rows = first
      .replace('PO-1,NEW,BAD,1', 'PO-9,NEW,A,1')
      .replace('PO-2,NEW,A,none', 'PO-8,NEW,A,2');
    await drop('fix.csv', rows.replace(/^PO-4.*\n/m, ''));
    expect(stored()).toEqual(['PO-3', 'PO-7', 'PO-8', 'PO-9']);
    await place.run(['dead-letters', 'discard', '--order', 'PO-4', '--yes']);
    if (isLost) await client.flushdb();
    await once();

    const changed = ['PO-1,NEW,A,5', 'PO-2,NEW,A,2', 'PO-3,NEW,A,3', 'PO-4,NEW,A,5'];
    await show(place, ...changed);
    const held = await lastOf(place);
    const letters: DeadLetter[] = JSON.parse(await place.read(held, 'dead-letters.json'));
    const known = letters.map(({ message }) => message.replaceAll(/ \(batch [^)]*\)/g, ''));
    // The list of the API has no items.
    const other = isLost
      ? ': if it is the same order, agree on any'
      : ', and this version of the export has other items: if it is the same order, agree on the';
    const same = isLost ? 'agree on any change with the supplier and ' : '';
    expect(known).toEqual([
      `PO-1 was already sent as PO-9, from "fix.csv"${other} change with the supplier and discard it. ${CONFIRM}`,
      `PO-2 was already sent as PO-8, from "fix.csv": if it is the same order, ${same}discard it. ${CONFIRM}`,
      `PO-4 was already sent as PO-7, from "other-fix.csv"${other} change with the supplier and discard it. ${CONFIRM}`,
    ]);
    const fix = await place.read(held, 'dead-letters.csv');
    expect(await drop('unchanged.csv', fix)).toMatchObject({ counts: { accepted: 0, invalid: 3 } });
    await place.run(['dead-letters', 'discard', '--order', 'PO-2', '--order', 'PO-4', '--yes']);
    await show(place, ...changed, 'PO-5,NEW,A,1');
    expect(await lastOf(place)).toMatchObject({ open: 0, counts: { accepted: 1 } });
    expect(stored()).toEqual(['PO-3', 'PO-5', 'PO-7', 'PO-8', 'PO-9']);

    const again = await place.read(
      (await place.reportsNow()).find(({ file }) => file === 'unchanged.csv') ?? held,
      'dead-letters.csv',
    );
    const confirmed = again
      .replace(/^PO-[24].*\n/gm, '')
      .replace(/^(PO-1,.*),[^,]*$/m, '$1,confirmed');
    expect(await drop('confirmed.csv', confirmed)).toMatchObject({ counts: { accepted: 1 } });
    expect(place.stored().get('PO-1')).toBe(1);
  },
);

it('the list shows an order of several versions of an export once, and offers a retry only where it would send some', async () => {
  const refused = { kind: 'answer', status: 400, message: 'no such article', articles: ['BAD'] };
  await using place = await openWorkplace({ source: BOTH, faults: { faults: [refused] } });
  const list = async (...args: string[]) =>
    (await place.run(['dead-letters', 'list', ...args])).out;
  const next = async (...rows: string[]) => {
    const { startedAt = '' } = (await place.reportsNow()).at(-1) ?? {};
    // The name of a batch begins with its second.
    await until(
      'the next second',
      () => new Date().toISOString().slice(0, 19) > startedAt.slice(0, 19),
    );
    await show(place, ...rows);
  };
  await next('PO-1,NEW,BAD,1', 'PO-3,NEW,A,3');
  const first = await lastOf(place);
  await next('PO-1,NEW,BAD,1', 'PO-2,NEW,A,none', 'PO-3,NEW,A,3');
  expect(await list()).toContain(
    '1 older dead letter of these orders, in earlier versions of an export, is not shown',
  );
  const newest = await lastOf(place);
  await next('PO-1,NEW,BAD,1', 'PO-2,NEW,A,none', 'PO-3,NEW,A,4');
  const out = await list();
  expect(out.match(/^PO-1 .*$/gm)).toEqual([expect.stringContaining(newest.batch.slice(-8))]);
  expect(out).toContain(
    '1 older dead letter of these orders, in earlier versions of an export, is not shown',
  );
  expect(out).not.toMatch(/again in|use --limit/);
  expect(out).toContain('dead-letters retry     send them again unchanged (only 1 of 3 can be)\n');
  expect(await list('--limit', '1')).toContain('… and 2 more dead letters; use --limit');
  expect(await list('--kind', 'refused')).toMatch(
    /dead-letters retry {5}send them again unchanged\n/,
  );
  expect(await list('--kind', 'conflict')).not.toContain('dead-letters retry');
  expect(await list('--batch', first.batch)).toMatch(/^PO-1 +refused, again in /m);
  const { deadLetters } = JSON.parse(await list('--json', '--order', 'PO-1'));
  expect(deadLetters).toHaveLength(2);
  // In this spelling, it is another order's number.
  await place.drop('spelled.csv', table('po-1,NEW,A,1'));
  await place.run(['start', '--once', '--max-wait', '60s']);
  expect([...place.stored().keys()]).toContain('po-1');
  expect(await list('--kind', 'refused')).not.toContain('dead-letters retry');
});

it('the list shows of two files of one name which batch has no fix file yet', async () => {
  await using place = await openWorkplace();
  await place.run(['pause', '--reason', 'test']);
  for (const number of ['IN-1', 'IN-2']) {
    await place.drop('orders.csv', table(`${number},NEW,A,none`, `OK-${number},NEW,A,1`));
    await until('its order waits for a person', async () => {
      // A pause may end it before the file is read.
      await place.run(['start', '--once', '--max-wait', '1s']);
      return (await place.run(['dead-letters', 'list'])).out.includes(number);
    });
  }
  const { out } = await place.run(['dead-letters', 'list']);
  const { batches } = JSON.parse((await place.run(['batches', 'list', '--json'])).out);
  expect(batches).toHaveLength(2);
  for (const { batch } of batches)
    expect(out).toContain(
      `orders.csv (batch ${batch.slice(-8)}) has its fix file after its last order.`,
    );
});

const REFUSED = { kind: 'answer', status: 400, message: 'no such article', articles: ['BAD'] };

it.each([
  ['the API refused it under the new number first', 'PO-8,NEW,BAD,1', 'PO-8,NEW,A,1', false],
  [
    'the API refused it first, and Redis lost its data since',
    'PO-8,NEW,BAD,1',
    'PO-8,NEW,A,1',
    true,
  ],
  ['it got a third number', 'PO-8,NEW,BAD,1', 'PO-9,NEW,A,1', false],
  ['it waited under the new number for another check', 'PO-8,NEW,A,none', 'PO-8,NEW,A,1', false],
])(
  'of an export that was sent under another number in a second fix file is held under the old one, where %s',
  async (_, first, second, isLost) => {
    const redis = await openDatabase();
    await using place = await openWorkplace({ redis, source: BOTH, faults: { faults: [REFUSED] } });
    await show(place, 'PO-1,NEW,BAD,1', 'PO-3,NEW,A,3');
    const bring = async (name: string, was: string, now: string) => {
      await place.drop(
        name,
        (await place.read(await lastOf(place), 'dead-letters.csv')).replace(was, now),
      );
      await place.run(['start', '--once']);
    };
    await bring('first.csv', 'PO-1,NEW,BAD,1', first);
    await bring('second.csv', first, second);
    const number = second.slice(0, 4);
    expect([...place.stored().keys()]).toEqual(['PO-3', number]);
    if (isLost) {
      await using client = Object.assign(new Redis(redis), {
        [Symbol.asyncDispose]: async () => client.disconnect(),
      });
      await client.flushdb();
      await place.run(['start', '--once']);
    }
    await show(place, 'PO-1,NEW,A,5', 'PO-3,NEW,A,3');
    expect(await place.read(await lastOf(place), 'results.csv')).toContain(
      `PO-1 was already sent as ${number}, from `,
    );
    expect([...place.stored().keys()]).toEqual(['PO-3', number]);
  },
);

it('of an export that a fix file gave another number is held under the old one while delivery is paused', async () => {
  await using place = await openWorkplace({ source: BOTH, faults: { faults: [REFUSED] } });
  await show(place, 'PO-1,NEW,BAD,1', 'PO-3,NEW,A,3');
  const fix = await place.read(await lastOf(place), 'dead-letters.csv');
  await place.run(['pause']);
  await place.drop('fix.csv', fix.replace('PO-1,NEW,BAD', 'PO-8,NEW,A'));
  // A pause may end a run before its file is read.
  const read = async (what: string, isRead: () => Promise<boolean>) =>
    await until(what, async () => {
      await place.run(['start', '--once', '--max-wait', '1s']);
      return await isRead();
    });
  await read('PO-8 waits', async () => (await place.run(['explain', 'PO-8'])).code === 0);
  await show(place, 'PO-1,NEW,A,5', 'PO-3,NEW,A,3');
  await read('PO-1 is held', async () =>
    (await place.reportsNow()).some(({ counts }) => counts.invalid === 1),
  );
  await place.run(['resume']);
  await place.run(['start', '--once']);
  expect([...place.stored().keys()]).toEqual(['PO-3', 'PO-8']);
  expect(await place.read(await lastOf(place), 'results.csv')).toMatch(
    /PO-1 was already sent as PO-8, from .*PO-8 is not accepted yet: decide when it is/,
  );
});

it('of an export that waits under another number is held in its fix file where the export brought it under the old one since', async () => {
  await using place = await openWorkplace({ source: BOTH, faults: { faults: [REFUSED] } });
  await show(place, 'PO-1,NEW,BAD,1');
  const first = await place.read(await lastOf(place), 'dead-letters.csv');
  await place.drop('first.csv', first.replace('PO-1,', 'PO-8,'));
  await place.run(['start', '--once']);
  const second = await place.read(await lastOf(place), 'dead-letters.csv');
  await show(place, 'PO-1,NEW,A,5');
  await place.drop('second.csv', second.replace('BAD', 'A'));
  await place.run(['start', '--once']);
  expect([...place.stored().keys()]).toEqual(['PO-1']);
  expect(await place.read(await lastOf(place), 'results.csv')).toContain(
    'line 2 of first.csv was already sent as PO-1, from ""erp.csv""',
  );
});
