import { afterAll, beforeAll, expect, it } from 'vitest';
import { correctedBook } from '../support/fix-workbook.ts';
import { type Operator, openOperator } from '../support/operator.ts';
import { plain } from '../support/plain.ts';
import { until } from '../support/until.ts';
import { finishedReport, sheet } from '../support/week.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

let place: Workplace;
let person: Operator;

beforeAll(async () => {
  const refusal = {
    kind: 'answer',
    status: 400,
    message: 'Unknown article',
    orders: ['PO-2'],
    attempts: '1',
  };
  place = await openWorkplace({ faults: { faults: [refusal] } });
  person = await openOperator(place, place.start(['start']));
});
afterAll(() => place[Symbol.asyncDispose]());

const textOf = (page: string) => plain(page.replace(/<[^>]*>/g, '')).replace(/\s+/g, ' ');

/** The text of a page once it says this. */
const pageWith = (address: string, words: string) =>
  until(words, async () => {
    const text = textOf((await person.page(address)).text);
    return text.includes(words) && text;
  });

it('a discard names the orders with other items than those accepted, without those that were refused and corrected since', async () => {
  await place.drop('monday.csv', sheet('PO-1,NEW,A,6', 'PO-2,NEW,X,1', 'PO-3,NEW,A,3'));
  const monday = await finishedReport(place, 'monday.csv');
  await place.drop('fix.xlsx', await correctedBook(place, monday, () => ({ articleCode: 'Y' })));
  await finishedReport(place, 'fix.xlsx');
  await place.drop('tuesday.csv', sheet('PO-1,NEW,A,77', 'PO-2,NEW,X,1', 'PO-3,NEW,A,three'));
  await finishedReport(place, 'tuesday.csv');
  await until(
    'the list',
    async () => (await person.call('GET', '/dead-letters?already=true')).body['total'] === 3,
  );
  const planned = await person.submit('/plans', {
    action: 'discard',
    already: 'true',
    back: '/dead-letters',
  });
  const text = textOf((await person.page(planned.headers.get('location') ?? '')).text);
  expect(text).toContain('Discard 3 orders');
  expect(text).toContain(
    '1 of 3 has other items than the order with this number that po-sync has. If this change is wanted, agree with the supplier before you discard.PO-1: this number is known with A × 6, and this file has A × 77',
  );
});

it('a discard names five orders with other items and counts the others', async () => {
  const numbers = Array.from({ length: 7 }, (_, i) => `PO-1${i}`);
  await place.drop('many.csv', sheet(...numbers.map((number) => `${number},NEW,A,1`)));
  await finishedReport(place, 'many.csv');
  await place.drop('changed.csv', sheet(...numbers.map((number) => `${number},NEW,A,2`)));
  await finishedReport(place, 'changed.csv');
  await until('the list from the report', async () => {
    const { body } = await person.call('GET', '/dead-letters?q=changed.csv');
    const items = body['items'] as { location: { line: number } }[];
    return body['total'] === 7 && items.every(({ location }) => location.line > 0);
  });
  const planned = await person.submit('/plans', {
    action: 'discard',
    q: 'changed.csv',
    back: '/dead-letters',
  });
  const to = planned.headers.get('location') ?? '';
  await pageWith(to, '7 of 7 have other items');
  const { text } = await person.page(to);
  const [box = ''] = /<div class="box doubt" role="status">.*?<\/div>/s.exec(text) ?? [];
  expect(textOf(box)).toContain('7 of 7 have other items');
  expect(box.match(/<li>/g)).toHaveLength(5);
  expect(textOf(box)).toContain('2 more.');
  await person.submit(`${to}/run`, { expect: '7' });
  await until(
    'the end',
    async () => (await person.call('GET', '/dead-letters?q=changed.csv')).body['total'] === 0,
  );
  expect((await person.page(to)).text).not.toContain('other items than');
});
