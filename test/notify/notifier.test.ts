import { beforeEach, describe, expect, it } from 'vitest';
import type { Source } from '../../src/config/config.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createCircuitBreaker } from '../../src/deliver/circuit-breaker.ts';
import type { NotTaken } from '../../src/intake/offers.ts';
import { createListedTwice } from '../../src/ledger/adopt.ts';
import { createBatches } from '../../src/ledger/batches/batches.ts';
import { type Notice, placesOf } from '../../src/notify/notice.ts';
import { createNotifier } from '../../src/notify/notifier.ts';
import { type ListKind, readGuarantee } from '../../src/reconcile/guarantee.ts';
import type { RedisTime } from '../../src/redis/time.ts';
import { exportSource, inboxSource } from '../support/inbox-source.ts';
import { openTestRedis } from '../support/open-redis.ts';
import { answered, byOperator } from '../support/pause.ts';
import { refusals } from '../support/refusals.ts';

const HOUR = 3_600_000;
const PUBLIC = 'https://orders.example.com';

/** Two daemons that share one Redis and a clock that `pass` moves forward. */
async function openTwo(sources: readonly Source[] = []) {
  const store = await openTestRedis();
  let ahead = 0;
  const time: RedisTime = {
    now: () => store.time.now() + ahead,
    sync: () => store.time.sync(),
    watched: () => store.time.watched(),
  };
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + ahead,
    monotonic: () => systemClock.monotonic() + ahead,
  };
  const sent: Notice[] = [];
  // As a mailbox does it.
  const ids = new Set<string>();
  const notTaken: NotTaken[] = [];
  const { redis, keys } = store;
  const batches = createBatches({ redis, keys, owner: 'me' });
  const breaker = createCircuitBreaker({
    store: { redis, keys, time },
    clock,
    probe: { initial: 1000, max: 1000 },
    onPaused: () => undefined,
    onResumed: () => undefined,
  });
  const open = () =>
    createNotifier({
      store: { redis, keys, time },
      clock,
      sources,
      breaker,
      batches,
      environment: 'staging',
      placesOf: (batch) =>
        placesOf(batch, { reports: { path: '/reports' }, admin: { publicUrl: PUBLIC } }),
      send: async (notice, id) => {
        if (!ids.has(id)) sent.push(notice);
        ids.add(id);
      },
    });
  let notifiers = [open(), open()];
  return {
    sent,
    notTaken,
    breaker,
    batches,
    twice: createListedTwice({ redis, keys }),
    found: (kind: ListKind) => redis.hset(keys.guarantee, { kind }),
    time,
    clock,
    first: () => notifiers[0] ?? open(),
    restart: () => {
      notifiers = [open(), open()];
    },
    pass: (ms: number) => {
      ahead += ms;
    },
    async look() {
      const guarantee = await readGuarantee({ redis, keys }, { settle: 60_000, now: time.now() });
      await Promise.all(notifiers.map(({ tick }) => tick(notTaken, guarantee)));
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

let two: Awaited<ReturnType<typeof openTwo>>;

describe('a pause', () => {
  beforeEach(async () => {
    two = await openTwo();
    return () => two[Symbol.asyncDispose]();
  });

  it('is reported once by all daemons, also after a restart, and so is its end', async () => {
    await two.breaker.trip(answered('api-down', 'the API answers 503'));
    two.pass(11_000);
    for (let i = 0; i < 3; i += 1) await two.look();
    two.restart();
    await two.look();
    expect(two.sent).toMatchObject([
      { event: 'paused', kind: 'paused', reason: 'the API answers 503' },
    ]);
    await two.breaker.reset();
    await two.look();
    await two.look();
    expect(two.sent.slice(1)).toMatchObject([
      { event: 'paused', kind: 'resumed', since: two.sent[0]?.since },
    ]);
  });

  it('of less than 10 s is not reported, nor is its end', async () => {
    await two.breaker.trip(answered('api-down', 'hiccup'));
    two.pass(3_000);
    await two.look();
    await two.breaker.reset();
    two.pass(11_000);
    await two.look();
    expect(two.sent).toEqual([]);
  });

  it('that repeats for the same cause is not reported within an hour, unless it lasts ten minutes; that of an operator always is', async () => {
    const flips = async (code: string, ms: number) => {
      await two.breaker.trip(answered(code, 'The API answers 401'));
      two.pass(ms);
      await two.look();
      await two.breaker.reset();
      await two.look();
      two.pass(5_000);
      return two.sent
        .splice(0)
        .map(({ kind }) => kind)
        .join();
    };
    const found: string[] = [];
    for (let i = 0; i < 5; i += 1) found.push(await flips('token-not-accepted', 13_000));
    expect(found.filter(Boolean)).toEqual(['paused,resumed']);
    expect(await flips('http-503', 13_000)).toBe('paused,resumed');
    expect(await flips('http-503', 13_000)).toBe('');
    expect(await flips('http-503', 601_000)).toBe('paused,resumed');
    two.pass(HOUR);
    expect(await flips('token-not-accepted', 13_000)).toBe('paused,resumed');
    for (let i = 0; i < 3; i += 1) expect(await operatorPauses()).toEqual(['paused', 'resumed']);

    async function operatorPauses(): Promise<string[]> {
      await two.breaker.hold(byOperator('mia'));
      two.pass(3_000);
      await two.look();
      await two.breaker.release('operator');
      await two.look();
      return two.sent.splice(0).map(({ kind }) => kind);
    }
  });

  it('of an operator is reported after 2 s', async () => {
    await two.breaker.hold(byOperator('mia'));
    await two.look();
    expect(two.sent).toEqual([]);
    two.pass(3_000);
    await two.look();
    expect(two.sent).toMatchObject([{ kind: 'paused', reason: 'paused by mia' }]);
  });

  it.each([
    [
      'token-not-accepted',
      'Check that authUrl and baseUrl belong to the same environment, and that their clocks agree; then it ends automatically',
    ],
    ['http-503', 'If it lasts, run po-sync doctor; it ends automatically'],
  ])(
    'says its code, and what a person must do or where it says more (%s)',
    async (code, remedy) => {
      await two.breaker.trip(answered(code, `${'Rehearsed status '.repeat(40)}(HTTP 401).`));
      two.pass(11_000);
      await two.look();
      const what = `${remedy} when the API accepts an order.`;
      expect(two.sent).toMatchObject([{ code, remedy: what }]);
      expect(two.sent[0]?.text).toMatch(
        /^Delivery to staging is paused \([a-z0-9-]+\): Rehearsed status /,
      );
      expect(two.sent[0]?.text.endsWith(`. ${what}`)).toBe(true);
      expect(two.sent[0]?.text.length).toBeLessThanOrEqual(500);
    },
  );

  it('of an operator says how to end it', async () => {
    await two.breaker.hold(byOperator('mia', 'stock-taking.'));
    two.pass(3_000);
    await two.look();
    const remedy = 'It ends with po-sync resume.';
    const text = `Delivery to staging is paused by mia: stock-taking. ${remedy}`;
    expect(two.sent).toMatchObject([{ code: 'operator', remedy, text }]);
  });

  it('with a second reason is one pause, until none is left', async () => {
    await two.breaker.trip(answered('api-down', 'the API is away'));
    two.pass(11_000);
    await two.look();
    await two.breaker.hold(byOperator('an operator'));
    await two.breaker.reset();
    two.pass(11_000);
    await two.look();
    expect(two.sent.map(({ code }) => code)).toEqual(['api-down', 'operator']);
    await two.breaker.release('operator');
    await two.look();
    expect(two.sent.map(({ kind }) => kind)).toEqual(['paused', 'paused', 'resumed']);
  });
});

it('orders created twice are reported once, and again when there are more than ever', async () => {
  await using both = await openTwo();
  for (const [orders, notices] of [
    [0, 0],
    [1, 1],
    [3, 2],
    [2, 2],
    [3, 2],
    [0, 2],
    [1, 3],
  ] as const) {
    await both.twice.replace(new Map(Array.from({ length: orders }, (_, i) => [`PO-${i}`, 2])));
    await both.look();
    await both.look();
    expect([orders, both.sent.length]).toEqual([orders, notices]);
  }
  expect(both.sent[0]).toMatchObject({ event: 'attention', kind: 'created-twice', orders: 1 });
  expect(both.sent[1]?.text).toMatch(/^3 orders were created twice: .* Run po-sync reconcile /);
  expect(JSON.stringify(both.sent)).not.toContain('PO-');
});

it('an assumption that fails is reported once, and again after it held', async () => {
  await using both = await openTwo();
  for (const [kind, notices] of [
    ['complete', 0],
    ['cut', 1],
    ['cut', 1],
    ['paged', 1],
    ['notOffered', 2],
  ] as const) {
    await both.found(kind);
    await both.look();
    await both.look();
    expect([kind, both.sent.length]).toEqual([kind, notices]);
  }
  expect(both.sent[0]).toMatchObject({ event: 'attention', kind: 'guarantee', code: 'A4' });
  expect(both.sent[0]?.text).toMatch(
    /^Orders may be created twice, because assumption A4 does not /,
  );
  expect(both.sent[0]?.remedy).toMatch(/^Ask the API's owner /);
});

describe('a batch', () => {
  const file = {
    batch: 'b-1',
    source: 'inbox',
    kind: 'inbox',
    name: 'orders.csv',
    path: '/none',
  } as const;

  beforeEach(async () => {
    two = await openTwo();
    return () => two[Symbol.asyncDispose]();
  });

  it("that is held is reported once, without the API's words about an order", async () => {
    await two.batches.begin(file, two.time.now());
    await two.batches.hold(
      'b-1',
      { wait: refusals('article "A B" of PO-7 is unknown'), alike: '' },
      1,
    );
    await two.look();
    await two.look();
    expect(two.sent).toMatchObject([
      {
        kind: 'held',
        batch: 'b-1',
        file: 'orders.csv',
        text: 'orders.csv (batch b-1) waits: 40 of the last 40 answers are the same refusal: …. Look at it with po-sync batches show b-1, then run po-sync batches release b-1 or po-sync batches cancel b-1.',
        remedy:
          'Look at it with po-sync batches show b-1, then run po-sync batches release b-1 or po-sync batches cancel b-1.',
        reason: '40 of the last 40 answers are the same refusal: …',
      },
    ]);
    expect(JSON.stringify(two.sent)).not.toMatch(/PO-7|A B/);
  });

  it('that is held again after a release is reported again', async () => {
    await two.batches.begin(file, two.time.now());
    for (const since of [1, 2]) {
      await two.batches.hold('b-1', { wait: refusals(), alike: '400 alike' }, since);
      await two.look();
      await two.batches.release('b-1');
      await two.look();
    }
    expect(two.sent.map(({ kind }) => kind)).toEqual(['held', 'held']);
  });

  it('whose report cannot be written for a minute is reported once', async () => {
    await two.batches.begin(file, two.time.now());
    await two.batches.admitted('b-1', 0, '');
    expect(await two.batches.finished()).toEqual(['b-1']);
    await two.batches.notSettled(
      'b-1',
      { code: 'ENOSPC', reason: 'the disk is full (ENOSPC)' },
      two.time.now(),
    );
    await two.look();
    expect(two.sent).toEqual([]);
    two.pass(61_000);
    await two.look();
    await two.look();
    expect(two.sent).toMatchObject([
      {
        event: 'attention',
        kind: 'unsettled',
        text: 'orders.csv (batch b-1) has no report yet: the disk is full (ENOSPC)',
      },
    ]);
    await two.batches.done('b-1');
    await two.look();
    expect(two.sent).toHaveLength(1);
  });

  it('whose file cannot be read on for a minute is reported once', async () => {
    await two.batches.begin(file, two.time.now());
    await two.batches.notSettled(
      'b-1',
      { code: 'file-missing', reason: 'orders.csv is missing' },
      two.time.now(),
    );
    two.pass(61_000);
    await two.look();
    await two.look();
    expect(two.sent).toMatchObject([
      {
        kind: 'unsettled',
        text: 'orders.csv (batch b-1) has no report yet: orders.csv is missing',
      },
    ]);
  });

  it('that is settled is reported once if it needs a person', async () => {
    const batch = { ...(await two.batches.begin(file, two.time.now())), total: 5 };
    await two.first().settled(batch, 0);
    expect(two.sent).toEqual([]);
    await Promise.all([two.first().settled(batch, 2), two.first().settled(batch, 2)]);
    expect(two.sent).toMatchObject([
      {
        event: 'attention',
        kind: 'finished',
        orders: 5,
        needPerson: 2,
        file: 'orders.csv',
        report: '/reports/b-1',
      },
    ]);
  });

  it('whose file cannot be read is reported as unreadable', async () => {
    await two.first().settled(await two.batches.begin(file, two.time.now()), 1);
    const remedy = 'Its report says where it is wrong and what to do.';
    const text = `orders.csv (batch b-1): the file is unreadable; no orders were sent. ${remedy}`;
    expect(two.sent).toMatchObject([
      { event: 'attention', kind: 'unreadable', batch: 'b-1', file: 'orders.csv', text, remedy },
    ]);
  });

  it('with a very long file name keeps the rest of its text', async () => {
    const name = `${'x'.repeat(240)}.csv`;
    await two.first().settled(await two.batches.begin({ ...file, name }, two.time.now()), 1);
    expect(two.sent).toMatchObject([
      { file: name, text: expect.stringMatching(/^x{119}… \(batch b-1\): the file is/) },
    ]);
  });

  it('whose file became unreadable later is reported with the orders that were admitted', async () => {
    const begun = await two.batches.begin(file, two.time.now());
    const unreadable = { code: 'unreadable-changed', message: 'The file was changed.' };
    await two.first().settled({ ...begun, total: 3, unreadable }, 1);
    expect(two.sent).toMatchObject([{ event: 'attention', kind: 'unreadable', orders: 3 }]);
    expect(JSON.stringify(two.sent)).toContain('after 3 of its orders were admitted');
    expect(JSON.stringify(two.sent)).not.toContain('nothing of it was sent');
  });

  it('whose settled file was changed is reported once, also if it was reported when it was settled', async () => {
    const batch = { ...(await two.batches.begin(file, two.time.now())), total: 3 };
    await two.first().settled(batch, 1);
    const unreadable = { code: 'unreadable-changed', message: 'The file was changed.' };
    const changed = { ...batch, state: 'done' as const, unreadable };
    await Promise.all([two.first().settled(changed, 2), two.first().settled(changed, 2)]);
    expect(two.sent.map(({ kind }) => kind)).toEqual(['finished', 'unreadable']);
    expect(two.sent[1]).toMatchObject({ event: 'attention', orders: 3, report: '/reports/b-1' });
    expect(two.sent[1]?.page).toBe(`${PUBLIC}/batches/b-1`);
    expect(placesOf('b-1', { reports: { path: '/reports' }, admin: {} })).toEqual({
      report: '/reports/b-1',
    });
    expect(two.sent[1]?.text).toBe(
      'b-1: the file was changed after it was read; what was added or changed was not sent. Drop the complete file again.',
    );
  });
});

describe('a source', () => {
  beforeEach(async () => {
    two = await openTwo([
      inboxSource('/none', { name: 'erp', expectEvery: HOUR }),
      inboxSource('/none'),
    ]);
    return () => two[Symbol.asyncDispose]();
  });

  it('without a file since the first daemon started is reported once as silent, and once when it has a file again', async () => {
    await two.look();
    two.pass(HOUR / 2);
    two.restart();
    await two.look();
    expect(two.sent).toEqual([]);
    two.pass(HOUR);
    await two.look();
    two.pass(5 * HOUR);
    await two.look();
    expect(two.sent).toMatchObject([
      { event: 'silent', kind: 'silent', source: 'erp', path: '/none', expectEveryMs: HOUR },
    ]);
    await two.first().heard({ source: 'erp', startedAt: two.clock.now() });
    await two.look();
    await two.look();
    expect(two.sent.slice(1)).toMatchObject([{ event: 'silent', kind: 'heard', source: 'erp' }]);
    const began = `po-sync began to watch it at ${two.sent[0]?.since}`;
    expect(two.sent.map(({ text }) => text)).toEqual([
      `Source erp (/none) has had no readable file since ${began}, longer than the expected 1 h.`,
      `Source erp has a file; before it, none came since ${began}.`,
    ]);
    two.pass(2 * HOUR);
    await two.look();
    expect(two.sent.map(({ kind }) => kind)).toEqual(['silent', 'heard', 'silent']);
    await two.first().heard({ source: 'erp', startedAt: two.clock.now() });
    await two.look();
    const { since } = two.sent[2] ?? {};
    expect(two.sent.slice(2).map(({ text }) => text)).toEqual([
      `Source erp (/none) has had no readable file since ${since}, longer than the expected 1 h.`,
      `Source erp has a file again; the one before came at ${since}.`,
    ]);
  });

  it('that is silent is named without the query of its address, which can contain a key', async () => {
    await using web = await openTwo([
      exportSource('https://erp.example.com/erp.csv?key=s3cret', { expectEvery: HOUR }),
    ]);
    await web.look();
    web.pass(2 * HOUR);
    await web.look();
    expect(web.sent).toMatchObject([
      { kind: 'silent', path: 'https://erp.example.com/erp.csv?[redacted]' },
    ]);
    expect(JSON.stringify(web.sent)).not.toContain('s3cret');
  });

  it('is not silent before a new daemon could take the files that are present', async () => {
    await two.first().heard({ source: 'erp', startedAt: two.clock.now() });
    two.pass(48 * HOUR);
    two.restart();
    await two.look();
    await two.first().heard({ source: 'erp', startedAt: two.clock.now() });
    two.pass(5_000);
    await two.look();
    expect(two.sent).toEqual([]);
  });

  it('stays silent when an old claim is resumed', async () => {
    await two.look();
    two.pass(2 * HOUR);
    await two.first().heard({ source: 'erp', startedAt: two.clock.now() - 3 * HOUR });
    await two.look();
    expect(two.sent.map(({ kind }) => kind)).toEqual(['silent']);
  });
});

describe('files that cannot be taken', () => {
  const locked = {
    source: 'inbox',
    reason: 'No permission to read it.',
    remedy: 'Give po-sync read permission.',
  };

  beforeEach(async () => {
    two = await openTwo([inboxSource('/inbox')]);
    return () => two[Symbol.asyncDispose]();
  });

  it('are reported once by all daemons, also after a restart, and again when they come back', async () => {
    const files = ['a.csv', 'b.csv'].map((file) => ({ ...locked, file }));
    two.notTaken.push(...files);
    for (let i = 0; i < 3; i += 1) await two.look();
    expect(
      two.sent.reduce((sum, { text }) => sum + (text.includes(' and 1 more ') ? 2 : 1), 0),
    ).toBe(2);
    expect(two.sent[0]).toMatchObject({
      event: 'attention',
      kind: 'not-taken',
      source: 'inbox',
      reason: 'No permission to read it. Give po-sync read permission.',
    });
    expect(two.sent[0]?.text).toMatch(
      /^[ab]\.csv( and 1 more)? of source inbox cannot be taken: No permission/,
    );
    const before = two.sent.length;

    // Daemons that have just started do not know them yet.
    two.restart();
    two.notTaken.length = 0;
    await two.look();
    two.notTaken.push(...files);
    await two.look();
    expect(two.sent).toHaveLength(before);

    two.pass(HOUR);
    two.notTaken.length = 0;
    await two.look();
    expect(two.sent).toHaveLength(before);
    two.notTaken.push({ ...locked, file: 'a.csv' });
    await two.look();
    expect(two.sent.slice(before)).toMatchObject([{ kind: 'not-taken', file: 'a.csv' }]);
  });

  it('of another source are not reported', async () => {
    two.notTaken.push({ ...locked, source: 'erp', file: 'a.csv' });
    await two.look();
    expect(two.sent).toEqual([]);
  });

  it('are unknown while their source is lost, which is reported once by all daemons, and when it is back', async () => {
    two.notTaken.push({ ...locked, file: 'a.csv' });
    await two.look();
    two.pass(HOUR);
    two.notTaken[0] = {
      source: 'inbox',
      reason: 'The folder /inbox does not exist.',
      remedy: 'Mount its share.',
    };
    for (let i = 0; i < 3; i += 1) await two.look();
    // A daemon that starts may not have tried yet.
    two.restart();
    two.notTaken.length = 0;
    await two.look();
    const why = 'The folder /inbox does not exist. Mount its share.';
    const text = `Source inbox cannot be read, so its files are not taken: ${why}`;
    const lost = { event: 'attention', kind: 'lost', source: 'inbox', reason: why, text };
    expect(two.sent).toMatchObject([{ kind: 'not-taken' }, lost]);

    two.pass(HOUR);
    two.notTaken.push({ ...locked, file: 'a.csv' });
    for (let i = 0; i < 3; i += 1) await two.look();
    const back = {
      event: 'attention',
      kind: 'back',
      source: 'inbox',
      text: 'Source inbox can be read again.',
    };
    expect(two.sent.slice(2)).toMatchObject([back]);
  });
});
