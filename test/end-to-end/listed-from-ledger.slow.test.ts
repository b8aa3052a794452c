import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace, type Workplace } from '../support/workplace.ts';

const REFUSED = {
  kind: 'answer',
  status: 400,
  message: 'articleCode is invalid',
  orders: ['PO-*'],
  calls: '6-30',
};
const SOURCES =
  '- { name: erp, type: inbox, path: inbox, stable: 100ms, poll: 200ms, answers: answers }';

async function outcomesIn(place: Workplace, file: string): Promise<Map<string, string>> {
  const rows = (await place.read(await finished(place, file), 'results.csv'))
    .trim()
    .split('\n')
    .slice(1);
  return new Map(
    rows.map((row) => row.split(',')).map(([, number = '', outcome = '']) => [number, outcome]),
  );
}

async function finished(place: Workplace, file: string) {
  return until(`the report of ${file}`, async () => {
    const report = (await place.reportsNow()).find((one) => one.file === file);
    return report;
  });
}

it('the report of a batch whose file was removed lists orders that were sent, cancelled and refused, and so does its answer', async () => {
  await using place = await openWorkplace({
    faults: { faults: [REFUSED] },
    source: SOURCES,
    delivery: ', concurrency: 2, refusalHold: { share: 50%, of: 6 }',
  });
  await mkdir(path.join(place.folder, 'answers'));
  place.start(['start']);
  await place.drop(
    'known.csv',
    'purchaseOrderNumber,orderState,articleCode,quantity\nPO-900,NEW,A,1\n',
  );
  await finished(place, 'known.csv');
  await place.drop('wrong.csv', csvOf(40).replace('\n', '\nPO-900,NEW,A,1\n'));
  const { batch } = await until('the hold', async () => {
    const [one] = (await place.json('batches', 'list')).batches;
    return one?.state === 'waiting' && one;
  });
  await rm(path.join(place.inbox, 'processing', batch, 'wrong.csv'));
  const { out: cancelled } = await place.run(['batches', 'cancel', batch, '--yes']);
  expect(cancelled).toMatch(/\d+ orders? had been accepted before/);
  const { counts, warnings } = await finished(place, 'wrong.csv');
  expect(counts).toMatchObject({ orders: 41, duplicate: 1 });
  expect([counts.accepted > 2, counts.refused > 2, counts.cancelled > 10]).toEqual([
    true,
    true,
    true,
  ]);
  expect(warnings).toContainEqual(
    expect.stringMatching(/^wrong\.csv was missing when this report was written/),
  );

  // Only the duplicate is in no list.
  const outcomes = await outcomesIn(place, 'wrong.csv');
  expect(outcomes.size).toBe(40);
  const numbers = (outcome: string) =>
    [...outcomes].filter(([, one]) => one === outcome).map(([number]) => number);
  expect(numbers('accepted').sort()).toEqual(
    [...place.stored().keys()].filter((one) => one !== 'PO-900').sort(),
  );
  expect(numbers('refused')).toHaveLength(counts.refused);
  expect(numbers('cancelled')).toHaveLength(counts.cancelled);

  const name = await until('the answer', async () =>
    (await readdir(path.join(place.folder, 'answers'))).find((one) => one.startsWith(batch)),
  );
  const [head, ...answers] = (await readFile(path.join(place.folder, 'answers', name), 'utf8'))
    .trim()
    .split(/\r?\n/);
  expect(head).toBe(
    'purchaseOrderNumber,orderState,articleCode,quantity,_outcome,_at,_code,_message,_at_api',
  );
  expect(answers).toHaveLength(40);
  for (const line of answers) {
    const [number = '', , , , outcome] = line.split(',');
    expect(outcome).toBe(outcomes.get(number));
    expect(line.split(',').at(-1)).toBe(place.stored().has(number) ? 'yes' : 'no');
  }
});
