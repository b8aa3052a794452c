import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Redis } from '../../src/redis/connect.ts';
import { runScript } from '../../src/redis/script.ts';
import { openTestRedis } from '../support/open-redis.ts';
import { runs } from '../support/runs.ts';
import { commandTable } from './commands.ts';
import { runOn, SCRIPTS } from './scripts.ts';
import { KEYS } from './setting.ts';
import { openStore, type Store } from './store.ts';

/** One call of one script. */
type Call = { file: string; keys: readonly string[]; args: readonly (string | number)[] };

const HOLD = JSON.stringify({ code: 'rolled-back', facts: { loss: 'copied' }, since: 1000 });
const TURN_HOLD = JSON.stringify({
  code: 'list-incomplete',
  facts: { shown: 1 },
  since: 2000,
  turn: 'PO-1',
});
const FRESH = 10 ** 14;

const number = fc.constantFrom('PO-1', 'PO-1', 'PO-2');
const batch = fc.constantFrom('b1', 'b1', 'b1', 'b2', 'b3');
const ordinal = fc.nat(2);
const time = fc.integer({ min: 1000, max: 9000 });
const outcome = fc.constantFrom(
  'accepted',
  'refused',
  'conflict',
  'conflict',
  'failed',
  'inDoubt',
  'duplicate',
);
const maybe = (some: fc.Arbitrary<string | number>) => fc.oneof(fc.constant(''), some);
const json = fc.tuple(outcome, fc.constantFrom(undefined, 1, 2)).map(([said, against]) => {
  return JSON.stringify({ outcome: said, message: 'line\nfeed', against });
});

/** Dead letters that an order corrects. */
const letters = fc.array(
  fc.record({
    batch,
    ordinal: ordinal.map(String),
    number: fc.constantFrom('', 'PO-1', 'PO-2'),
    key: fc.constantFrom('PO-1', 'PO-2'),
    bucket: fc.constantFrom('1f', '20'),
    tombstone: fc.constant('0123456789abcdef0.zz.1=>PO-3'),
    others: fc.constant('!!!!!!!!!!!!!!!!0.zz.0'),
    isBefore: fc.constantFrom(false, false, true),
  }),
  { minLength: 1, maxLength: 2 },
);
const OWN = '5:{"state":"refused","batch":"b1","ordinal":1,"batchNo":2}';

const always = {
  number: fc.constantFrom('Ä', 'ä'),
  key: number,
  bucket: fc.constantFrom('1f', '20'),
  expected: fc.constantFrom(0, 0, 5, 6),
  batch,
  ordinal,
  at: time,
};

const sometimes = {
  due: time,
  doubt: time,
  noDoubt: fc.constant(true),
  compact: fc.constant('compact'),
  outcome,
  result: json,
  needsPerson: fc.constant(true),
  seen: fc.constant(['digest=Ä', 'b1-0 1 ']),
  closing: fc.constant('{"closed":1}'),
  intent: fc.record({
    epoch: fc.constantFrom('L1', 'L2'),
    sequence: fc.nat(4),
    at: fc.constantFrom(0, FRESH, FRESH),
  }),
  operatorAction: fc.constant('{"deed":1}'),
  goesOn: fc.constant(true),
  also: fc.array(
    fc.record(
      { batch, ordinal, outcome, result: json },
      { requiredKeys: ['batch', 'ordinal', 'outcome'] },
    ),
    { maxLength: 2 },
  ),
  from: letters,
  ending: fc.constant('{"at":"then","closed":4}'),
  isAdmission: fc.constant(true),
  isAbsent: fc.constant(true),
  witness: fc.record({ before: fc.constantFrom('', '5 Ä'), text: fc.constant('5 Ä') }),
};

const counted = fc
  .tuple(
    fc.record({ ordinal, number: maybe(number), key: number, outcome }),
    fc.record(
      {
        needsPerson: sometimes.needsPerson,
        result: json,
        from: letters,
        ending: sometimes.ending,
        seen: sometimes.seen,
        shown: fc.constant('{"closed":3}'),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([some, more]) => JSON.stringify({ ...some, ...more }));

const made = fc.constantFrom<(string | number)[]>('', 0, 1, 2, 4);
const change = fc.record({
  entry: fc.constantFrom('', '', '5:{}', '6:{}', OWN),
  named: fc
    .tuple(fc.record(always), fc.record(sometimes, { requiredKeys: [] }))
    .map(([some, more]) => JSON.stringify({ ...some, ...more })),
});

const call: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(made, fc.array(change, { minLength: 1, maxLength: 3 }))
      .map(([mine, changes]) => ({
        file: 'ledger/commit.lua',
        keys: [
          KEYS.due,
          KEYS.doubt,
          KEYS.waiting,
          KEYS.finished,
          KEYS.identity,
          KEYS.rebuild,
          KEYS.own('m'),
          KEYS.breaker,
          KEYS.listProof,
        ],
        args: [KEYS.prefix, 2000, mine, ...changes.flatMap((one) => [one.entry, one.named])],
      })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0, 1, 9).map((most) => ({
      file: 'ledger/batches/under-way.lua',
      keys: [KEYS.active, KEYS.due, KEYS.doubt],
      args: [KEYS.prefix, most],
    })),
  },
  {
    weight: 2,
    arbitrary: fc.record({ number, bucket: fc.constantFrom('1f', '20') }).map((one) => ({
      file: 'ledger/lookup.lua',
      keys: [],
      args: [KEYS.prefix, one.number, one.bucket, 'PO-1', '1f'],
    })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ batch, time, made, source: fc.constantFrom('', 'erp'), named: counted })
      .map((one) => ({
        file: 'ledger/count.lua',
        keys: [KEYS.waiting, KEYS.finished, KEYS.identity, KEYS.own('m')],
        args: [
          KEYS.prefix,
          one.time,
          one.batch,
          '{"outcome":"cancelled"}',
          one.source,
          one.made,
          one.named,
          '{"ordinal":3,"number":"","key":"","outcome":"invalid","needsPerson":true}',
        ],
      })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({
        number: fc.constantFrom(undefined, 'PO-1', 'PO-2'),
        batch,
        version: fc.constantFrom(undefined, 5, 6),
        operatorAction: fc.constantFrom(undefined, '{"a":1}'),
        seen: fc.constantFrom(undefined, 0, 5, 6),
      })
      .map((one) => ({
        file: 'ledger/close-dead-letters.lua',
        keys: [
          `${KEYS.prefix}:o:${one.number}`,
          `${KEYS.prefix}:s:1f`,
          KEYS.due,
          KEYS.doubt,
          KEYS.waiting,
          KEYS.identity,
          `${KEYS.prefix}:d:${one.number}`,
        ],
        args: [
          KEYS.prefix,
          JSON.stringify({
            ...one,
            key: one.number,
            ordinal: '1',
            compact: 'compact',
            closing: '{"closed":2}',
          }),
        ],
      })),
  },
  {
    weight: 1,
    arbitrary: fc.record({ batch: fc.constantFrom('b1', 'b3'), time }).map((one) => ({
      file: 'ledger/batches/begin.lua',
      keys: [KEYS.batch(one.batch), KEYS.batchNames, KEYS.batches, KEYS.active, KEYS.changes],
      args: [one.batch, one.time, 'batch', one.batch, 'state', 'reading', 'startedAt', one.time],
    })),
  },
  {
    weight: 1,
    arbitrary: fc.record({ batch, seen: fc.constantFrom('', '', '{"at":1}') }).map((one) => ({
      file: 'ledger/batches/hold.lua',
      keys: [KEYS.batch(one.batch), KEYS.held, KEYS.changes],
      args: [one.batch, one.seen, '{"reason":"alike"}', '400'],
    })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({
        batch,
        total: fc.nat(4),
        since: fc.constantFrom('', '', 'L1', 'L2'),
        sequence: fc.nat(4),
        made: fc.constantFrom(undefined, 0, 1, 2, 4),
        unreadable: fc.constantFrom(undefined, '{"code":"unreadable"}'),
      })
      .map((one) => ({
        file: 'ledger/batches/total.lua',
        keys: [KEYS.batch(one.batch), KEYS.finished, KEYS.identity, KEYS.own('m')],
        args: [JSON.stringify(one)],
      })),
  },
  {
    weight: 1,
    arbitrary: number.map((one) => ({
      file: 'ledger/adopt.lua',
      keys: [`${KEYS.prefix}:o:${one}`, `${KEYS.prefix}:s:1f`, KEYS.identity],
      args: [one, 'adopted'],
    })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({
        epoch: fc.constantFrom('', 'L1', 'L2', 'L3'),
        sequence: fc.nat(6),
        made: fc.nat(4),
        name: fc.constantFrom('L2', 'L3'),
        keep: fc.constant(60_000),
        wait: fc.constant(500),
        field: fc.constant('hold:x'),
        hold: fc.constant(HOLD),
        emptied: fc.constant(HOLD.replace('first', 'empty')),
        // Far ahead of the clock, and a little less.
        now: fc.constantFrom(Date.now() + 8_000_000, Date.now() + 4_000_000),
      })
      .map((one) => ({
        file: 'ledger/identity.lua',
        keys: [KEYS.identity, KEYS.rebuild, KEYS.breaker, KEYS.own('m')],
        args: [JSON.stringify(one)],
      })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ known: fc.nat(3), ahead: fc.constantFrom(0, 0, 4_000_000) })
      .map((one) => ({
        file: 'redis/clock.lua',
        keys: [KEYS.identity, KEYS.due, KEYS.doubt, KEYS.rebuild],
        args: [one.known, one.ahead],
      })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({
        verb: fc.constantFrom('reset', 'slow', 'try', 'begin', 'lift', 'unused', 'trip', 'probe'),
        now: time,
        until: time,
        initial: fc.constant(100),
        max: time,
        wait: time,
        code: fc.constant('code'),
        facts: fc.constantFrom('{"says":"why"}', '{"says":"other"}'),
      })
      .map((one) => ({
        file: 'deliver/circuit-breaker.lua',
        keys: [KEYS.breaker, KEYS.pauses],
        args: [JSON.stringify(one)],
      })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({
        verb: fc.constantFrom('end', 'later', 'show'),
        epoch: fc.constantFrom('L1', 'L2', 'L3'),
        now: time,
        field: fc.constant('hold:x'),
        other: fc.constant('hold:y'),
        isNew: fc.constantFrom(undefined, true),
        shown: fc.constantFrom(undefined, 0, 3),
        assumed: fc.constantFrom(undefined, 'trust'),
        tries: fc.constant(2),
        quick: fc.constant(300),
        usual: fc.constant(900),
        longest: fc.constant(3000),
        hold: fc.constant(HOLD),
      })
      .map((one) => ({
        file: 'reconcile/ledger-rebuild.lua',
        keys: [KEYS.rebuild, KEYS.breaker, KEYS.pauses, KEYS.listProof, KEYS.listShown],
        args: [JSON.stringify(one)],
      })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({
        verb: fc.constantFrom('looked', 'looked', 'passed'),
        time,
        turn: maybe(number),
        hold: maybe(fc.constantFrom(TURN_HOLD, TURN_HOLD.replace('incomplete', 'unproved'))),
      })
      .map((one) => ({
        file: 'reconcile/list-proof.lua',
        keys: [KEYS.listProof, KEYS.listShown, KEYS.breaker, KEYS.pauses],
        args: [one.verb, one.time, one.turn, 9000, one.hold],
      })),
  },
);

let began = 0;

describe('the simulated Redis', () => {
  it('runs every script as the real one does', async () => {
    await using opened = await openTestRedis();
    const { redis } = opened;
    const commands = commandTable();
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 40, size: 'max' }), async (calls) => {
        await redis.flushall();
        began = Date.now();
        const store = openStore(() => Date.now());
        await begin(redis, store);
        for (const { file, keys, args } of calls) {
          const script = SCRIPTS.get(file);
          if (script === undefined) throw new Error(`no script ${file}`);
          const real = await runScript(redis, script, keys, args);
          const ours = runOn(store, commands, script.text, keys, args.map(String));
          expect([file, timeless(ours)]).toEqual([file, timeless(real)]);
        }
        expect(simulated(store)).toEqual(await held(redis));
      }),
      { numRuns: runs(150) },
    );
  });
});

/** Three batches, of which one is settled and one canceled, and a ledger with an epoch. */
async function begin(redis: Redis, store: Store): Promise<void> {
  const hashes: [string, Record<string, string>][] = [
    [KEYS.batch('b1'), { no: '1', state: 'reading', source: 'erp' }],
    [KEYS.batch('b2'), { no: '2', state: 'done', source: 'inbox' }],
    [KEYS.batch('b3'), { no: '3', state: 'reading', source: 'inbox', cancelled: '1000' }],
    [KEYS.batchNames, { 1: 'b1', 2: 'b2', 3: 'b3' }],
    // The clock was set back since it was read last.
    // The list is to be proved complete.
    [KEYS.listProof, { proof: 'due', before: '3' }],
    [KEYS.numbersApart, { ä: '1000' }],
    [KEYS.identity, { epoch: 'L1', sequence: '2', last: String(Date.now() + 1_000_000) }],
  ];
  for (const [key, fields] of hashes) {
    await redis.hset(key, fields);
    for (const [field, value] of Object.entries(fields)) store.hset(key, field, value);
  }
}

/** All that a real Redis holds, by key, in a form that does not depend on order or on the very moment. */
async function held(redis: Redis): Promise<Record<string, unknown>> {
  // The simulation has no stream of changes, which feeds only the dashboard.
  const keys = (await redis.keys('*')).filter((key) => key !== KEYS.changes).sort();
  return Object.fromEntries(
    await Promise.all(keys.map(async (key) => [key, await shownOf(redis, key)])),
  );
}

async function shownOf(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'hash':
      return plainly(Object.entries(await redis.hgetall(key)));
    case 'zset':
      return scoresOf(await redis.zrange(key, 0, '-1', 'WITHSCORES'));
    case 'set':
      return (await redis.smembers(key)).sort();
    case 'list':
      return (await redis.lrange(key, 0, -1)).map(told);
    default:
      return key.endsWith(':counted') ? offsetsOf(await redis.getBuffer(key)) : redis.get(key);
  }
}

function simulated(store: Store): Record<string, unknown> {
  const { texts, hashes, sorted, sets, bits, lists } = store.copy();
  const all: [string, unknown][] = [
    ...[...texts].map(([key, { value }]): [string, unknown] => [key, value]),
    ...[...hashes]
      .filter(([, of]) => of.size > 0)
      .map(([key, of]): [string, unknown] => [key, plainly([...of])]),
    ...[...sorted]
      .filter(([, of]) => of.size > 0)
      .map(([key, of]): [string, unknown] => [key, Object.fromEntries(of)]),
    ...[...sets]
      .filter(([, of]) => of.size > 0)
      .map(([key, of]): [string, unknown] => [key, [...of].sort()]),
    ...[...bits].map(([key, of]): [string, unknown] => [key, [...of].sort((a, b) => a - b)]),
    ...[...lists]
      .filter(([, of]) => of.length > 0)
      .map(([key, of]): [string, unknown] => [key, of.map(told)]),
  ];
  return Object.fromEntries(all);
}

function plainly(pairs: [string, string][]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map(([name, value]) => [name, name === 'shift' ? coarse(Number(value)) : shown(value)]),
  );
}

function shown(value: string): unknown {
  return Number(value) > 10 ** 12 ? coarse(Number(value) - began) : told(value);
}

/** The two clocks are not read at the same moment: a time counts by its distance from when the case began. */
function coarse(milliseconds: number): number {
  return Math.round(milliseconds / 200_000);
}

/** What is within has no sequence: members of a set, fields of a hash. */
function timeless(answer: unknown): unknown {
  if (!Array.isArray(answer)) return typeof answer === 'string' ? shown(answer) : answer;
  return answer.map((one) => {
    const found = timeless(one);
    return Array.isArray(found) ? found.map((part) => JSON.stringify(part)).sort() : found;
  });
}

/** JSON may be written in any order of names. */
function told(text: string): unknown {
  return text.startsWith('{') ? JSON.parse(text) : text;
}

function scoresOf(flat: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    flat.flatMap((member, i) => (i % 2 === 0 ? [[member, Number(flat[i + 1])]] : [])),
  );
}

function offsetsOf(bytes: Buffer | null): number[] {
  return [...(bytes ?? [])].flatMap((byte, i) =>
    Array.from({ length: 8 }, (_, bit) => ((byte >> (7 - bit)) & 1 ? [8 * i + bit] : [])).flat(),
  );
}
