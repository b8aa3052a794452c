import { describe, expect, it } from 'vitest';
import type { Entry, EntryState } from '../../../src/ledger/entry.ts';
import type { WaitCause, WaitFacts } from '../../../src/ledger/wait-cause.ts';
import { type Surroundings, waitOf } from '../../../src/operate/orders/wait-of.ts';
import { asText } from '../../../src/order/sentence.ts';
import { untilText, waitClause, waitText } from '../../../src/wording/wait.ts';
import { entryOf } from '../../support/entry.ts';
import { answered, byOperator, ROLLED } from '../../support/pause.ts';
import { refusals } from '../../support/refusals.ts';

const NOW = 1_000_000;
const CALM: Surroundings = {
  now: NOW,
  isServed: true,
  pauses: [],
  held: new Map(),
  slowUntil: 0,
  nextTurnAt: 0,
  list: { nextAt: 0 },
};
const OPERATOR = { ...byOperator('anna'), since: NOW, held: true };
const DOWN = {
  ...answered('api-down', 'connect ECONNREFUSED'),
  since: NOW,
  held: false,
  nextTryAt: NOW + 5_000,
};
const answer = { code: 'no-answer', message: 'the connection was reset' };
const batch = entryOf().batch;

type Row = [
  what: string,
  entry: Partial<Entry>,
  at: number,
  around: Partial<Surroundings>,
  text: string,
  until: string,
];

const ROWS: Row[] = [
  ['a new order', { state: 'queued' }, NOW + 30_000, {}, 'a free slot for a call', ''],
  [
    'an order under a rate limit whose daemons lose Redis',
    { state: 'queued' },
    NOW,
    { nextTurnAt: NOW + 500, isUnsteady: true },
    'a connection to Redis that lasts',
    '',
  ],
  [
    'a retry that is not due while Redis is lost',
    { state: 'retry', answer },
    NOW + 9_000,
    { isUnsteady: true },
    'its next attempt: the connection was reset',
    'in 9 s',
  ],
  [
    'an order of a held batch',
    { state: 'queued' },
    NOW,
    { held: new Map([[batch, refusals('all refused')]]), pauses: [OPERATOR] },
    'the release of its batch: 40 of the last 40 answers are the same refusal: all refused',
    '',
  ],
  [
    'an order while an operator pauses delivery',
    { state: 'retry' },
    NOW + 9_000,
    { pauses: [OPERATOR, DOWN] },
    'the end of the pause: paused by anna',
    '',
  ],
  [
    'an order of a new ledger',
    { state: 'queued' },
    NOW,
    { pauses: [{ ...answered('ledger-new', 'the list answers 500'), since: NOW, held: true }] },
    "the API's list, before anything is sent: the API's list cannot be read yet: the list answers 500",
    '',
  ],
  [
    'an order of a ledger that was rolled back',
    { state: 'queued' },
    NOW,
    {
      pauses: [{ ...ROLLED, since: NOW, held: true }],
    },
    "the API's list, before anything is sent: Redis lost part of the ledger; a daemon that takes files reads the reports first, then the API's list is read",
    '',
  ],
  [
    'an order while the API is down',
    { state: 'retry', answer },
    NOW + 1_000,
    { pauses: [DOWN] },
    'the end of the pause: connect ECONNREFUSED',
    'in 5 s',
  ],
  [
    'an order while the API is down, just before the next try',
    { state: 'queued' },
    NOW,
    { pauses: [{ ...DOWN, nextTryAt: NOW - 10 }] },
    'the end of the pause: connect ECONNREFUSED',
    'being tried now',
  ],
  [
    'a retry that is due after the next try of a pause',
    { state: 'retry', answer },
    NOW + 60_000,
    { pauses: [DOWN] },
    'the end of the pause: connect ECONNREFUSED',
    'in 5 s',
  ],
  [
    'a retry',
    { state: 'retry', answer },
    NOW + 3_000,
    {},
    'its next attempt: the connection was reset',
    'in 3 s',
  ],
  ['a retry that is due', { state: 'retry' }, NOW, {}, 'a free slot for a call', ''],
  [
    'an order after the API asked to wait',
    { state: 'queued' },
    NOW,
    { slowUntil: NOW + 4_000 },
    'the end of a wait that the API asked for',
    'in 4 s',
  ],
  [
    'an order under a rate limit',
    { state: 'queued' },
    NOW,
    { nextTurnAt: NOW + 2_000 },
    'its turn under the rate limit',
    'in 2 s',
  ],
  [
    'an order without a daemon',
    { state: 'queued' },
    NOW,
    { isServed: false },
    'a daemon; none is running',
    '',
  ],
  [
    'an order beside a daemon that only takes files',
    { state: 'queued' },
    NOW,
    { isServed: false, isRead: true },
    'a daemon that delivers; none is running',
    '',
  ],
  [
    'an attempt in flight',
    { state: 'sending', attempt: 2, deadline: NOW + 7_000 },
    NOW + 7_000,
    { pauses: [DOWN], isServed: false },
    'an answer of the API: attempt 2 is in flight or about to be sent',
    'in 7 s',
  ],
  [
    'an attempt that began before the first daemon that is alive',
    { state: 'sending', attempt: 2, lastAt: NOW - 5_000, deadline: NOW + 7_000 },
    NOW + 7_000,
    { servedSince: NOW - 4_999 },
    "the API's list, to settle an unclear answer: the process of attempt 2 sends no heartbeat",
    'in 7 s',
  ],
  [
    'an attempt that a living daemon may have begun',
    { state: 'sending', attempt: 2, lastAt: NOW - 5_000, deadline: NOW + 7_000 },
    NOW + 7_000,
    { servedSince: NOW - 5_000 },
    'an answer of the API: attempt 2 is in flight or about to be sent',
    'in 7 s',
  ],
  [
    'an attempt whose daemon is gone',
    { state: 'sending', attempt: 2, deadline: NOW - 1 },
    NOW - 1,
    { isServed: false },
    'a daemon; none is running',
    '',
  ],
  [
    'an order with an unclear answer',
    { state: 'unknown', answer },
    NOW + 1_000,
    { list: { nextAt: NOW + 6_000 }, pauses: [DOWN] },
    "the API's list, to settle an unclear answer: the connection was reset",
    'in 6 s',
  ],
  [
    'an order with an unclear answer while the list cannot be read',
    { state: 'unknown', answer },
    NOW,
    {
      list: {
        nextAt: NOW,
        failure: { since: NOW - 60_000, says: 'no data for 30 s', answer: 'no-answer' },
      },
    },
    "the API's list, to settle an unclear answer: every read of it since 1970-01-01 00:15:40 UTC failed: no data for 30 s",
    'being tried now',
  ],
  [
    'an order with an unclear answer, and no daemon',
    { state: 'unknown', answer },
    NOW,
    { isServed: false },
    'a daemon; none is running',
    '',
  ],
  ...(['conflict', 'refused', 'failed', 'inDoubt'] as const).map(
    (state): Row => [
      `an order in ${state}`,
      { state, answer },
      0,
      { isServed: false },
      'a person',
      '',
    ],
  ),
];

describe('what an order waits for', () => {
  it.each(ROWS)('%s', (_, changes, at, around, text, until) => {
    const wait = waitOf(entryOf(changes), at, { ...CALM, ...around });
    expect([waitText(wait), untilText(wait, NOW)]).toEqual([text, until]);
  });

  it.each([
    '',
    'Rehearsed status 401.',
    'status 429.;',
    'Try again later. ',
    'wait:',
    '...',
    'plain',
  ])('is one clause, also when the reason is %j', (reason) => {
    const says = { says: reason, answer: 'no-answer' };
    const facts: WaitFacts = {
      person: says,
      release: refusals(reason),
      daemon: { lacks: 'all' },
      'first-list': answered('ledger-new', reason),
      pause: byOperator('anna', reason),
      'slow-down': {},
      redis: {},
      retry: says,
      'rate-limit': {},
      turn: {},
      answer: { attempt: 1 },
      list: says,
      'file-list': { failure: { ...says, since: NOW } },
      order: {},
      file: { code: 'ENOSPC', reason },
      unexamined: {},
    };
    for (const [code, of] of Object.entries(facts)) {
      for (const until of [{}, { until: NOW + 28_000 }]) {
        const wait = { code, facts: of, ...until } as WaitCause & { until?: number };
        const text = `Waits for ${asText(waitClause(wait, NOW))}.`;
        expect(text).not.toMatch(/[.;:,]\s*[.;]|\s{2}|: \.|: ;/);
        if ('until' in until) expect(text).toMatch(/; next check in 28 s\.$/);
      }
    }
  });

  it('is known for every state', () => {
    const states: Record<EntryState, true> = {
      queued: true,
      sending: true,
      retry: true,
      unknown: true,
      conflict: true,
      refused: true,
      failed: true,
      inDoubt: true,
    };
    expect(new Set(ROWS.map(([, { state }]) => state))).toEqual(new Set(Object.keys(states)));
  });
});
