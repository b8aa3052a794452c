import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DeadLetter } from '../../src/order/dead-letter.ts';
import type { Report } from '../../src/report/report.ts';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';
import type { Workplace } from '../support/workplace.ts';

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
    const { out } = await place.run(['--json', 'dead-letters', 'list', '--all']);
    const closed = { by: 'corrected', batch: right?.batch };
    expect(JSON.parse(out).deadLetters).toMatchObject([
      { kind: 'conflict', closed },
      { kind: 'invalid', closed },
    ]);
    expect(right).toMatchObject({ counts: { duplicate: 2 } });
    expect(place.stored().size).toBe(2);
  });

  it('of a number that an accepted order has in another spelling is a conflict until it is discarded', async () => {
    await using place = await openWorkplace();
    await place.drop('erp.csv', table('0088,NEW,A,1'));
    await place.run(['start', '--once']);
    await place.drop('list.csv', table('88,NEW,A,1'));
    expect((await place.run(['start', '--once'])).code).toBe(2);
    const [, held] = await place.reportsNow();
    if (held === undefined) throw new Error('no report');
    expect(await place.read(held, 'results.csv')).toMatch(
      /^2,88,conflict,0,[^,]+,other-spelling,"?this number is already accepted as 0088, from/m,
    );
    expect((await place.run(['explain', '88'])).out).toMatch(/accepted as 0088/);
    expect([...place.stored().keys()]).toEqual(['0088']);
    await place.run(['dead-letters', 'discard', '--order', '88', '--yes']);
    expect((await place.run(['status', '--exit-code'])).code).toBe(0);
  });

  it('of a refused order that two files have is not sent again once it was made another order', async () => {
    const faults = [
      { kind: 'answer', status: 400, code: 400, message: 'unknown article', orders: ['PO-7'] },
    ];
    await using place = await openWorkplace({ faults: { faults }, sandbox: { record: true } });
    await place.drop('monday.csv', table('PO-7,NEW,A,5', 'PO-1,NEW,A,1'));
    await place.run(['start', '--once']);
    const tuesday = table('PO-2,NEW,A,1', 'PO-7,NEW,A,5');
    await place.drop('tuesday.csv', tuesday);
    await place.run(['start', '--once']);
    const [fixed, other] = await place.reportsNow();
    expect([fixed?.open, other?.open]).toEqual([1, 0]);
    if (fixed === undefined) throw new Error('no reports');
    await place.setFaults([]);
    await place.drop('fix.csv', (await place.read(fixed, 'fix.xlsx')).replace('PO-7,', 'PO-8,'));
    await place.run(['start', '--once']);
    await place.run(['dead-letters', 'retry', '--order', 'PO-7', '--yes']);
    await place.drop('unchanged.csv', tuesday);
    await place.run(['start', '--once']);
    expect([...place.stored().keys()].sort()).toEqual(['PO-1', 'PO-2', 'PO-8']);
    const { out } = await place.run(['explain', 'PO-7']);
    expect(out.replace(/\s+/g, ' ')).toContain('PO-8');
  });

  it('of a refused order that was accepted under another number is a duplicate when the same file is dropped again', async () => {
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
    const fix = await place.read(first, 'fix.xlsx');
    await place.drop(
      'fix.csv',
      fix.replaceAll('OLD-1,', 'NEW-1,').replace('OLD-2,NEW,C', 'OLD-2,NEW,D'),
    );
    await place.setFaults([]);
    await place.run(['start', '--once']);
    const sent = ['NEW-1', 'OLD-2', 'OLD-3'];
    expect([...place.stored().keys()].sort()).toEqual(sent);

    await place.drop('orders.csv', file);
    expect((await place.run(['start', '--once'])).code).toBe(0);
    expect([...place.stored().keys()].sort()).toEqual(sent);
    const again = await lastOf(place);
    expect(again).toMatchObject({ counts: { duplicate: 3, conflict: 0 }, open: 0 });
    expect(await place.read(again, 'results.csv')).toMatch(
      /OLD-2,duplicate,0,[^,]+,known-settled,/,
    );
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
    const fix = await place.read(wrong, 'fix.xlsx');
    await place.drop('c.csv', fix.replace('PO-1,NEW,A,2', 'PO-1,NEW,A,1'));
    await place.run(['start', '--once']);
    expect(await openNow(place)).toEqual([0, 0, 0]);
  });
});

it('an unreadable file is closed by a later file of the same name that could be read, and its report stays as it is', async () => {
  await using place = await openWorkplace();
  await place.drop('a.csv', table('PO-1,NEW,"A,1'));
  await place.run(['start', '--once']);
  const broken = await lastOf(place);
  expect(await place.read(broken, 'report.html')).toContain('<header class="care">');
  expect((await place.reportsNow())[0]).toMatchObject({ error: { line: 2 } });
  await place.drop('b.csv', table('PO-2,NEW,A,1'));
  await place.run(['start', '--once']);
  const unreadable = async () => (await place.json('status')).unreadable as object[];
  expect(await unreadable()).toMatchObject([{ batch: broken.batch }]);
  const page = await place.read(broken, 'report.html');
  await place.drop('a.csv', table('PO-1,NEW,A,1'));
  await place.run(['start', '--once']);
  expect(await unreadable()).toEqual([]);
  expect(await place.read(broken, 'report.html')).toBe(page);
});

it('of an export that was sent under another number is held where a later version has other items under the old one', async () => {
  const refused = { kind: 'answer', status: 400, message: 'no such article', articles: ['BAD'] };
  await using place = await openWorkplace({ source: BOTH, faults: { faults: [refused] } });
  const once = () => place.run(['start', '--once', '--max-wait', '4m']);
  const drop = async (name: string, text: string) => {
    await place.drop(name, text);
    await once();
    return await lastOf(place);
  };
  const stored = () => [...place.stored().keys()].sort();
  await show(place, 'PO-1,NEW,BAD,1', 'PO-2,NEW,BAD,2', 'PO-3,NEW,A,3', 'PO-4,NEW,BAD,4');
  const first = await place.read(await lastOf(place), 'fix.xlsx');
  // An order of another file, too: its fix file is not that of the export.
  const another = await drop('other.csv', table('PO-4,NEW,BAD,40'));
  const otherFix = await place.read(another, 'fix.xlsx');
  await drop('other-fix.csv', otherFix.replace('PO-4,NEW,BAD,40', 'PO-7,NEW,A,4'));
  const rows = first
    .replace('PO-1,NEW,BAD,1', 'PO-9,NEW,A,1')
    .replace('PO-2,NEW,BAD,2', 'PO-8,NEW,A,2');
  await drop('fix.csv', rows.replace(/^PO-4.*\n/m, ''));
  expect(stored()).toEqual(['PO-3', 'PO-7', 'PO-8', 'PO-9']);
  await place.run(['dead-letters', 'discard', '--order', 'PO-4', '--yes']);
  await once();

  const changed = ['PO-1,NEW,A,5', 'PO-2,NEW,A,2', 'PO-3,NEW,A,3', 'PO-4,NEW,A,5'];
  await show(place, ...changed);
  const held = await lastOf(place);
  const letters: DeadLetter[] = JSON.parse(await place.read(held, 'dead-letters.json'));
  expect(
    letters.map(({ code, message }) => `${code}: ${message.replace(/ \(batch .*/, '')}`),
  ).toEqual([
    'renumbered: this number is already accepted as PO-9, from "fix.csv"',
    'renumbered: this number is already accepted as PO-8, from "fix.csv"',
    'renumbered: this number is already accepted as PO-7, from "other-fix.csv"',
  ]);
  const fix = await place.read(held, 'fix.xlsx');
  expect(await drop('unchanged.csv', fix)).toMatchObject({
    corrections: { taken: 0, unchanged: 3 },
  });
  await place.run(['dead-letters', 'discard', '--order', 'PO-2', '--order', 'PO-4', '--yes']);
  await show(place, ...changed, 'PO-5,NEW,A,1');
  expect(await lastOf(place)).toMatchObject({ open: 0, counts: { accepted: 1 } });
  expect(stored()).toEqual(['PO-3', 'PO-5', 'PO-7', 'PO-8', 'PO-9']);
});

const REFUSED = { kind: 'answer', status: 400, message: 'no such article', articles: ['BAD'] };

it('of an export that waits under another number is not sent by its fix file where the export brought it under the old one since', async () => {
  await using place = await openWorkplace({ source: BOTH, faults: { faults: [REFUSED] } });
  await show(place, 'PO-1,NEW,BAD,1');
  const first = await place.read(await lastOf(place), 'fix.xlsx');
  await place.drop('first.csv', first.replace('PO-1,', 'PO-8,'));
  await place.run(['start', '--once']);
  const second = await place.read(await lastOf(place), 'fix.xlsx');
  await show(place, 'PO-1,NEW,A,5');
  await place.drop('second.csv', second.replace('BAD', 'A'));
  await place.run(['start', '--once']);
  expect([...place.stored().keys()]).toEqual(['PO-1']);
  expect(await place.read(await lastOf(place), 'results.csv')).toContain('cancelled,0');
  expect(await place.read(await lastOf(place), 'results.csv')).toContain(',outdated,');
});
