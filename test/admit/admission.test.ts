import { describe, expect, it } from 'vitest';
import { admit } from '../../src/admit/admission.ts';
import type { EntryState, Known } from '../../src/ledger/entry.ts';
import { entered } from '../../src/ledger/state-machine/next.ts';
import { entryOf } from '../support/entry.ts';

const AT_API = { digest: 'content-at-the-api', items: [{ articleCode: 'B-2', quantity: 9 }] };
const ENTRY = entryOf({ batch: 'first', batchNo: 1, ordinal: 4 });
const SAME = {
  number: ENTRY.order.purchaseOrderNumber,
  digest: ENTRY.digest,
  batch: 'second',
  ordinal: 0,
  again: false,
  fromExport: false,
};
const OTHER = { ...SAME, digest: 'another-content-' };
const CORRECTED = { ...SAME, digest: AT_API.digest };

function open(state: EntryState): Known {
  return {
    kind: 'open',
    entry: { ...ENTRY, state, ...(state === 'conflict' ? { known: AT_API } : {}) },
  };
}

describe('admission', () => {
  it('queues an unknown number', () => {
    expect(admit({ kind: 'nothing' }, SAME)).toEqual({ kind: 'queue', before: undefined });
  });

  it('distinguishes an accepted order with the same content from one with other content', () => {
    const known: Known = {
      kind: 'accepted',
      compact: { number: SAME.number, digest: ENTRY.digest, attempts: 1, at: 5, batchNo: 7 },
    };
    expect(admit(known, SAME)).toEqual({ kind: 'duplicate', batchNo: 7 });
    expect(admit(known, OTHER)).toEqual({ kind: 'conflict', batchNo: 7, underWay: false });
  });

  it('recognizes its own order after a crash', () => {
    expect(admit(open('sending'), { ...OTHER, batch: 'first', ordinal: 4 })).toEqual({
      kind: 'mine',
    });
  });

  it('makes the second occurrence of a number in one file wait for the first', () => {
    expect(admit(open('queued'), { ...SAME, batch: 'first', ordinal: 5 }).kind).toBe('follow');
  });

  it.each<[EntryState, string, string, string]>([
    ['queued', 'follow', 'conflict', 'follow'],
    ['sending', 'follow', 'conflict', 'follow'],
    ['retry', 'follow', 'conflict', 'follow'],
    ['unknown', 'follow', 'conflict', 'follow'],
    ['inDoubt', 'repeat', 'conflict', 'repeat'],
    ['refused', 'repeat', 'queue', 'queue'],
    ['failed', 'queue', 'queue', 'queue'],
    ['conflict', 'repeat', 'conflict', 'repeat'],
  ])(
    '%s: the same content is a %s, other content a %s, the same from a fix file a %s',
    (state, same, other, again) => {
      expect(admit(open(state), SAME).kind).toBe(same);
      expect(admit(open(state), OTHER).kind).toBe(other);
      expect(admit(open(state), { ...SAME, again: true }).kind).toBe(again);
    },
  );

  it('treats an order in conflict as corrected when it has the content that the API has', () => {
    expect(admit(open('conflict'), CORRECTED)).toMatchObject({
      kind: 'corrected',
      digest: AT_API.digest,
    });
    expect(admit(open('conflict'), { ...CORRECTED, again: true }).kind).toBe('corrected');
  });

  it('never queues a number that the API has, from any file', () => {
    for (const again of [true, false])
      for (const fromExport of [true, false])
        for (const digest of [SAME.digest, OTHER.digest, CORRECTED.digest])
          expect(admit(open('conflict'), { ...SAME, digest, again, fromExport }).kind).not.toBe(
            'queue',
          );
  });

  it('names the content that the API has in a conflict', () => {
    expect(admit(open('conflict'), OTHER)).toMatchObject({
      kind: 'conflict',
      batchNo: 0,
      known: AT_API,
    });
  });

  it('neither sends an order of a canceled batch nor lets it wait; what is settled stays as it is', () => {
    const cancelled = true;
    expect(admit({ kind: 'nothing' }, { ...SAME, cancelled }).kind).toBe('cancelled');
    expect(admit(open('queued'), { ...SAME, cancelled }).kind).toBe('cancelled');
    expect(admit(open('conflict'), { ...OTHER, cancelled }).kind).toBe('conflict');
  });

  it('does not send a failed order again because an export still shows it', () => {
    expect(admit(open('failed'), { ...SAME, fromExport: true }).kind).toBe('repeat');
    expect(admit(open('failed'), { ...OTHER, fromExport: true }).kind).toBe('queue');
  });

  it('keeps the attempt number of the dead letter that an order replaces, and that it may have been sent', () => {
    const { order, digest } = ENTRY;
    const arrival = {
      order,
      digest,
      batch: 'second',
      batchNo: 2,
      ordinal: 0,
      place: { line: 2 },
      job: 'c-2',
    };
    const before = entryOf({
      state: 'failed',
      version: 9,
      attempt: 12,
      used: 12,
      maybeSentAt: 700,
    });
    expect(entered(arrival, before, 1000)).toEqual(
      entryOf({ ...arrival, version: 1000, attempt: 12, used: 0, maybeSentAt: 700 }),
    );
  });
});
