import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SandboxEvent } from '../../src/sandbox/sandbox-options.ts';
import { LIST_KINDS } from '../support/list-kinds.ts';
import { createOrders } from '../support/open-sandbox.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace, type Workplace } from '../support/workplace.ts';

// The hole that this closes: 40 orders at the API, a list that shows a part of them, a new ledger, and a file with the
// 40 and 10 new ones.

const KNOWN = Array.from({ length: 40 }, (_, i) => `PO-${i + 1}`);
const NEW = Array.from({ length: 10 }, (_, i) => `PO-${i + 41}`);
const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';
const FILE = [HEAD, ...[...KNOWN, ...NEW].map((number) => `${number},NEW,A-1,1`), ''].join('\n');

/** Ends when every order has its outcome, or needs a person. */
const ONCE = ['start', '--once', '--max-wait', '10m'];

type Kind = string;
const listOf = (kind: Kind): readonly object[] => LIST_KINDS[kind as keyof typeof LIST_KINDS];

/** An API with 40 orders, of which its list shows what this kind of list shows. */
async function openWithOrders(
  show: readonly object[],
  options: Parameters<typeof openWorkplace>[0] = {},
): Promise<Workplace> {
  const place = await openWorkplace({
    list: 'prove',
    sandbox: { record: true },
    faults: { faults: [] },
    ...options,
  });
  const token = await place.api.token();
  await createOrders(place.api, KNOWN, token);
  await place.setFaults(show);
  return place;
}

/** Numbers that were created more than once. */
const doubled = (place: Workplace): string[] =>
  [...place.stored()].filter(([, times]) => times > 1).map(([number]) => number);

const isListRead = (event: SandboxEvent) => event.type === 'answered' && event.on === 'list';
const reads = (place: Workplace): number => place.events.filter(isListRead).length;

/** What status says delivery waits for. */
async function pauseCode(place: Workplace): Promise<string | undefined> {
  const { out } = await place.run(['status', '--json']);
  const { pauses = [] } = JSON.parse(out || '{}') as { pauses?: { code: string }[] };
  return pauses[0]?.code;
}

const COMPLETE: Kind[] = [
  'complete',
  'cut from the 201st on',
  'paged always',
  'paged on request',
  'query parameters refused',
];

describe.concurrent('with a list that is complete, as far as its pages show', () => {
  it.each(COMPLETE)(
    'each order is created once, after at most three more reads where it has no pages: %s',
    async (kind) => {
      await using place = await openWithOrders(listOf(kind));
      await place.drop('orders.csv', FILE);
      const before = reads(place);
      expect((await place.run(ONCE)).code).toBe(0);
      // One, if the list were trusted.
      if (!kind.startsWith('paged')) expect(reads(place) - before).toBeLessThanOrEqual(4);
      expect(doubled(place)).toEqual([]);
      expect(place.stored().size).toBeGreaterThanOrEqual(50);
      const [report] = await place.reportsNow();
      expect(report?.counts).toMatchObject({ accepted: 10, duplicate: 40 });
    },
  );
});

const CUT: Kind[] = ['the newest only', 'the oldest only', 'a random part', 'empty'];

describe.concurrent('with a list that is cut without a word', () => {
  it.each(CUT)('at most the first order is created twice, and it is named: %s', async (kind) => {
    await using place = await openWithOrders(listOf(kind));
    await place.drop('orders.csv', FILE);
    const before = reads(place);
    const { code, err } = await place.run(ONCE);
    expect(code).toBe(2);
    const twice = doubled(place);
    expect(twice.length).toBeLessThanOrEqual(1);
    expect(await pauseCode(place)).toBe('list-incomplete');
    for (const number of twice) expect(err).toContain(`order ${number} `);
    // Growing waits: a few reads in two settles, then one a settle.
    expect(reads(place) - before).toBeLessThan(100);
    const { out } = await place.run(['reconcile']);
    expect(out).not.toContain('They agree');
  });
});

describe('with a list that begins to be cut after 200 orders', () => {
  it.each(['oldest:200', 'newest:200'])(
    'at most one order is created twice, although answers are lost where it begins: %s',
    async (show) => {
      const more = Array.from({ length: 20 }, (_, i) => `PO-${i + 41}`);
      const lost = {
        kind: 'drop',
        on: 'create',
        when: 'after',
        attempts: '1',
        orders: more.slice(8),
      };
      await using place = await openWithOrders([lost, { kind: 'list', show }]);
      const others = Array.from({ length: 150 }, (_, i) => `OTHER-${i}`);
      await createOrders(place.api, others, await place.api.token());
      await place.drop('orders.csv', [HEAD, ...more.map((n) => `${n},NEW,A-1,1`), ''].join('\n'));
      const before = reads(place);
      await place.run(ONCE);
      expect(doubled(place).length).toBeLessThanOrEqual(1);
      expect(Math.max(...place.stored().values())).toBeLessThanOrEqual(2);
      expect(reads(place) - before).toBeLessThan(100);
    },
  );
});

it('with a list that archives what is old nothing is created twice, and what it cannot show needs a person', async () => {
  const lost = { kind: 'drop', on: 'create', when: 'after', attempts: '1', orders: ['PO-60'] };
  await using place = await openWithOrders(LIST_KINDS.complete);
  await place.drop('first.csv', [HEAD, ...NEW.map((n) => `${n},NEW,A-1,1`), ''].join('\n'));
  expect((await place.run(ONCE)).code).toBe(0);
  await place.setFaults([lost, { kind: 'list', show: 'archive:0s' }]);
  await place.drop(
    'again.csv',
    [HEAD, ...[...NEW, 'PO-60'].map((n) => `${n},NEW,A-1,1`), ''].join('\n'),
  );
  expect((await place.run(ONCE)).code).toBe(2);
  expect(doubled(place)).toEqual([]);
  const report = (await place.reportsNow()).at(-1);
  expect(report?.counts).toMatchObject({ duplicate: 10, inDoubt: 1 });
});

const UNUSABLE: [Kind, string][] = [
  ['limit honored, offset ignored', 'list-unstable'],
  ['growing while it is read', 'list-unstable'],
  ['malformed', 'ledger-new'],
  ['not offered, 403', 'list-not-offered'],
];

describe.concurrent('with a list that cannot be used', () => {
  it.each(UNUSABLE)('nothing is sent, and status says why: %s', async (kind, code) => {
    await using place = await openWithOrders(listOf(kind));
    await place.drop('orders.csv', FILE);
    const daemon = place.start(['start']);
    await until('the reason', async () => (await pauseCode(place)) === code);
    const before = reads(place);
    await until('another read', () => reads(place) > before);
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0 });
    if (code === 'list-not-offered') expect((await place.run(ONCE)).code).toBe(2);
    expect(place.stored().size).toBe(40);
  });
});

it.concurrent('delivery resumes when the list is healed, without another order twice', async () => {
  await using place = await openWithOrders(LIST_KINDS['the newest only']);
  await place.drop('orders.csv', FILE);
  place.start(['start']);
  await until(
    'the list to be incomplete',
    async () => (await pauseCode(place)) === 'list-incomplete',
  );
  await place.setFaults(LIST_KINDS.complete);
  await until('all orders', () => place.stored().size === 50);
  await until('the report', async () => (await place.reportsNow())[0]?.state === 'finished');
  expect(doubled(place).length).toBeLessThanOrEqual(1);
});

it.concurrent.each([
  ['answer', 'after'],
  ['call', 'before'],
])(
  'a first order whose %s is lost keeps the others waiting until the list shows it, however many they are',
  async (_, when) => {
    const lost = { kind: 'drop', on: 'create', when, attempts: '1', orders: ['PO-41'] };
    await using place = await openWithOrders([lost, ...LIST_KINDS.complete]);
    const more = Array.from({ length: 200 }, (__, i) => `PO-${i + 41},NEW,A-1,1`);
    await place.drop('orders.csv', [HEAD, ...more, ''].join('\n'));
    place.start(['start']);
    await until('all orders', () => place.stored().size === 240);
    expect(doubled(place)).toEqual([]);
  },
);

it.concurrent('a daemon that is killed while the first order waits continues where it was', async () => {
  await using place = await openWithOrders(LIST_KINDS.lagging);
  await place.drop('orders.csv', [HEAD, ...NEW.map((n) => `${n},NEW,A-1,1`), ''].join('\n'));
  const first = place.spawn(['start']);
  await until('the first order', () => place.stored().size === 41);
  first.child.kill('SIGKILL');
  await first.ended;
  expect((await place.run(ONCE)).code).toBe(0);
  expect(doubled(place)).toEqual([]);
  expect(place.stored().size).toBe(50);
});

it.concurrent('a person says how many orders the API has: a list that shows them is complete', async () => {
  await using place = await openWithOrders(LIST_KINDS['the oldest only']);
  await place.drop('orders.csv', FILE);
  expect((await place.run(ONCE)).code).toBe(2);
  const short = await place.run(['reconcile', '--expect', '40']);
  expect(short.code).toBe(2);
  expect(short.out).toContain('fewer than the 40 expected');
  await place.setFaults([{ kind: 'list', show: 'oldest:41' }]);
  expect((await place.run(ONCE)).code).toBe(0);
  expect(doubled(place).length).toBeLessThanOrEqual(1);
  expect(place.stored().get('PO-50')).toBe(1);
});

it.concurrent('the first start on a protected environment shows how many orders there are, and asks for that', async () => {
  const environment = { environment: 'production', partner: ', protected: true' };
  const env = { PO_SYNC_CONFIRM: 'production' };
  await using place = await openWithOrders(LIST_KINDS.complete, { ...environment, env });
  await place.drop('orders.csv', FILE);
  const first = await place.run(ONCE);
  expect(first.code).toBe(2);
  expect(first.err).toContain('po-sync reconcile --expect');
  expect(place.stored().size).toBe(40);

  expect((await place.run(['reconcile', '--expect', '41'])).code).toBe(2);
  expect((await place.run(ONCE)).code).toBe(2);
  expect(await pauseCode(place)).toBe('list-incomplete');

  await place.run(['reconcile', '--expect', '40']);
  expect((await place.run(ONCE)).code).toBe(0);
  expect(doubled(place)).toEqual([]);
  expect(place.stored().size).toBe(50);
});

it.concurrent('with list: none a new ledger begins without a list, and with list: trust without a proof', async () => {
  await using none = await openWithOrders(LIST_KINDS.complete, { list: 'none' });
  await none.drop('orders.csv', [HEAD, ...NEW.map((n) => `${n},NEW,A-1,1`), ''].join('\n'));
  const before = reads(none);
  expect((await none.run(['start', '--once'])).code).toBe(0);
  expect(reads(none)).toBe(before);

  await using trust = await openWithOrders(listOf('the oldest only'), { list: 'trust' });
  await trust.drop('orders.csv', [HEAD, ...NEW.map((n) => `${n},NEW,A-1,1`), ''].join('\n'));
  expect((await trust.run(['start', '--once'])).code).toBe(0);
  expect(trust.stored().size).toBe(50);
});

it('while the list is not proved complete, no command says that the ledger agrees or that an order is new', async () => {
  await using place = await openWorkplace({ list: 'prove' });
  await writeFile(path.join(place.folder, 'orders.csv'), csvOf(1));
  const reconciled = await place.run(['reconcile']);
  expect(reconciled.code).toBe(2);
  expect(reconciled.out).not.toContain('agree');
  expect(reconciled.out).toContain('the API may have orders that it does not show');
  const previewed = await place.run(['check', '--preview', 'orders.csv']);
  expect(previewed.err).toContain('not proved complete');
  expect(previewed.out).toMatch(/1 perhaps new\n.*\n +1 {2}perhaps new: /);
  expect((await place.run(['doctor'])).out).toMatch(/warn +API list +is not proved complete yet/);
});

it('an environment with all options of the wire delivers to an API that demands each of them', async () => {
  const target = { audience: 'https://orders.example', resource: 'urn:orders' };
  const key = { header: 'X-Request-Key', valid: 600_000 };
  const headers = { 'X-Company': '0042' };
  await using place = await openWorkplace({
    sandbox: { demand: { headers, clientAuth: 'basic', ...target, idempotencyKey: key } },
    partner: `, token: { clientAuth: basic, audience: '${target.audience}', resource: '${target.resource}' }, headers: { X-Company: '0042' }, idempotencyKey: { header: ${key.header}, valid: 10m }`,
  });
  await place.drop('orders.csv', csvOf(3));
  expect((await place.run(ONCE)).code).toBe(0);
  expect(place.stored().size).toBe(3);
});
