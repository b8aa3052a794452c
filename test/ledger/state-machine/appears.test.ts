import { describe, expect, it } from 'vitest';
import type { EntryState, Known } from '../../../src/ledger/entry.ts';
import type { Appears } from '../../../src/ledger/state-machine/appears.ts';
import { next } from '../../../src/ledger/state-machine/next.ts';
import { SWEEP_AFTER } from '../../../src/ledger/state-machine/step.ts';
import { entryOf, orderOf } from '../../support/entry.ts';

const AT_API = { digest: 'content-at-the-api', items: [{ articleCode: 'B-2', quantity: 9 }] };
const ENTRY = entryOf({ batch: 'first', batchNo: 1, ordinal: 4 });
const ARRIVAL = {
  order: ENTRY.order,
  digest: ENTRY.digest,
  batch: 'second',
  batchNo: 2,
  ordinal: 0,
  place: { line: 2 },
  job: '',
};
type Given = Omit<Appears, 'kind' | 'at'>;
const SAME: Given = { arrival: ARRIVAL };
const OTHER: Given = { arrival: { ...ARRIVAL, digest: 'another-content-' } };
const CORRECTED: Given = { arrival: { ...ARRIVAL, digest: AT_API.digest } };

const appears = (known: Known, given: Given) =>
  next(known, { kind: 'appears', at: 1000, ...given });

function open(state: EntryState): Known {
  return {
    kind: 'open',
    entry: { ...ENTRY, state, ...(state === 'conflict' ? { known: AT_API } : {}) },
  };
}

/** The same, in the file that brought the order. */
const own = ({ arrival }: Given, ordinal: number): Given => ({
  arrival: { ...arrival, batch: 'first', ordinal },
});

describe('an order that a file brings', () => {
  it('queues an unknown number', () => {
    expect(appears({ kind: 'nothing' }, SAME)).toEqual({
      kind: 'queue',
      entry: entryOf({ ...ARRIVAL, version: 1000 }),
      due: 1000 + SWEEP_AFTER,
      before: undefined,
    });
  });

  it('distinguishes an accepted order with the same content from one with other content', () => {
    const known: Known = {
      kind: 'accepted',
      compact: {
        number: ENTRY.order.purchaseOrderNumber,
        digest: ENTRY.digest,
        attempts: 1,
        at: 5,
        batchNo: 7,
      },
    };
    expect(appears(known, SAME)).toEqual({ kind: 'duplicate', batchNo: 7 });
    expect(appears(known, OTHER)).toEqual({ kind: 'conflict', batchNo: 7, underWay: false });
  });

  it('recognizes its own order after a crash', () => {
    expect(appears(open('sending'), own(OTHER, 4))).toEqual({
      kind: 'mine',
    });
  });

  it('makes the second occurrence of a number in one file wait for the first', () => {
    expect(appears(open('queued'), own(SAME, 5)).kind).toBe('join');
  });

  it.each<[EntryState, string, string, string]>([
    ['queued', 'join', 'conflict', 'join'],
    ['sending', 'join', 'conflict', 'join'],
    ['retry', 'join', 'conflict', 'join'],
    ['unknown', 'join', 'conflict', 'join'],
    ['inDoubt', 'seen', 'conflict', 'repeat'],
    ['refused', 'seen', 'queue', 'queue'],
    ['failed', 'seen', 'queue', 'queue'],
    ['conflict', 'seen', 'conflict', 'repeat'],
  ])(
    '%s: the same content is a %s, other content a %s, the same from a fix file a %s',
    (state, same, other, again) => {
      expect(appears(open(state), SAME).kind).toBe(same);
      expect(appears(open(state), OTHER).kind).toBe(other);
      expect(appears(open(state), { ...SAME, isAgain: true }).kind).toBe(again);
    },
  );

  it('treats an order in conflict as corrected when it has the content that the API has', () => {
    expect(appears(open('conflict'), CORRECTED)).toMatchObject({
      kind: 'corrected',
      step: { kind: 'drop', at: 1000, keeps: AT_API.digest },
    });
    expect(appears(open('conflict'), { ...CORRECTED, isAgain: true }).kind).toBe('corrected');
  });

  it('never queues a number that the API has, from any file', () => {
    for (const isAgain of [true, false])
      for (const { arrival } of [SAME, OTHER, CORRECTED])
        expect(appears(open('conflict'), { arrival, isAgain }).kind).not.toBe('queue');
  });

  it('names the content that the API has in a conflict', () => {
    expect(appears(open('conflict'), OTHER)).toMatchObject({
      kind: 'conflict',
      batchNo: 0,
      known: AT_API,
    });
  });

  it('neither sends an order of a canceled batch nor lets it wait; what is settled stays as it is', () => {
    const isCancelled = true;
    expect(appears({ kind: 'nothing' }, { ...SAME, isCancelled }).kind).toBe('cancelled');
    expect(appears(open('queued'), { ...SAME, isCancelled }).kind).toBe('cancelled');
    expect(appears(open('conflict'), { ...OTHER, isCancelled }).kind).toBe('conflict');
  });

  it('leaves content that was seen with its dead letter, unless that is lost, or it is under way or brought deliberately', () => {
    const seen = { letter: 'b1-3', is: 'settled' } as const;
    const kinds = [{ kind: 'nothing' } as const, open('refused'), open('queued')];
    const all = (given: Given) => kinds.map((known) => appears(known, given).kind);
    expect(all({ ...OTHER, seen })).toEqual(['seen', 'seen', 'seen']);
    expect(all({ ...SAME, seen })).toEqual(['seen', 'seen', 'join']);
    expect(all({ ...OTHER, seen, isAgain: true })).toEqual(['queue', 'queue', 'conflict']);
    const lost = { ...seen, is: 'lost' } as const;
    expect(all({ ...SAME, seen: lost })).toEqual(['queue', 'repeat', 'join']);
  });

  it('keeps the attempt number of the dead letter that an order replaces, and that it may have been sent', () => {
    const before = entryOf({
      state: 'failed',
      version: 9,
      attempt: 12,
      used: 12,
      maybeSentAt: 700,
    });
    expect(appears({ kind: 'open', entry: before }, { ...SAME, isAgain: true })).toMatchObject({
      before,
      entry: entryOf({ ...ARRIVAL, version: 1000, attempt: 12, used: 0, maybeSentAt: 700 }),
    });
  });

  it('is a conflict with the same order in another spelling', () => {
    const arrival = { ...ARRIVAL, order: orderOf('04711') };
    expect(appears(open('queued'), { arrival })).toMatchObject({ kind: 'conflict', as: '4711' });
  });
});
