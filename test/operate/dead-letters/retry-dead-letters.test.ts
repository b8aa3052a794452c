import { describe, expect, it } from 'vitest';
import type { Entry, EntryState, Known } from '../../../src/ledger/entry.ts';
import { judgeRetry, type Listed } from '../../../src/operate/dead-letters/retry-dead-letters.ts';
import { sentence } from '../../../src/order/sentence.ts';
import type { FoundDeadLetter } from '../../../src/put-away/dead-letters-in-progress.ts';
import { entryOf, orderOf } from '../../support/entry.ts';

const AT = '2026-11-21T07:15:04.000Z';
const BATCH = entryOf().batch;

function deadLetter(
  kind: FoundDeadLetter['kind'],
  more: Partial<FoundDeadLetter> = {},
): FoundDeadLetter {
  return {
    id: `${BATCH}-0`,
    revision: 1,
    purchaseOrderNumber: '4711',
    kind,
    code: '400',
    message: sentence('no'),
    signature: '400:0',
    attempts: 1,
    firstAt: AT,
    lastAt: AT,
    location: { line: 2 },
    payload: orderOf('4711'),
    batch: BATCH,
    source: 'inbox',
    file: 'orders.csv',
    ...more,
  };
}

function open(state: EntryState, more: Partial<Entry> = {}): Known {
  return { kind: 'open', entry: entryOf({ state, ...more }) };
}

const ABSENT: Listed = new Map();
const SAME: Listed = new Map([
  ['4711', { purchaseOrderNumber: '4711', items: orderOf('4711').items }],
]);
const OTHER: Listed = new Map([
  ['4711', { purchaseOrderNumber: '4711', items: [{ articleCode: 'X', quantity: 9 }] }],
]);
const BARE: Listed = new Map([['4711', { purchaseOrderNumber: '4711' }]]);
const COMPACT: Known = {
  kind: 'accepted',
  compact: { number: '4711', digest: 'x'.repeat(16), attempts: 1, at: 1, batchNo: 1 },
};

describe('a retry', () => {
  it.each<[string, FoundDeadLetter, Known, Listed, string]>([
    ['refused and not at the API', deadLetter('refused'), open('refused'), ABSENT, 'retried'],
    ['refused, list not available', deadLetter('refused'), open('refused'), undefined, 'retried'],
    ['failed and not at the API', deadLetter('failed'), open('failed'), ABSENT, 'retried'],
    ['at the API with the same items', deadLetter('failed'), open('failed'), SAME, 'found'],
    ['at the API with other items', deadLetter('failed'), open('failed'), OTHER, 'number-taken'],
    [
      'in a list without items, may have been sent',
      deadLetter('failed'),
      open('failed', { maybeSentAt: 1 }),
      BARE,
      'found',
    ],
    [
      'in a list without items, never sent',
      deadLetter('refused'),
      open('refused'),
      BARE,
      'number-taken',
    ],
    [
      'a conflict that the list no longer shows',
      deadLetter('conflict'),
      open('conflict'),
      ABSENT,
      'number-taken',
    ],
    [
      'a conflict, list not available',
      deadLetter('conflict'),
      open('conflict'),
      undefined,
      'number-taken',
    ],
    [
      'a conflict with an order that is accepted',
      deadLetter('conflict'),
      COMPACT,
      ABSENT,
      'number-taken',
    ],
    ['in doubt', deadLetter('inDoubt'), open('inDoubt', { maybeSentAt: 1 }), ABSENT, 'asked'],
    [
      'in doubt, list not available',
      deadLetter('inDoubt'),
      open('inDoubt', { maybeSentAt: 1 }),
      undefined,
      'asked',
    ],
    [
      'in doubt and at the API',
      deadLetter('inDoubt'),
      open('inDoubt', { maybeSentAt: 1 }),
      SAME,
      'found',
    ],
    ['invalid', deadLetter('invalid'), { kind: 'nothing' }, ABSENT, 'invalid'],
    ['already retried', deadLetter('refused'), open('queued'), ABSENT, 'under-way'],
    ['accepted in the meantime', deadLetter('refused'), COMPACT, ABSENT, 'settled'],
    ['discarded in the meantime', deadLetter('refused'), { kind: 'nothing' }, ABSENT, 'forgotten'],
    [
      'a repeat of another batch with the same content',
      deadLetter('refused', { batch: 'b2' }),
      open('refused'),
      ABSENT,
      'retried',
    ],
    [
      'in conflict with an order that waits itself',
      deadLetter('conflict', { batch: 'b2', payload: orderOf('4711', 9) }),
      open('refused'),
      ABSENT,
      'number-taken',
    ],
  ])('%s', (_, one, known, listed, verdict) => {
    expect(judgeRetry(one, known, listed)).toBe(verdict);
  });
});
