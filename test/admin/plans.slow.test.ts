import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectRedis, type Redis } from '../../src/redis/connect.ts';
import { type Operator, openOperator } from '../support/operator.ts';
import { plain } from '../support/plain.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { finishedReport, sheet } from '../support/week.ts';
import { openWorkplace, type Running, type Workplace } from '../support/workplace.ts';

const stack = new AsyncDisposableStack();
let place: Workplace;
let daemon: Running;
let person: Operator;
let redis: Redis;

beforeAll(async () => {
  const server = stack.use(await startTestRedis());
  redis = await connectRedis(server.url);
  stack.defer(() => redis.disconnect());
  place = stack.use(await openWorkplace({ redis: server.url }));
  daemon = place.start(['start']);
  person = await openOperator(place, daemon);
});
afterAll(() => stack.disposeAsync());

const textOf = (page: string) => plain(page.replace(/<[^>]*>/g, '')).replace(/\s+/g, ' ');
const list = async (query: string) => textOf((await person.page(`/dead-letters?${query}`)).text);
const open = (...filters: string[]) =>
  place
    .run(['dead-letters', 'list', '--json', ...filters])
    .then(({ out }) => (JSON.parse(out) as { total: number }).total);

/** Plans as the form of the list does; where it leads. */
const planned = async (fields: Record<string, string>) =>
  (await person.submit('/plans', { back: '/dead-letters', ...fields })).headers.get('location') ??
  '';

it('the page plans and discards what the filter selects, without JavaScript', async () => {
  await place.drop('orders.csv', sheet('PO-4,NEW,A,none', 'PO-5,NEW,A,none', ',NEW,B,2'));
  await finishedReport(place, 'orders.csv');
  await until('the list', async () => (await list('q=po-5')).includes('1 order needs a person.'));
  const page = (await person.page('/dead-letters?q=po-5')).text;
  expect(page).toContain('<input type="hidden" name="q" value="po-5">');
  // Orders that failed a check are not offered to be sent again as they are.
  expect([page.includes('>Send again…<'), page.includes('>Discard…<')]).toEqual([false, true]);

  const to = await planned({ action: 'discard', q: 'po-5' });
  const shown = textOf((await person.page(to)).text);
  expect(shown).toMatch(/Discard 1 order waits for you 1 order would be discarded\./);
  const plan = to.split('/').at(-1) ?? '';
  const done = await person.submit('/dead-letters/discard', { plan, back: to });
  expect(done.headers.get('location')).toBe(to);
  await until('the end', async () =>
    /finished 1 order discarded\./.test(textOf((await person.page(to)).text)),
  );
  expect(await open()).toBe(2);
  // Again it says what it did, and does nothing.
  const { body } = await person.call('POST', '/dead-letters/discard', { plan });
  expect(body).toEqual({ done: { discarded: 1 }, changed: [] });
});

it('a plan with which nothing can be done says why', async () => {
  const to = await planned({ action: 'retry', q: 'PO-4' });
  expect(textOf((await person.page(to)).text)).toContain('PO-4: failed a check.');
});

it('a command that is interrupted is continued by a daemon, which says what was done in all', async () => {
  const numbers = Array.from({ length: 1_000 }, (_, i) => `MANY-${1000 + i},NEW,A,none`);
  await place.drop('many.csv', sheet(...numbers));
  const { batch } = await finishedReport(place, 'many.csv');
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  const begun = async () => (await redis.keys('*:plan:*:done')).length;
  const before = await begun();
  const command = place.start(['dead-letters', 'discard', '--batch', batch, '--yes']);
  await until('its first step', async () => (await begun()) > before);
  command.child.kill('SIGINT');
  expect((await command.ended).err).toContain('Interrupted: a daemon does the rest.');
  expect(await open('--batch', batch)).toBeGreaterThan(0);

  daemon = place.start(['start']);
  await until('the rest', async () => (await open('--batch', batch)) === 0);
});
