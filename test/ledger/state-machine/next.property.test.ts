import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Entry } from '../../../src/ledger/entry.ts';
import { next } from '../../../src/ledger/state-machine/next.ts';
import type {
  Decision,
  LedgerEvent,
  Policy,
  Step,
  Verdict,
} from '../../../src/ledger/state-machine/step.ts';
import { entryOf, policy as usual } from '../../support/entry.ts';
import { runs } from '../../support/runs.ts';

const policy: Policy = { ...usual, attempts: 2 };
const { settle } = policy;
const keyed: Policy = { ...usual, attempts: 4, key: { header: 'K', repeats: 3 * settle } };
const SPAN = 33_000;
const ANSWER = { code: 'x', message: 'said' };

/**
 * Something that may happen to an entry `wait` after what happened before; what it says of it depends on the entry, and
 * on the entry as it was before its last attempt began.
 */
type Happening = {
  wait: number;
  of(entry: Entry, at: number, before: Entry): LedgerEvent | Decision;
};

const verdict: fc.Arbitrary<(at: number) => Verdict> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .boolean()
      .map((free) => () => ({ kind: 'unknown', answer: ANSWER, free }) as const),
  },
  { weight: 2, arbitrary: fc.constant(() => ({ kind: 'refused', answer: ANSWER }) as const) },
  {
    weight: 2,
    arbitrary: fc.boolean().map(
      (counts) => (at: number) =>
        ({
          kind: 'postponed',
          answer: ANSWER,
          until: at + 1,
          counts,
          isUnsent: !counts,
        }) as const,
    ),
  },
  { weight: 1, arbitrary: fc.constant(() => ({ kind: 'accepted' }) as const) },
);

const begin: Happening['of'] = (_, at) => ({ kind: 'begin', at, deadline: at + SPAN });
const giveBack: Happening['of'] = (_, at, before) => ({ kind: 'giveBack', at, before });
const lapsed: Happening['of'] = (_, at) => ({ kind: 'lapsed', at });

const answered: fc.Arbitrary<Happening['of']> = fc
  .tuple(verdict, fc.constantFrom(0, 0, 0, -1, 1))
  .map(([says, off]) => ({ attempt }, at) => ({
    kind: 'answered',
    at,
    attempt: attempt + off,
    verdict: says(at),
  }));

const absent: fc.Arbitrary<Happening['of']> = fc
  .constantFrom(0, 0, 1, settle / 2, settle, 3 * settle)
  .map((took) => (_, at) => ({ kind: 'absent', at, listedFrom: at - took }));

const rare: fc.Arbitrary<Happening['of']> = fc.constantFrom<Happening['of'][]>(
  ({ digest }, at) => ({ kind: 'found', at, listed: { digest } }),
  (_, at) => ({ kind: 'found', at, listed: { digest: 'content-of-other' } }),
  (_, at) => ({ kind: 'inconclusive', at, listedFrom: at, inARow: 3, answer: ANSWER }),
  (_, at) => ({ kind: 'requeue', at, job: 'requeued' }),
  (_, at) => ({ kind: 'unlistable', at, answer: ANSWER }),
  ({ batch }, at) => ({ kind: 'cancel', at, batch, job: '' }),
);

/** What a daemon would do next with an order in that state, so that histories are long. */
const fitting: fc.Arbitrary<Happening['of']> = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: answered },
      { weight: 2, arbitrary: fc.constant(lapsed) },
      { weight: 1, arbitrary: fc.constant(giveBack) },
    ),
    absent,
  )
  .map(([end, list]) => (entry, at, before) => {
    if (entry.state === 'sending') return end(entry, at, before);
    return entry.state === 'unknown' ? list(entry, at, before) : begin(entry, at, before);
  });

const event: fc.Arbitrary<Happening['of']> = fc.oneof(
  { weight: 16, arbitrary: fitting },
  { weight: 1, arbitrary: fc.constantFrom(begin, lapsed, giveBack) },
  { weight: 1, arbitrary: answered },
  { weight: 1, arbitrary: absent },
  { weight: 1, arbitrary: rare },
);

const word: fc.Arbitrary<Happening['of']> = fc.constantFrom<Happening['of'][]>(
  (_, at) => ({ kind: 'retry', at, job: 'again', delay: 0 }),
  (_, at) => ({ kind: 'ask', at }),
  (_, at) => ({ kind: 'resend', at, job: 'again' }),
);

const wait = fc.constantFrom(
  0,
  1,
  2_000,
  settle / 2,
  settle - 1,
  settle,
  settle,
  SPAN,
  4 * settle,
  -1_000,
);

function happenings(of: fc.Arbitrary<Happening['of']>): fc.Arbitrary<Happening[]> {
  return fc.array(fc.record({ wait, of }), { maxLength: 60, size: 'max' });
}

type Taken = { before: Entry; event: LedgerEvent | Decision; step: Step };

/** Applies events to an entry until it is settled; returns each step. */
function lived(all: readonly Happening[], rules = policy): Taken[] {
  let entry = Object.freeze(entryOf());
  let beforeAttempt = entry;
  let at = 1_000_000;
  const taken: Taken[] = [];
  for (const one of all) {
    at += one.wait;
    const what = one.of(entry, at, beforeAttempt);
    const step = next(entry, what, rules);
    taken.push({ before: entry, event: what, step });
    if (step.kind === 'accept' || step.kind === 'cancel' || step.kind === 'drop') break;
    if (what.kind === 'begin' && step.kind === 'move') beforeAttempt = entry;
    if (step.kind !== 'ignore') entry = Object.freeze(step.entry);
  }
  return taken;
}

function isWord(what: LedgerEvent | Decision): what is Decision {
  return (
    what.kind === 'retry' ||
    what.kind === 'ask' ||
    what.kind === 'confirm' ||
    what.kind === 'resend'
  );
}

function outcomeOf({ before, step }: Taken): Entry {
  return step.kind === 'move' || step.kind === 'dead' ? step.entry : before;
}

/** Every step of every history satisfies it. */
function always(of: fc.Arbitrary<Happening['of']>, holds: (taken: Taken) => void): void {
  fc.assert(
    fc.property(happenings(of), (all) => {
      for (const taken of lived(all)) holds(taken);
    }),
    { numRuns: runs(2_000) },
  );
}

const any = fc.oneof({ weight: 12, arbitrary: event }, { weight: 1, arbitrary: word });
const DEAD = ['conflict', 'refused', 'failed', 'inDoubt'];

/** An attempt that may have arrived: until when it was on its way, and the lists since that lack it. */
type Doubt = { sentBy: number; lists: readonly number[] };

/** Kept next to the entry, by the rules alone: what is not certain after a step that was taken. */
function doubtAfter(
  { before, event: what, step }: Taken,
  doubt: Doubt | undefined,
): Doubt | undefined {
  const isUnknown = step.kind === 'move' && step.entry.state === 'unknown';
  switch (what.kind) {
    case 'answered': {
      if (what.verdict.kind === 'unknown') return { sentBy: what.at, lists: [] };
      const since = before.maybeSentAt;
      return isUnknown && since !== undefined ? { sentBy: since, lists: [] } : doubt;
    }
    case 'lapsed':
      return { sentBy: before.deadline ?? Number.POSITIVE_INFINITY, lists: [] };
    case 'absent': {
      if (!doubt || what.listedFrom < (doubt.lists.at(-1) ?? doubt.sentBy) + settle) return doubt;
      const lists = [...doubt.lists, what.listedFrom];
      return lists.length >= 2 ? undefined : { ...doubt, lists };
    }
    case 'ask':
      return doubt && { ...doubt, lists: [] };
    case 'retry':
    case 'resend':
      return undefined;
    default:
      return doubt;
  }
}

/** Since when the API may know the key, by the rules alone: from the first attempt with it that may have reached it. */
function keyAfter(
  { before, event: what, step }: Taken,
  since: number | undefined,
  doubt: Doubt | undefined,
) {
  if (step.kind === 'ignore') return since;
  // An attempt in the same millisecond as the one in doubt before it is not the first.
  const isItsFirst = doubt === undefined && since !== undefined && since === before.lastAt;
  switch (what.kind) {
    case 'begin':
      return since ?? what.at;
    case 'giveBack':
      return isItsFirst ? undefined : since;
    case 'answered':
      return what.verdict.kind === 'postponed' && what.verdict.isUnsent && isItsFirst
        ? undefined
        : since;
    case 'retry':
      return before.state === 'refused' ? undefined : since;
    case 'resend':
      return undefined;
    default:
      return since;
  }
}

describe('the state machine at an API that knows idempotency keys, for any sequence of events', () => {
  it('begins an attempt of an order in doubt only with the key of the attempt before, and only while the API knows it', () => {
    fc.assert(
      fc.property(happenings(any), (all) => {
        let doubt: Doubt | undefined;
        let since: number | undefined;
        for (const taken of lived(all, keyed)) {
          const { before, event: what, step } = taken;
          if (step.kind === 'ignore') continue;
          doubt = doubtAfter(taken, doubt);
          const { state, renewedAt } = outcomeOf(taken);
          if (doubt !== undefined) expect(renewedAt).toBe(before.renewedAt);
          if (doubt !== undefined && state === 'sending' && state !== before.state) {
            expect(what.at).toBeLessThan((since ?? Number.NEGATIVE_INFINITY) + 3 * settle);
          }
          if (step.kind === 'cancel' || state === 'failed') expect(doubt).toBeUndefined();
          since = keyAfter(taken, since, doubt);
        }
      }),
      { numRuns: runs(5_000) },
    );
  });

  it('settles an order in doubt without a list while the API knows its key', () => {
    let settled = 0;
    fc.assert(
      fc.property(happenings(event), (all) => {
        for (const { before, event: what, step } of lived(all, keyed)) {
          if (step.kind === 'accept' && what.kind === 'answered' && before.repeats) settled += 1;
        }
      }),
      { numRuns: runs(1_000) },
    );
    expect(settled).toBeGreaterThan(0);
  });
});

describe('the state machine, for any sequence of events', () => {
  it('begins a second attempt and withdraws an order only after lists a settle apart show that the attempt before is absent, or a person decides so', () => {
    fc.assert(
      fc.property(happenings(any), (all) => {
        let doubt: Doubt | undefined;
        for (const taken of lived(all)) {
          const { before, step } = taken;
          if (step.kind === 'ignore') continue;
          doubt = doubtAfter(taken, doubt);
          const { state } = outcomeOf(taken);
          if (state !== before.state && (state === 'sending' || state === 'failed'))
            expect(doubt).toBeUndefined();
          if (step.kind === 'cancel') expect(doubt).toBeUndefined();
        }
      }),
      { numRuns: runs(5_000) },
    );
  });

  it('accepts an order only by its answer, by a list that shows the same order, or by a person', () => {
    always(any, ({ before, event: what, step }) => {
      if (step.kind !== 'accept') return;
      const isYes = what.kind === 'answered' && what.verdict.kind === 'accepted';
      expect(
        isYes ||
          (what.kind === 'found' && what.listed.digest === before.digest) ||
          what.kind === 'confirm',
      ).toBe(true);
    });
  });

  it('changes an order that waits for a person only if the API is proved to have it', () => {
    always(event, ({ before, event: what, step }) => {
      if (!DEAD.includes(before.state)) return;
      // The list shows other items under the number.
      if (step.kind === 'dead')
        expect([what.kind, step.entry.state]).toEqual(['found', 'conflict']);
      else expect(['ignore', 'accept']).toContain(step.kind);
    });
  });

  it('refuses an order that may have been sent only after lists, and fails only when its attempts are used up', () => {
    always(any, ({ before, event: what, step }) => {
      if (step.kind !== 'dead') return;
      if (step.entry.state === 'refused' && before.maybeSentAt !== undefined)
        expect(what.kind).toBe('absent');
      if (step.entry.state === 'failed')
        expect(step.entry.used).toBeGreaterThanOrEqual(policy.attempts);
    });
  });

  it('marks an attempt as unknown only after its deadline', () => {
    always(any, ({ before, event: what, step }) => {
      if (what.kind === 'lapsed' && step.kind !== 'ignore')
        expect(what.at).toBeGreaterThanOrEqual(before.deadline ?? 0);
    });
  });

  it('withdraws only orders that wait to be sent', () => {
    always(any, ({ before, step }) => {
      if (step.kind === 'cancel') expect(['queued', 'retry']).toContain(before.state);
    });
  });

  it('increases the attempt count by one when an attempt begins, lowers it when it is given back, and only then', () => {
    always(any, (taken) => {
      const { before, event: what } = taken;
      const now = outcomeOf(taken);
      const begins = now.state === 'sending' && before.state !== 'sending' ? 1 : 0;
      const isGivenBack = what.kind === 'giveBack' && taken.step.kind === 'move' ? 1 : 0;
      expect(now.attempt - before.attempt).toBe(begins - isGivenBack);
      if (!isWord(what)) expect([0, 1]).toContain(now.used - before.used);
      if (now.used > before.used) expect(['answered', 'lapsed']).toContain(what.kind);
    });
  });

  it('leaves an order whose attempt is given back as it was, and only while that attempt is open', () => {
    fc.assert(
      fc.property(happenings(any), (all) => {
        let beforeAttempt: Entry | undefined;
        for (const { before, event: what, step } of lived(all)) {
          if (what.kind === 'begin' && step.kind === 'move') beforeAttempt = before;
          if (what.kind !== 'giveBack' || step.kind === 'ignore') continue;
          expect(before.state).toBe('sending');
          expect(step).toMatchObject({
            kind: 'move',
            entry: { ...beforeAttempt, version: expect.any(Number) },
          });
          expect(step.kind === 'move' && step.entry.deadline).toBeUndefined();
        }
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('gives every change a higher version', () => {
    always(any, (taken) => {
      const { step, before } = taken;
      if (step.kind === 'move' || step.kind === 'dead')
        expect(step.entry.version).toBeGreaterThan(before.version);
    });
  });

  it('forgets no attempt that may have been sent, unless a person decides that nothing arrived', () => {
    always(any, (taken) => {
      const { before, event: what } = taken;
      if (before.maybeSentAt === undefined || what.kind === 'resend') return;
      expect(outcomeOf(taken).maybeSentAt).toBeDefined();
    });
  });

  it('gives every order in progress a next due time', () => {
    always(any, ({ step }) => {
      if (step.kind !== 'move') return;
      const { due, doubt, entry } = step;
      expect(entry.state === 'unknown' ? [doubt, due] : [due, doubt]).toEqual([
        expect.any(Number),
        undefined,
      ]);
    });
  });

  it('sends an order that a file brings only where the ledger is certain that no attempt of its number is at the API', () => {
    always(any, ({ before: entry, event: { at } }) => {
      const [isAgain, isExport] = [at % 2 === 0, at % 3 === 0];
      for (const digest of [entry.digest, 'content-of-other']) {
        const { order, place } = entry;
        const of = { batch: 'another', batchNo: 9, ordinal: 7, place, job: '' };
        const arrival = { order, digest, ...of };
        const how = { arrival, isAgain, isExport };
        const appearance = next({ kind: 'open', entry }, { kind: 'appears', at, ...how });
        if (appearance.kind === 'join') expect(digest).toBe(entry.digest);
        if (appearance.kind !== 'queue') continue;
        expect(['refused', 'failed']).toContain(entry.state);
        expect(appearance.entry).toMatchObject({ state: 'queued', attempt: entry.attempt, digest });
        expect(appearance.entry.version).toBeGreaterThan(entry.version);
        const isCancelled = true;
        expect(
          next({ kind: 'open', entry }, { kind: 'appears', at, ...how, isCancelled }).kind,
        ).toBe('cancelled');
      }
    });
  });
});
