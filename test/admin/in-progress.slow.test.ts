import { afterAll, beforeAll, expect, it } from 'vitest';
import { openFixPlace } from '../support/fix-as-text.ts';
import { type Operator, openOperator } from '../support/operator.ts';
import { plain } from '../support/plain.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { until } from '../support/until.ts';
import { sheet } from '../support/week.ts';
import type { Workplace } from '../support/workplace.ts';

let place: Workplace;
let person: Operator;
let redis: string;

beforeAll(async () => {
  redis = await openDatabase();
  const refusal = { kind: 'answer', status: 400, message: 'Unknown article', orders: ['PO-21'] };
  place = await openFixPlace({ redis, sandbox: { record: true }, faults: { faults: [refusal] } });
  person = await openOperator(place, place.start(['start']));
});
afterAll(() => place[Symbol.asyncDispose]());

const textOf = (page: string) => plain(page.replace(/<[^>]*>/g, '')).replace(/\s+/g, ' ');
const pathOf = (id: string) => `/dead-letters/${encodeURIComponent(id)}`;
const shown = (id: string) => person.call('GET', `/dead-letters/show?id=${encodeURIComponent(id)}`);

type Item = { id: string; purchaseOrderNumber: string; batch: string };

/** Drops a file and returns its dead letters by order number. */
async function drop(name: string, content: string): Promise<Map<string, Item>> {
  await place.drop(name, content);
  return await until(`the report of ${name}`, async () => {
    const report = (await place.reportsNow()).find(
      ({ file, finishedAt }) => file === name && finishedAt,
    );
    if (report === undefined) return undefined;
    const { body } = await person.call('GET', `/dead-letters/list?batch=${report.batch}&limit=100`);
    const items = (body['deadLetters'] ?? []) as Item[];
    return items.length === report.open && items.every(({ id }) => !id.includes('#'))
      ? new Map(items.map((one) => [one.purchaseOrderNumber, one]))
      : undefined;
  });
}

/** The fix file of a batch as text. */
async function fixOf(batch: string): Promise<string> {
  const report = (await place.reportsNow()).find((one) => one.batch === batch);
  return report === undefined ? '' : await place.read(report, 'fix.xlsx');
}

/** Pauses delivery and drops the fix file of a batch as a person corrected it; ends when its orders wait. */
async function waiting(
  batch: string,
  name: string,
  number: string,
  correct: (text: string) => string,
) {
  await place.run(['pause', '--reason', 'stock-taking']);
  const fix = await fixOf(batch);
  await place.drop(name, correct(fix));
  await until('the order waits', async () => {
    const { body } = await person.call('GET', `/explain?order=${number}`);
    return (body['open'] as { file?: string } | undefined)?.file === name;
  });
}

it('after a discard, the page leads to the next order that needs a person', async () => {
  const found = await drop('next.csv', sheet('PO-81,NEW,A,none', 'PO-82,NEW,A,none'));
  const [first, last] = [...found.values()];
  const page = async () => textOf((await person.page(pathOf(first?.id ?? ''))).text);
  await person.submit('/dead-letters/discard', { id: first?.id ?? '' });
  await until('the next one', async () =>
    (await page()).includes('The next one that needs you: PO-82'),
  );
  await person.submit('/dead-letters/discard', { id: last?.id ?? '' });
  await until('no next one', async () => !(await page()).includes('The next one'));
});

it('the address of a dead letter from before its file was finished stays good', async () => {
  await drop('before.csv', sheet('PO-70,NEW,A,1'));
  await place.run(['pause', '--reason', 'stock-taking']);
  await place.drop('later.csv', sheet('PO-70,NEW,B,2', 'PO-71,NEW,A,1'));
  const id = await until('the conflict', async () => {
    const { body } = await person.call('GET', '/dead-letters/list?order=PO-70');
    return ((body['deadLetters'] ?? []) as Item[])[0]?.id;
  });
  await place.run(['resume']);
  const { text } = await until('its report', async () => {
    const isFinished = (await place.reportsNow()).some(
      ({ file, finishedAt }) => file === 'later.csv' && finishedAt,
    );
    return isFinished && (await person.page(pathOf(id)));
  });
  expect(text).toContain('this number is already accepted with different items');
  expect((await shown(id)).body).toMatchObject({
    id,
    location: { line: 2 },
    purchaseOrderNumber: 'PO-70',
    kind: 'conflict',
  });
  expect((await person.call('POST', '/dead-letters/discard', { id })).status).toBe(200);
});

it('an order whose fix file waits is not discarded: the page names the file, and every way refuses', async () => {
  const sent = place.stored().size;
  const letters = await drop('friday.csv', sheet('PO-1,NEW,A,none', 'PO-2,NEW,A,none'));
  const { id = '', batch = '' } = letters.get('PO-1') ?? {};
  const other = letters.get('PO-2')?.id ?? '';
  expect((await person.page(pathOf(id))).text).toContain('>Discard</button>');
  await waiting(batch, 'friday.fix.xlsx', 'PO-1', (text) => text.replaceAll('none', '7'));

  for (const [one, name] of [
    [id, 'PO-1'],
    [other, 'PO-2'],
  ] as const) {
    const { text } = await person.page(pathOf(one));
    expect(textOf(text)).toMatch(
      /A correction by somebody is being sent, as \S+-friday\.fix-\w+\./,
    );
    expect(text).toMatch(/<a href="\/batches\/[^"]*-friday\.fix-[^"]*">/);
    expect([text.includes('>Discard</button>'), text.includes('>Check</button>')]).toEqual([
      false,
      false,
    ]);

    const { status, body } = await person.call('POST', '/dead-letters/discard', { id: one });
    expect([status, body['code']]).toEqual([409, 'dead-letter-in-progress']);
    expect(body['message']).toMatch(
      new RegExp(
        `^${name}: in progress in another file\\. Wait for the outcome; .*cancel that file`,
      ),
    );
  }
  // Somebody whose form was open before checks it now.
  const checked = { 'v.0.0': 'PO-1', 'v.0.1': 'NEW', 'v.0.2': 'A', 'v.0.3': '8', do: 'check' };
  const form = await (await person.submit(`${pathOf(id)}/fix`, checked)).text();
  expect(textOf(form)).toMatch(/PO-1: it is being corrected as PO-1, in .friday\.fix\.xlsx. /);

  const { body: plan } = await person.call('POST', '/dead-letters/discard', {
    batch,
    dryRun: true,
  });
  expect(plan).toMatchObject({ plan: { 'in-progress': 2 } });
  const command = await place.run(['dead-letters', 'discard', '--order', 'PO-1', '--yes']);
  expect([command.code, command.out]).toEqual([
    2,
    expect.stringContaining('in progress in another file.'),
  ]);

  await place.run(['resume']);
  await until('both orders', () => place.stored().size === sent + 2);
  const closed = await until('the end', async () => (await shown(id)).body['closed']);
  expect(closed).toMatchObject({ by: 'accepted' });
});
