import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Report } from '../../src/report/report.ts';
import { correctedBook } from '../support/fix-workbook.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

const SOURCE = `- { name: erp, type: export, path: erp.json, stable: 100ms, poll: 200ms, answers: answers }
  - { name: buyers, type: inbox, path: inbox, stable: 100ms, poll: 200ms }`;
const REFUSED = {
  kind: 'answer',
  status: 400,
  message: 'articleCode X is invalid',
  articles: ['X'],
};

type Change = Parameters<typeof correctedBook>[2];

/** The values of the item of an order. */
const item = (articleCode: string, quantity: string) => ({
  'items.articleCode': articleCode,
  'items.quantity': quantity,
});

type Place = Workplace & {
  version: (...orders: object[]) => Promise<string[]>;
  fix: (report: Report | undefined, change: Change) => Promise<Report | undefined>;
};

async function open(): Promise<Place> {
  const place = await openWorkplace({
    source: SOURCE,
    sandbox: { record: true },
    faults: { faults: [REFUSED] },
  });
  const answers = path.join(place.folder, 'answers');
  await mkdir(answers);

  /** Writes a version of the export and returns what its answer says of each order. */
  async function version(...orders: object[]): Promise<string[]> {
    const known = await readdir(answers);
    await writeFile(path.join(place.folder, 'erp.json'), `${JSON.stringify(orders)}\n`);
    await place.run(['start', '--once']);
    const [name = ''] = (await readdir(answers)).filter((one) => !known.includes(one));
    const answer = JSON.parse(await readFile(path.join(answers, name), 'utf8')) as Record<
      string,
      string
    >[];
    return answer.map(({ _outcome, _code, _at_api }) => [_outcome, _code, _at_api].join(' '));
  }

  /** Drops the fix file of a batch with changes, and returns the report of its batch. */
  async function fix(report: Report | undefined, change: Change): Promise<Report | undefined> {
    if (report === undefined) throw new Error('no report');
    await place.drop('fix.xlsx', await correctedBook(place, report, change));
    await place.run(['start', '--once']);
    return (await place.reportsNow()).at(-1);
  }

  return { ...place, version, fix };
}

const order = (
  purchaseOrderNumber: string,
  articleCode: string,
  quantity: number | string = 1,
) => ({
  purchaseOrderNumber,
  items: [{ articleCode, quantity }],
});

it('an order of an export that the API refused and a person corrected needs nobody while it comes again unchanged', async () => {
  await using place = await open();
  expect(await place.version(order('PO-1', 'X'), order('PO-2', 'X', 5))).toEqual([
    'refused 400 no',
    'refused 400 no',
  ]);
  const [first] = await place.reportsNow();
  const again = await place.fix(first, ({ purchaseOrderNumber: one }) =>
    one === 'PO-1' ? item('A', '1') : item('X', '6'),
  );
  expect(again?.counts).toMatchObject({ refused: 1, accepted: 1 });
  expect((await place.fix(again, () => item('A', '6')))?.counts).toMatchObject({
    accepted: 1,
  });

  const next = [order('PO-1', 'X'), order('PO-2', 'X', 5), order('PO-3', 'A')];
  await writeFile(path.join(place.folder, 'next.json'), JSON.stringify(next));
  const { code, out } = await place.run([
    'check',
    '--preview',
    '--json',
    '--source',
    'erp',
    'next.json',
  ]);
  expect([code, JSON.parse(out).files[0].preview]).toMatchObject([
    0,
    { new: 1, duplicate: 2, conflict: 0, waiting: 0 },
  ]);
  const settled = 'duplicate known-settled yes';
  expect(
    await place.version(order('PO-1', 'X'), order('PO-2', 'X', 5), order('PO-3', 'A')),
  ).toEqual([settled, settled, 'accepted  yes']);
  expect((await place.reportsNow()).at(-1)?.open).toBe(0);
  // Any other content was seen by nobody.
  expect(await place.version(order('PO-1', 'X', 2), order('PO-2', 'A', 6))).toEqual([
    'conflict other-content yes',
    'duplicate duplicate yes',
  ]);
});

it('an order of an export to which a person gave another number is not sent under the old one', async () => {
  await using place = await open();
  expect(await place.version(order('PO-1', 'X'))).toEqual(['refused 400 no']);
  const [first] = await place.reportsNow();
  await place.setFaults([]);
  expect((await place.fix(first, () => ({ purchaseOrderNumber: 'PO-9' })))?.counts).toMatchObject({
    accepted: 1,
  });

  await writeFile(
    path.join(place.folder, 'erp.json'),
    JSON.stringify([order('PO-1', 'X'), order('PO-2', 'A')]),
  );
  const preview = await place.run(['check', '--preview', '--source', 'erp', 'erp.json']);
  expect(preview.out).toMatch(/ 1 {2}new: .*\n +1 {2}duplicate: /);
  const settled = 'duplicate duplicate yes';
  expect(await place.version(order('PO-1', 'X'), order('PO-2', 'A'))).toEqual([
    settled,
    'accepted  yes',
  ]);
  expect(await place.version(order('PO-1', 'X'))).toEqual([settled]);
  expect(await place.version(order('PO-1', 'X', 2))).toEqual(['conflict renumbered yes']);
});

it('the answer says of a settled order of an export whether it was corrected, which orders it, or discarded', async () => {
  await using place = await open();
  const orders = [order('PO-1', 'A', 'none'), order('PO-2', 'B', 'none'), order('PO-3', 'C')];
  expect(await place.version(...orders)).toEqual([
    'invalid not-a-number no',
    'invalid not-a-number no',
    'accepted  yes',
  ]);
  await place.run(['dead-letters', 'discard', '--order', 'PO-2', '--yes']);
  const [first] = await place.reportsNow();
  expect((await place.fix(first, () => ({ 'items.quantity': '7' })))?.counts).toMatchObject({
    accepted: 1,
  });
  const next = [...orders, order('PO-4', 'A'), order('PO-5', 'A', 'none')];
  await writeFile(path.join(place.folder, 'next.json'), JSON.stringify(next));
  const preview = await place.run(['check', '--preview', '--source', 'erp', 'next.json']);
  expect(preview.out).toContain('next.json: 5 orders, 1 new, 3 duplicate, 1 invalid\n');
  expect(await place.version(...orders, order('PO-4', 'A'))).toEqual([
    'duplicate known-settled yes',
    'duplicate known-settled no',
    'duplicate duplicate yes',
    'accepted  yes',
  ]);
});
