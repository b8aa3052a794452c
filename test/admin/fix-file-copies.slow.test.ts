import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openOperator } from '../support/operator.ts';
import { plain } from '../support/plain.ts';
import { until } from '../support/until.ts';
import { finishedReport, reportNamed, sheet } from '../support/week.ts';
import { openWorkplace } from '../support/workplace.ts';

const textOf = (page: string) => plain(page.replace(/<[^>]*>/g, '')).replace(/\s+/g, ' ');

const ROWS = [
  'T-1,NEW,A,5 x',
  'T-1,NEW,B,7',
  'T-2,NEW,C,three',
  'T-2,NEW,D,9',
  'T-3,NEW,E,3',
  'T-3,NEW,F,4',
];

it('two copies of a fix file that each correct one order are both counted as sent in report and dashboard, and both changes are recorded', async () => {
  await using place = await openWorkplace();
  const person = await openOperator(place, place.start(['start']));
  await place.drop('list.csv', sheet(...ROWS));
  const { batch } = await finishedReport(place, 'list.csv');
  const fix = await readFile(path.join(place.reports, batch, 'dead-letters.csv'), 'utf8');
  // The first copy also reorders its rows: the places of both copies differ from those of the list.
  const [head = '', ...rows] = fix.trimEnd().split('\n');
  const [one, other] = [rows.slice(0, 2), rows.slice(2)];
  const first = [head, ...other, ...one, ''].join('\n').replace(',5 x,', ',5,');
  await place.drop('mine.csv', first);
  await finishedReport(place, 'mine.csv');
  await place.drop('theirs.csv', fix.replace(',three,', ',3,'));
  const theirs = await finishedReport(place, 'theirs.csv');
  expect(theirs.counts).toMatchObject({ accepted: 1, invalid: 1 });
  expect([...place.stored().keys()].sort()).toEqual(['T-1', 'T-2', 'T-3']);

  const report = async () =>
    textOf(await readFile(path.join(place.reports, batch, 'report.html'), 'utf8'));
  const page = async () => textOf((await person.page(`/batches/${batch}`)).text);
  const sent = 'All 3 orders went out: 1 at first and 2 later.';
  const said = await until('the report of the list', async () => {
    const text = await report();
    return text.includes('came back in theirs.csv') && text;
  });
  expect(said).toContain(sent);
  expect(said).toContain('1 of 3 orders needs you');
  expect(said).toContain(
    '1 order was accepted, and came back with rows that were not accepted, which wait in a newer batch.',
  );
  expect(said).toContain(
    `1 order was settled and came back with rows that were not accepted: it needs a person in theirs.csv (batch ${theirs.batch}). What was accepted is not sent again: if what came back is the same order, discard it there.`,
  );
  expect(said).toContain('where its rows are still open');
  const shown = await until('the page of the list', async () => {
    const text = await page();
    return text.includes(sent) && text;
  });
  expect(shown).toContain(
    '1 order needs you in a later file theirs.csv. It was accepted, and came back there with rows that were not accepted: if it is the same order, discard it there.',
  );
  expect(shown).not.toContain('nothing here needs you');

  const changes = await until('the corrections', async () => {
    const { body } = await person.call('GET', '/corrections');
    const items = body['items'] as { purchaseOrderNumber: string; closed: { changes?: unknown } }[];
    return items.length === 2 && items.every(({ closed }) => closed.changes) && items;
  });
  expect(
    Object.fromEntries(changes.map((row) => [row.purchaseOrderNumber, row.closed.changes])),
  ).toEqual({
    'T-1': [{ place: 'line 2', field: 'quantity', from: '5 x', to: '5' }],
    'T-2': [{ place: 'line 2', field: 'quantity', from: 'three', to: '3' }],
  });
  expect((await person.page('/corrections')).text).not.toContain('not recorded');

  await place.run(['dead-letters', 'discard', '--order', 'T-1', '--yes']);
  await until('the end of the list', async () => (await page()).includes('nothing here needs you'));
  await until('the report', async () => (await report()).includes('Nothing here needs you'));
  expect(await report()).toContain(sent);
  expect(await reportNamed(place, 'list.csv')).not.toHaveProperty('openElsewhere');
});

it('a message about an order of another file with the same name calls it another file of that name', async () => {
  await using place = await openWorkplace();
  const drop = async (...rows: string[]) => {
    await place.drop('list.csv', sheet(...rows));
    await place.run(['start', '--once']);
    const last = (await place.reportsNow()).at(-1);
    return last ? await place.read(last, 'results.csv') : '';
  };
  await drop('T-1,NEW,A,1', 'T-2,NEW,A,1');
  const [, first = '', second = ''] = (await drop('T-1,NEW,A,one', 'T-2,NEW,A,2')).split('\n');
  expect(first).toContain(
    'this number is already accepted from another file named ""list.csv"" (batch ',
  );
  expect(second).toContain(
    'accepted with different items, from another file named ""list.csv"" (batch ',
  );
});
