import { describe, expect, it } from 'vitest';
import { type EntryState, OTHER } from '../../../src/ledger/entry.ts';
import { next } from '../../../src/ledger/state-machine/next.ts';
import { type Decision, SWEEP_AFTER } from '../../../src/ledger/state-machine/step.ts';
import { entryOf, OWN, policy } from '../../support/entry.ts';

const STATES: EntryState[] = [
  'queued',
  'sending',
  'retry',
  'unknown',
  'conflict',
  'refused',
  'failed',
  'inDoubt',
];

function takenIn(decision: Decision, maybeSentAt?: number): EntryState[] {
  const changes = maybeSentAt === undefined ? {} : { maybeSentAt };
  return STATES.filter(
    (state) => next(entryOf({ state, ...changes }), decision, policy).kind !== 'ignore',
  );
}

describe('a decision of a person', () => {
  it('is accepted only in the states that it applies to', () => {
    expect(takenIn({ kind: 'retry', at: 1000, job: 'c-2', delay: 500 })).toEqual([
      'refused',
      'failed',
    ]);
    expect(takenIn({ kind: 'ask', at: 1000 })).toEqual(['inDoubt']);
    expect(takenIn({ kind: 'confirm', at: 1000 }, 900)).toEqual(['retry', 'unknown', 'inDoubt']);
    expect(takenIn({ kind: 'resend', at: 1000, job: 'c-2' }, 900)).toEqual([
      'retry',
      'unknown',
      'conflict',
      'inDoubt',
    ]);
    expect(takenIn({ kind: 'cancel', at: 1000, ...OWN })).toEqual(['queued', 'retry']);
    expect(takenIn({ kind: 'discard', at: 1000 })).toEqual(['conflict', 'refused', 'failed']);
  });

  it('can end every state of an order that waits', () => {
    const all: Decision[] = [
      { kind: 'retry', at: 1, job: 'c', delay: 0 },
      { kind: 'confirm', at: 1 },
      { kind: 'resend', at: 1, job: 'c' },
      { kind: 'cancel', at: 1, ...OWN },
    ];
    const ended = new Set([
      ...all.flatMap((one) => takenIn(one)),
      ...all.flatMap((one) => takenIn(one, 900)),
    ]);
    // An attempt in flight ends by its deadline.
    expect(STATES.filter((state) => !ended.has(state))).toEqual(['sending']);
  });

  it('retry sends again with a full budget, and keeps the attempt number and that it may have been sent', () => {
    const before = entryOf({
      state: 'failed',
      attempt: 12,
      used: 12,
      maybeSentAt: 900,
      absences: 2,
      absentAt: 950,
    });
    expect(next(before, { kind: 'retry', at: 1000, job: 'c-2', delay: 500 }, policy)).toEqual({
      kind: 'move',
      due: 1500,
      entry: entryOf({
        version: 1000,
        state: 'retry',
        attempt: 12,
        used: 0,
        maybeSentAt: 900,
        job: 'c-2',
      }),
    });
  });

  it('ask reads the list again at the earliest one settle after the last attempt', () => {
    const before = entryOf({
      state: 'inDoubt',
      attempt: 1,
      maybeSentAt: 900,
      absences: 1,
      absentAt: 950,
    });
    expect(next(before, { kind: 'ask', at: 1000 }, policy)).toEqual({
      kind: 'move',
      doubt: 60_900,
      entry: entryOf({ version: 1000, state: 'unknown', attempt: 1, maybeSentAt: 900 }),
    });
    expect(next(before, { kind: 'ask', at: 99_000 }, policy)).toMatchObject({ doubt: 99_000 });
  });

  it('resend forgets that the order may have been sent, or what the API has', () => {
    const doubted = {
      attempt: 1,
      maybeSentAt: 900,
      refusal: { code: '400', message: '' },
      misnamed: true,
    } as const;
    for (const before of [
      entryOf({ state: 'inDoubt', ...doubted }),
      entryOf({ state: 'conflict', attempt: 1, known: { digest: OTHER } }),
    ]) {
      expect(next(before, { kind: 'resend', at: 1000, job: 'c-2' }, policy)).toEqual({
        kind: 'move',
        due: 1000 + SWEEP_AFTER,
        entry: entryOf({
          version: 1000,
          state: 'queued',
          attempt: 1,
          job: 'c-2',
          renewedAt: 1000,
        }),
      });
    }
  });

  it('sends a refused order with a new idempotency key, one that failed with the same', () => {
    const keyed = { header: 'Idempotency-Key', at: 900 };
    const retried = (state: EntryState) =>
      next(entryOf({ state, keyed }), { kind: 'retry', at: 1000, job: 'c-2', delay: 0 }, policy);
    expect(retried('failed')).toMatchObject({ entry: { keyed } });
    const anew = retried('refused');
    expect(anew).toMatchObject({ entry: { renewedAt: 1000 } });
    expect(anew).not.toHaveProperty('entry.keyed');
  });

  it.each([{ repeats: true }, { isAlone: true }] as const)(
    'cancel leaves an order in doubt that would be sent again to the list: %j',
    (as) => {
      const before = entryOf({ state: 'retry', attempt: 1, maybeSentAt: 900, ...as });
      expect(next(before, { kind: 'cancel', at: 1000, ...OWN }, policy)).toEqual({
        kind: 'move',
        doubt: 60_900,
        entry: entryOf({ version: 1000, state: 'unknown', attempt: 1, maybeSentAt: 900 }),
      });
    },
  );

  const place = { line: 9 };
  const SECOND = { batch: 'second', batchNo: 2, ordinal: 7, place };
  const THIRD = { batch: 'third', batchNo: 3, ordinal: 0, place };

  it('cancel passes the order to the next file that has it', () => {
    const key = { renewedAt: 7, keyed: { header: 'K', at: 8 } };
    const again = { ...SECOND, ...OWN };
    const { batch, batchNo, ordinal, place: own } = entryOf();
    const before = entryOf({ attempt: 3, used: 2, also: [again, SECOND, THIRD], ...key });
    expect(next(before, { kind: 'cancel', at: 1000, ...OWN }, policy)).toEqual({
      kind: 'cancel',
      at: 1000,
      left: [{ batch, batchNo, ordinal, place: own }, again],
      rest: {
        entry: entryOf({ version: 1000, ...SECOND, also: [THIRD], attempt: 3, ...key, job: 'c-2' }),
        due: 1000 + SWEEP_AFTER,
      },
    });
  });

  it.each(['queued', 'sending', 'unknown'] as const)(
    'cancel of a further file that has an order leaves it %s',
    (state) => {
      const of = { kind: 'cancel', at: 1000, ...OWN, batch: 'second' } as const;
      const order = entryOf({ state, version: 1000 });
      expect(next(entryOf({ state, also: [SECOND] }), of, policy)).toEqual({
        kind: 'cancel',
        at: 1000,
        left: [SECOND],
        rest: { entry: order },
      });
      expect(next(order, of, policy).kind).toBe('ignore');
    },
  );

  it('discard keeps the content that the API has for the number of a conflict', () => {
    const known = { digest: 'content-of-other' };
    expect(next(entryOf({ state: 'conflict', known }), { kind: 'discard', at: 5 }, policy)).toEqual(
      {
        kind: 'drop',
        at: 5,
        keeps: 'content-of-other',
      },
    );
    expect(next(entryOf({ state: 'refused' }), { kind: 'discard', at: 5 }, policy)).toEqual({
      kind: 'drop',
      at: 5,
    });
  });
});
