import { afterAll, beforeAll, expect, it } from 'vitest';
import { orderOf } from '../support/entry.ts';
import { type Operator, openOperator } from '../support/operator.ts';
import { finishedReport, sheet } from '../support/week.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

let place: Workplace;
let person: Operator;

/** PO-6 was sent; the API had PO-5, and its list brought it to the ledger. */
beforeAll(async () => {
  place = await openWorkplace();
  person = await openOperator(place, place.start(['start']));
  const content = { items: [{ articleCode: 'A', quantity: 7 }] };
  await place.api.create({ ...orderOf('PO-5'), ...content }, await place.api.token());
  await place.run(['reconcile', '--repair', '--yes']);
  await place.drop('orders.csv', sheet('PO-5,NEW,A,7', 'PO-6,NEW,A,6'));
  await finishedReport(place, 'orders.csv');
});
afterAll(() => place[Symbol.asyncDispose]());

it('the page of an accepted order says since when and how po-sync knows it, and what to do if it never arrived', async () => {
  const page = async (number: string) => (await person.page(`/order?number=${number}`)).text;
  const sent = await page('PO-6');
  expect(sent).toMatch(
    /<p>Accepted since <time[^>]*>[^<]+<\/time>: then the API answered po-sync that it has it\. po-sync does not keep whether later lists/,
  );
  expect(sent).toContain("<code>po-sync explain PO-6 --list</code> reads the API's list now");
  expect(await page('PO-5')).toMatch(
    /<p>Accepted since .*: then the API.{1,5}s list showed it to po-sync\./,
  );
  const [, anchor = 'none'] = /href="\/for-clerks#([^"]+)">The supplier says/.exec(sent) ?? [];
  expect((await person.page('/for-clerks')).text).toContain(`<h2 id="${anchor}">`);
});
