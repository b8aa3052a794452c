import { describe, expect, it } from 'vitest';
import { type Entry, UNSHOWN } from '../../../src/ledger/entry.ts';
import { next } from '../../../src/ledger/state-machine/next.ts';
import type { LedgerEvent, Step } from '../../../src/ledger/state-machine/step.ts';
import { entryOf, OWN, policy } from '../../support/entry.ts';

const NO = { code: '400', message: 'parameters are invalid', httpStatus: 400 };
const LOST = { code: 'no-answer', message: 'no complete answer' };
const SENDING = entryOf({
  state: 'sending',
  attempt: 1,
  version: 2,
  deadline: 33_000,
  firstAt: 1000,
  lastAt: 1000,
});
const UNKNOWN = entryOf({
  state: 'unknown',
  attempt: 1,
  used: 1,
  version: 3,
  maybeSentAt: 2000,
  answer: LOST,
});

function answered(
  verdict: Extract<LedgerEvent, { kind: 'answered' }>['verdict'],
  attempt = 1,
): LedgerEvent {
  return { kind: 'answered', at: 2000, attempt, verdict };
}

/** State and waits of a step, in a form that a table shows. */
function short(step: Step): string {
  switch (step.kind) {
    case 'move': {
      const due = step.due === undefined ? '' : ` due ${step.due}`;
      const doubt = step.doubt === undefined ? '' : ` ask ${step.doubt}`;
      return `${step.entry.state}${due}${doubt}`;
    }
    case 'dead':
      return `dead ${step.entry.state}`;
    case 'accept':
      if (step.isEarlier) return 'accept as earlier';
      return step.times === undefined ? 'accept' : `accept created ${step.times} times`;
    case 'cancel':
      return step.rest === undefined ? 'cancel' : `cancel, then ${step.rest.entry.batch} queued`;
    case 'drop':
    case 'ignore':
      return step.kind;
  }
}

const OTHERS = { digest: 'content-of-others', items: [{ articleCode: 'B-2', quantity: 9 }] };

function unclear(listedFrom: number, inARow: number, isAway = false): LedgerEvent {
  return { kind: 'inconclusive', at: listedFrom, listedFrom, inARow, answer: LOST, isAway };
}

describe('next', () => {
  const queued = entryOf();
  const again: Entry = { ...SENDING, maybeSentAt: 500 };
  const doubted: Entry = { ...UNKNOWN, absences: 1, absentAt: 70_000 };
  const later = { kind: 'postponed', answer: LOST, until: 5000 } as const;

  it.each<[string, Entry, LedgerEvent, string]>([
    [
      'a queued order begins',
      queued,
      { kind: 'begin', at: 1000, deadline: 33_000 },
      'sending due 33000',
    ],
    [
      'a postponed order begins',
      { ...queued, state: 'retry' },
      { kind: 'begin', at: 1, deadline: 9 },
      'sending due 9',
    ],
    [
      'an attempt is given back',
      SENDING,
      { kind: 'giveBack', at: 1000, before: queued },
      'queued due 31000',
    ],
    [
      'a second attempt is given back: it waits as before',
      { ...SENDING, attempt: 2 },
      { kind: 'giveBack', at: 1000, before: { ...queued, state: 'retry', attempt: 1 } },
      'retry due 31000',
    ],
    [
      'another attempt is not given back',
      { ...SENDING, attempt: 2 },
      { kind: 'giveBack', at: 1, before: queued },
      'ignore',
    ],
    [
      'an attempt that ended is not given back',
      UNKNOWN,
      { kind: 'giveBack', at: 1, before: queued },
      'ignore',
    ],
    [
      'an order being sent does not begin again',
      SENDING,
      { kind: 'begin', at: 1, deadline: 9 },
      'ignore',
    ],
    ['an order in doubt does not begin', UNKNOWN, { kind: 'begin', at: 1, deadline: 9 }, 'ignore'],
    ['an accepted order is settled', SENDING, answered({ kind: 'accepted' }), 'accept'],
    [
      'a late answer of an older attempt that accepts the order settles it',
      { ...UNKNOWN, attempt: 2 },
      answered({ kind: 'accepted' }),
      'accept',
    ],
    [
      'a success answer that names another number needs a person',
      SENDING,
      answered({ kind: 'misnamed', answer: LOST }),
      'dead inDoubt',
    ],
    [
      'it needs a person also after the attempt lapsed',
      { ...UNKNOWN, attempt: 2 },
      answered({ kind: 'misnamed', answer: LOST }),
      'dead inDoubt',
    ],
    [
      'an order turned away while others pass is sent again',
      { ...SENDING, turnedAway: 3 },
      answered({ ...later, turnedAway: true }),
      'retry due 5000',
    ],
    [
      'an order turned away five times while others pass is refused',
      { ...SENDING, turnedAway: 4 },
      answered({ ...later, turnedAway: true }),
      'dead refused',
    ],
    [
      'an order turned away after an attempt that may have been sent is verified first',
      { ...again, turnedAway: 4 },
      answered({ ...later, turnedAway: true }),
      'unknown ask 60500',
    ],
    [
      'a refusal of the first attempt is final',
      SENDING,
      answered({ kind: 'refused', answer: NO }),
      'dead refused',
    ],
    [
      'a refusal after an attempt that may have been sent is verified first',
      again,
      answered({ kind: 'refused', answer: NO }),
      'unknown ask 60500',
    ],
    [
      'an attempt without an answer is unknown, and the list is asked a settle later',
      SENDING,
      answered({ kind: 'unknown', answer: LOST }),
      'unknown ask 62000',
    ],
    [
      'an answer that says nothing about the order postpones it',
      SENDING,
      answered(later),
      'retry due 5000',
    ],
    [
      'a late refusal of an older attempt changes nothing',
      { ...SENDING, attempt: 2 },
      answered({ kind: 'refused', answer: NO }),
      'ignore',
    ],
    [
      'a late refusal changes nothing once the order is in doubt',
      UNKNOWN,
      answered({ kind: 'refused', answer: NO }),
      'ignore',
    ],
    [
      'a lapsed attempt is asked about a settle after its deadline',
      SENDING,
      { kind: 'lapsed', at: 40_000 },
      'unknown ask 93000',
    ],
    [
      'an attempt does not lapse before its deadline',
      SENDING,
      { kind: 'lapsed', at: 32_999 },
      'ignore',
    ],
    ['an order that is not being sent does not lapse', queued, { kind: 'lapsed', at: 1 }, 'ignore'],
    [
      'found with the same content settles',
      UNKNOWN,
      { kind: 'found', at: 1, listed: { digest: UNKNOWN.digest } },
      'accept',
    ],
    [
      'found by a new ledger before it was sent was at the API before',
      queued,
      { kind: 'found', at: 1, listed: { digest: queued.digest }, isIntact: true },
      'accept as earlier',
    ],
    [
      'found by a new ledger after an attempt settles',
      UNKNOWN,
      { kind: 'found', at: 1, listed: { digest: UNKNOWN.digest }, isIntact: true },
      'accept',
    ],
    [
      'found without items settles',
      UNKNOWN,
      { kind: 'found', at: 1, listed: { digest: UNSHOWN } },
      'accept',
    ],
    [
      'found with other content needs a person',
      UNKNOWN,
      { kind: 'found', at: 1, listed: OTHERS },
      'dead conflict',
    ],
    [
      'found twice settles and says so',
      UNKNOWN,
      { kind: 'found', at: 1, listed: { digest: UNKNOWN.digest }, times: 2 },
      'accept created 2 times',
    ],
    [
      'found with other content changes nothing while it is being sent',
      SENDING,
      { kind: 'found', at: 1, listed: OTHERS },
      'ignore',
    ],
    [
      'an order that the API created under another number is not sent again because the list lacks it',
      { ...doubted, misnamed: true },
      { kind: 'absent', at: 130_001, listedFrom: 130_000 },
      'dead inDoubt',
    ],
    [
      'the first list that cannot tell starts a wait',
      UNKNOWN,
      unclear(70_000, 1),
      'unknown ask 70000',
    ],
    [
      'within ten settles a list that cannot tell changes nothing',
      { ...UNKNOWN, askedSince: 70_000 },
      unclear(669_999, 9),
      'ignore',
    ],
    [
      'after ten settles it needs a person',
      { ...UNKNOWN, askedSince: 70_000 },
      unclear(670_000, 9),
      'dead inDoubt',
    ],
    [
      'while the API is away for all, the wait begins again every settle',
      { ...UNKNOWN, askedSince: 70_000 },
      unclear(670_000, 9, true),
      'unknown ask 670000',
    ],
    [
      'and within a settle changes nothing',
      { ...UNKNOWN, askedSince: 70_000 },
      unclear(129_999, 9, true),
      'ignore',
    ],
    [
      'but not before three lists in a row',
      { ...UNKNOWN, askedSince: 70_000 },
      unclear(900_000, 2),
      'ignore',
    ],
    [
      'a list that can tell ends the wait',
      { ...UNKNOWN, askedSince: 70_000 },
      { kind: 'absent', at: 80_001, listedFrom: 80_000 },
      'unknown ask 140000',
    ],
    [
      'an order that waits gets a new job',
      { ...queued, state: 'retry' },
      { kind: 'requeue', at: 1000, job: 'c-9' },
      'retry due 31000',
    ],
    [
      'absent from a list begun too early says nothing',
      UNKNOWN,
      { kind: 'absent', at: 62_001, listedFrom: 61_999 },
      'ignore',
    ],
    [
      'absent once waits for a second list',
      UNKNOWN,
      { kind: 'absent', at: 62_001, listedFrom: 62_000 },
      'unknown ask 122000',
    ],
    [
      'absent twice, a settle apart, is sent again',
      doubted,
      { kind: 'absent', at: 130_001, listedFrom: 130_000 },
      'retry due 131001',
    ],
    [
      'absent twice within a settle says nothing',
      doubted,
      { kind: 'absent', at: 129_999, listedFrom: 129_999 },
      'ignore',
    ],
    [
      'a verified refusal is final',
      { ...doubted, refusal: NO },
      { kind: 'absent', at: 130_001, listedFrom: 130_000 },
      'dead refused',
    ],
    [
      'absent with the attempts used up fails',
      { ...doubted, used: 3 },
      { kind: 'absent', at: 130_001, listedFrom: 130_000 },
      'dead failed',
    ],
    [
      'an API without a list leaves the order to a person',
      UNKNOWN,
      { kind: 'unlistable', at: 1, answer: LOST },
      'dead inDoubt',
    ],
    [
      'an order that was never sent is canceled',
      queued,
      { kind: 'cancel', at: 1, ...OWN },
      'cancel',
    ],
    [
      'an order that the list does not show after an attempt is canceled',
      { ...queued, state: 'retry', attempt: 1, maybeSentAt: 1 },
      { kind: 'cancel', at: 1, ...OWN },
      'cancel',
    ],
  ])('%s', (_, entry, event, expected) => {
    expect(short(next(entry, event, policy))).toBe(expected);
  });

  it('raises the version with every change and follows the clock, so that no version occurs twice', () => {
    const versionAt = (version: number, at: number) => {
      const step = next(
        { ...queued, version },
        { kind: 'begin', at, deadline: at + 32_000 },
        policy,
      );
      return step.kind === 'move' && step.entry.version;
    };
    expect(versionAt(1, 1000)).toBe(1000);
    expect(versionAt(1000, 1000)).toBe(1001);
    expect(versionAt(5000, 1000)).toBe(5001);
  });

  it('counts an attempt against the budget only when its outcome is unknown', () => {
    const postponed = next(SENDING, answered(later), policy);
    const unknown = next(SENDING, answered({ kind: 'unknown', answer: LOST }), policy);
    expect(postponed.kind === 'move' && postponed.entry.used).toBe(0);
    expect(unknown.kind === 'move' && unknown.entry.used).toBe(1);
  });

  it('counts a postponed attempt that concerns the order alone, and ends with the last one', () => {
    const counted = answered({ ...later, counts: true });
    const step = next(SENDING, counted, policy);
    expect([short(step), step.kind === 'move' && step.entry.used]).toEqual(['retry due 5000', 1]);
    expect(short(next({ ...SENDING, used: 2 }, counted, policy))).toBe('dead failed');
    // An earlier attempt may have been sent: the list decides first.
    expect(short(next({ ...again, used: 2 }, counted, policy))).toBe('unknown ask 60500');
  });

  it('keeps what the API has under the number of a conflict', () => {
    const step = next(UNKNOWN, { kind: 'found', at: 1, listed: OTHERS }, policy);
    expect(step.kind === 'dead' && step.entry.known).toEqual(OTHERS);
  });

  it('never forgets that an attempt may have been sent', () => {
    const step = next({ ...SENDING, maybeSentAt: 7 }, answered(later), policy);
    expect(step.kind === 'move' && step.entry.maybeSentAt).toBe(7);
  });

  it('leaves doubt to a person if onDoubt is hold', () => {
    const step = next(SENDING, answered({ kind: 'unknown', answer: LOST }), {
      ...policy,
      onDoubt: 'hold',
    });
    expect(short(step)).toBe('dead inDoubt');
  });
});

describe('next, at an API that knows idempotency keys', () => {
  const keyed = { ...policy, key: { header: 'K', repeats: 40_000 } };
  const sending: Entry = { ...SENDING, keyed: { header: 'K', at: 1000 } };
  const waiting: Entry = { ...sending, state: 'retry', maybeSentAt: 2000, repeats: true };
  const lost = { kind: 'unknown', answer: LOST } as const;
  const later = { kind: 'postponed', answer: LOST, until: 5000 } as const;

  /** With `again`: it is in doubt and sent again. */
  function shown(step: Step): string {
    return `${step.kind === 'move' && step.entry.repeats ? 'again ' : ''}${short(step)}`;
  }

  it.each<[string, Entry, LedgerEvent, string]>([
    ['an unclear answer', sending, answered(lost), 'again retry due 3000'],
    [
      'an unclear answer to a later attempt',
      { ...sending, used: 1 },
      answered(lost),
      'again retry due 4000',
    ],
    ['an attempt that lapsed', sending, { kind: 'lapsed', at: 33_000 }, 'again retry due 34000'],
    [
      'an unclear answer when the API forgets the key',
      { ...sending, keyed: { header: 'K', at: -38_000 } },
      answered(lost),
      'unknown ask 62000',
    ],
    [
      'an unclear answer just before',
      { ...sending, keyed: { header: 'K', at: -37_999 } },
      answered(lost),
      'again retry due 3000',
    ],
    [
      'an unclear answer to an attempt with another header',
      { ...sending, keyed: { header: 'L', at: 1000 } },
      answered(lost),
      'unknown ask 62000',
    ],
    ['an unclear answer to an attempt without a key', SENDING, answered(lost), 'unknown ask 62000'],
    [
      'an unclear answer to the last attempt',
      { ...sending, used: 2 },
      answered(lost),
      'unknown ask 62000',
    ],
    [
      'a success answer that does not name the order, which would come again',
      sending,
      answered({ ...lost, isSuccess: true }),
      'unknown ask 62000',
    ],
    [
      'a refusal of the repetition, which may be about the key',
      { ...waiting, state: 'sending' },
      answered({ kind: 'refused', answer: NO }),
      'unknown ask 62000',
    ],
    [
      'a repetition that says nothing about the order',
      { ...waiting, state: 'sending' },
      answered(later),
      'again retry due 5000',
    ],
    [
      'a repetition whose turn has come',
      waiting,
      { kind: 'begin', at: 40_999, deadline: 73_999 },
      'again sending due 73999',
    ],
    [
      'a repetition whose turn comes too late',
      waiting,
      { kind: 'begin', at: 41_000, deadline: 74_000 },
      'ignore',
    ],
    [
      'a repetition that is due',
      waiting,
      { kind: 'requeue', at: 40_999, job: 'c-9' },
      'again retry due 70999',
    ],
    [
      'a repetition that is due too late',
      waiting,
      { kind: 'requeue', at: 41_000, job: 'c-9' },
      'unknown ask 62000',
    ],
    [
      'an order that is not in doubt, however old its key',
      { ...waiting, repeats: undefined as never },
      { kind: 'begin', at: 99_000, deadline: 132_000 },
      'sending due 132000',
    ],
  ])('%s', (_, entry, event, expected) => {
    expect(shown(next(entry, event, keyed))).toBe(expected);
  });

  it('sends again also if onDoubt is hold, which only concerns a doubt that lasts', () => {
    const hold = { ...keyed, onDoubt: 'hold' } as const;
    expect(shown(next(sending, answered(lost), hold))).toBe('again retry due 3000');
    expect(shown(next(waiting, { kind: 'requeue', at: 41_000, job: 'c-9' }, hold))).toBe(
      'dead inDoubt',
    );
  });

  it('counts the age of the key from the first attempt that may have reached the API', () => {
    const keyOf = (step: Step) => (step.kind === 'move' ? step.entry.keyed : undefined);
    const begun = (entry: Entry) =>
      keyOf(next(entry, { kind: 'begin', at: 7000, deadline: 40_000 }, keyed));
    const unsent = answered({ ...later, isUnsent: true });
    expect(begun(entryOf())).toEqual({ header: 'K', at: 7000 });
    expect(begun(waiting)).toEqual({ header: 'K', at: 1000 });
    expect(keyOf(next(sending, unsent, keyed))).toBeUndefined();
    expect(keyOf(next({ ...sending, lastAt: 1500 }, unsent, keyed))).toEqual(sending.keyed);
    expect(keyOf(next(sending, answered(later), keyed))).toEqual(sending.keyed);
    // An attempt without the key would not be covered by it.
    expect(
      keyOf(next({ ...sending, state: 'queued' }, { kind: 'begin', at: 1, deadline: 9 }, policy)),
    ).toBeUndefined();
  });
});
