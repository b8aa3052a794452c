import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
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
    expect(await place.read(wrong, 'report.html')).toContain('<bdi class="item">A × 1</bdi>');
    const { out } = await place.run(['explain', 'PO-1']);
    expect(out).toMatch(/conflict[^\n]*\n +in this file: {2}2 × A\n +already known: 1 × A\n/);
    const fix = await place.read(wrong, 'dead-letters.csv');
    await place.drop('c.csv', fix.replace('PO-1,NEW,A,2', 'PO-1,NEW,A,1'));
    await place.run(['start', '--once']);
    expect(await openNow(place)).toEqual([0, 0, 0]);
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

  it('of other content stays open when the order that was in progress is accepted', async () => {
    const faults = [{ kind: 'delay', by: '2s', on: 'create' }];
    await using place = await openWorkplace({ faults: { faults }, pace: 'settle: 1s, timeout: 10s' });
    const daemon = place.start(['start']);
    await place.drop('a.csv', table('PO-1,NEW,A,1'));
    await until('the order under way', () => place.events.some(({ type }) => type === 'received'));
    await place.drop('b.csv', table('PO-1,NEW,A,2'));
    await until('both reported', async () => {
      const reports = await place.reportsNow();
      return reports.length === 2 && reports.every(({ state }) => state === 'finished');
    });
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    const [, other] = await place.reportsNow();
    if (other === undefined) throw new Error('no report');
    expect(await place.read(other, 'dead-letters.json')).toContain('this number is in progress with other items');
    expect(await openNow(place)).toEqual([0, 1]);
  });
});
