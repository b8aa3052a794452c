import { expect, it } from 'vitest';
import { openOperator } from '../support/operator.ts';
import { plain } from '../support/plain.ts';
import { until } from '../support/until.ts';
import { finishedReport, sheet } from '../support/week.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

const textOf = (page: string) => plain(page.replace(/<[^>]*>/g, ' ')).replace(/\s+/g, ' ');

/** The batch of a file that is in progress. */
const batchOf = (place: Workplace, file: string): Promise<string> =>
  until(`the batch of ${file}`, async () => {
    const { out } = await place.run(['batches', 'list', '--json']);
    const { batches } = JSON.parse(out) as { batches: { batch: string; file: string }[] };
    return batches.find((one) => one.file === file)?.batch;
  });

it('a cancellation that stops no order says so: when it is made, on the pages, and in the report', async () => {
  await using place = await openWorkplace({ sandbox: { record: true } });
  const person = await openOperator(place, place.start(['start']));
  await place.drop('sunday.csv', sheet('PO-3,NEW,A,1'));
  const last = await finishedReport(place, 'sunday.csv');
  // Nothing is recorded of a file that was finished before.
  const refused = await until('the refusal', async () => {
    const { status, body } = await person.call('POST', '/batches/cancel', { batch: last.batch });
    return status === 409 && body;
  });
  expect(refused['code']).toBe('batch-finished');
  expect(await place.read(last, 'report.html')).toContain('The order was accepted');

  // The API has the order, but nobody knows it yet.
  await place.setFaults([
    { kind: 'drop', when: 'after', orders: ['PO-1'] },
    { kind: 'answer', on: 'list', status: 503 },
  ]);
  await place.drop('monday.csv', sheet('PO-1,NEW,A,1', 'PO-2,NEW,A,none'));
  await until('the order at the API', () => place.stored().has('PO-1'));
  const batch = await batchOf(place, 'monday.csv');
  await until('the end of its reading', async () => {
    const { body } = await person.call('GET', `/batches/show?batch=${batch}`);
    return body['state'] === 'sending';
  });

  const back = `/batches/${batch}`;
  const reply = await person.submit('/batches/cancel', { batch, back });
  const note = await until('the answer', async () => {
    const { text } = await person.page(reply.headers.get('location') ?? '');
    return text.includes('class="note') && text;
  });
  expect(note).toMatch(
    /class="note \w+"[^>]*>No order of &quot;monday\.csv&quot; cancelled yet; 1 order may have been sent: it is cancelled if/,
  );
  // The page can be loaded again when its facts are newer.
  expect(note).toMatch(
    /class="note .*does not show it\. *<span class="quiet"><time datetime="20[^"]+">/,
  );

  await place.setFaults([]);
  const first = await finishedReport(place, 'monday.csv');
  expect(first).toMatchObject({
    state: 'cancelled',
    counts: { accepted: 1, cancelled: 0, invalid: 1 },
    cancelledBy: { who: expect.any(String) },
  });
  const who = `Cancelled by ${(first as { cancelledBy?: { who: string } }).cancelledBy?.who}`;
  const before = await place.read(first, 'report.html');
  expect(before).toContain('<header class="care">');
  expect(textOf(before)).toMatch(
    /1 order was accepted before, which the order API cannot take back: .* inform the supplier/,
  );
  expect(before).toContain(who);
  const page = await until('the state', async () => {
    const { text } = await person.page(back);
    return text.includes('cancelled too late') && text;
  });
  expect(textOf(page)).toMatch(/too late: no order was left to withdraw when .* cancelled at 20/);
  expect(page).toMatch(/when [^<]* cancelled at <time datetime="20/);
  expect((await person.page('/batches')).text).toMatch(/cancelled too late</);
  expect((await place.run(['batches', 'list'])).out).toMatch(/monday\.csv +cancelled too late/);

  await place.run(['dead-letters', 'discard', '--order', 'PO-2', '--yes']);
  expect(await place.read(first, 'report.html')).toBe(before);

  // One may have been sent, one was turned away: the end is open, and the page says what comes.
  await place.setFaults([
    { kind: 'drop', when: 'after', orders: ['PO-6'] },
    { kind: 'answer', on: 'list', status: 503 },
    { kind: 'answer', status: 503, orders: ['PO-7'] },
  ]);
  await place.drop('friday.csv', sheet('PO-6,NEW,A,1', 'PO-7,NEW,A,1'));
  await until('the order at the API', () => place.stored().has('PO-6'));
  const friday = await batchOf(place, 'friday.csv');
  const to = `/batches/${friday}`;
  await until(
    'the end of its reading',
    async () =>
      (await person.call('GET', `/batches/show?batch=${friday}`)).body['state'] === 'sending',
  );
  const answer = await person.submit('/batches/cancel', { batch: friday, back: to });
  const { text: open } = await person.page(answer.headers.get('location') ?? '');
  expect(open).toMatch(
    /class="note doubt"[^>]*>1 order of &quot;friday\.csv&quot; cancelled; 1 order may have been sent/,
  );
  expect(open).toContain('none of them is sent again');
  expect(open).not.toContain('/cancel"');
  await place.setFaults([]);
  const partly = await finishedReport(place, 'friday.csv');
  expect(await place.read(partly, 'report.html')).toContain('This file was partly cancelled');
  await place.drop('again.csv', sheet('PO-7,NEW,A,1'));
  await finishedReport(place, 'again.csv');
  const since = await until('its orders', async () => {
    const { text } = await person.page(to);
    return text.includes('PO-7') && text;
  });
  expect(textOf(since)).toMatch(/PO-7 cancelled accepted since, from another file/);
});
