import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DeadLetter } from '../../src/order/dead-letter.ts';
import { asText } from '../../src/order/sentence.ts';
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
    letters.map(({ code, message }) => `${code}: ${asText(message).replace(/ \(batch .*/, '')}`),
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
