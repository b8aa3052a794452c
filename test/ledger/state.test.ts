import { describe, expect, it } from 'vitest';
import type { Entry } from '../../src/ledger/entry.ts';
import { type LedgerEvent, next, type Step } from '../../src/ledger/state.ts';
import { entryOf, policy } from '../support/entry.ts';

const NO = { code: '400', message: 'parameters are invalid', httpStatus: 400 };
const LOST = { code: 'no-answer', message: 'no complete answer' };
const SENDING = entryOf({ state: 'sending', attempt: 1, version: 2, deadline: 33_000, firstAt: 1000, lastAt: 1000 });
const UNKNOWN = entryOf({ state: 'unknown', attempt: 1, used: 1, version: 3, maybeSentAt: 2000, answer: LOST });

function answered(verdict: Extract<LedgerEvent, { kind: 'answered' }>['verdict'], attempt = 1): LedgerEvent {
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
    case 'cancel':
    case 'ignore':
      return step.kind;
  }
}

describe('next', () => {
  const queued = entryOf();
  const again: Entry = { ...SENDING, maybeSentAt: 500 };
  const doubted: Entry = { ...UNKNOWN, absences: 1, absentAt: 70_000 };
  const later = { kind: 'postponed', answer: LOST, until: 5000 } as const;

  it.each<[string, Entry, LedgerEvent, string]>([
    ['a queued order begins', queued, { kind: 'begin', at: 1000, deadline: 33_000 }, 'sending due 33000'],
    [
      'an order that comes again begins',
      { ...queued, state: 'retry' },
      { kind: 'begin', at: 1, deadline: 9 },
      'sending due 9',
    ],
    ['an order under way does not begin twice', SENDING, { kind: 'begin', at: 1, deadline: 9 }, 'ignore'],
    ['an order in doubt does not begin', UNKNOWN, { kind: 'begin', at: 1, deadline: 9 }, 'ignore'],
    ['acceptance settles', SENDING, answered({ kind: 'accepted' }), 'accept'],
    [
      'acceptance by a late answer of an older attempt settles',
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
      'and so it does when it comes after the attempt was given up',
      { ...UNKNOWN, attempt: 2 },
      answered({ kind: 'misnamed', answer: LOST }),
      'dead inDoubt',
    ],
    [
      'an order turned away while others pass goes again',
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
      'and verified first when an earlier attempt may have been sent',
      { ...again, turnedAway: 4 },
      answered({ ...later, turnedAway: true }),
      'unknown ask 60500',
    ],
    ['a no to the first attempt is final', SENDING, answered({ kind: 'refused', answer: NO }), 'dead refused'],
    [
      'a no after a maybe-sent attempt is verified first',
      again,
      answered({ kind: 'refused', answer: NO }),
      'unknown ask 60500',
    ],
    [
      'no answer is unknown and asked a settle later',
      SENDING,
      answered({ kind: 'unknown', answer: LOST }),
      'unknown ask 62000',
    ],
    ['what says nothing of the order postpones it', SENDING, answered(later), 'retry due 5000'],
    [
      'a late no of an older attempt changes nothing',
      { ...SENDING, attempt: 2 },
      answered({ kind: 'refused', answer: NO }),
      'ignore',
    ],
    [
      'a late no changes nothing once the order is in doubt',
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
    ['an attempt does not lapse before its deadline', SENDING, { kind: 'lapsed', at: 32_999 }, 'ignore'],
    ['a lapse of what is not being sent changes nothing', queued, { kind: 'lapsed', at: 1 }, 'ignore'],
    ['found with the same content settles', UNKNOWN, { kind: 'found', at: 1, same: true }, 'accept'],
    ['found with other content needs a person', UNKNOWN, { kind: 'found', at: 1, same: false }, 'dead conflict'],
    [
      'absent from a list begun too early says nothing',
      UNKNOWN,
      { kind: 'absent', at: 62_001, listedFrom: 61_999, needed: 2 },
      'ignore',
    ],
    [
      'absent once waits for a second list',
      UNKNOWN,
      { kind: 'absent', at: 62_001, listedFrom: 62_000, needed: 2 },
      'unknown ask 122000',
    ],
    [
      'absent twice, a settle apart, goes again',
      doubted,
      { kind: 'absent', at: 130_001, listedFrom: 130_000, needed: 2 },
      'retry due 131001',
    ],
    [
      'absent twice within a settle says nothing',
      doubted,
      { kind: 'absent', at: 129_999, listedFrom: 129_999, needed: 2 },
      'ignore',
    ],
    [
      'absent twice of three waits on',
      doubted,
      { kind: 'absent', at: 130_001, listedFrom: 130_000, needed: 3 },
      'unknown ask 190000',
    ],
    [
      'a verified no is final',
      { ...doubted, refusal: NO },
      { kind: 'absent', at: 130_001, listedFrom: 130_000, needed: 2 },
      'dead refused',
    ],
    [
      'absent with the attempts used up fails',
      { ...doubted, used: 3 },
      { kind: 'absent', at: 130_001, listedFrom: 130_000, needed: 2 },
      'dead failed',
    ],
    [
      'a list that cannot be had leaves it in doubt',
      UNKNOWN,
      { kind: 'unlistable', at: 1, answer: LOST },
      'dead inDoubt',
    ],
    ['an order that was never sent is cancelled', queued, { kind: 'cancel', at: 1 }, 'cancel'],
    [
      'an order that may have been sent is not cancelled',
      { ...queued, maybeSentAt: 1 },
      { kind: 'cancel', at: 1 },
      'ignore',
    ],
  ])('%s', (_, entry, event, expected) => {
    expect(short(next(entry, event, policy))).toBe(expected);
  });

  it('raises the version with every change, by the clock, so that none comes twice', () => {
    const versionAt = (version: number, at: number) => {
      const step = next({ ...queued, version }, { kind: 'begin', at, deadline: at + 32_000 }, policy);
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

  it('never forgets that an attempt may have been sent', () => {
    const step = next({ ...SENDING, maybeSentAt: 7 }, answered(later), policy);
    expect(step.kind === 'move' && step.entry.maybeSentAt).toBe(7);
  });

  it('leaves doubt to a person when the configuration says so', () => {
    const step = next(SENDING, answered({ kind: 'unknown', answer: LOST }), { ...policy, onDoubt: 'hold' });
    expect(short(step)).toBe('dead inDoubt');
  });
});
