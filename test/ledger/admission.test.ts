import { describe, expect, it } from 'vitest';
import { admit, type Known } from '../../src/ledger/admission.ts';
import type { EntryState } from '../../src/ledger/entry.ts';
import { entryOf } from '../support/entry.ts';

const ENTRY = entryOf({ batch: 'first', batchNo: 1, ordinal: 4 });
const SAME = { digest: ENTRY.digest, batch: 'second', ordinal: 0, again: false, fromExport: false };
const OTHER = { ...SAME, digest: 'another-content-' };

function open(state: EntryState): Known {
  return { kind: 'open', entry: { ...ENTRY, state } };
}

describe('admit', () => {
  it('queues a number that nobody knows', () => {
    expect(admit({ kind: 'nothing' }, SAME)).toEqual({ kind: 'queue', before: undefined });
  });

  it('tells an accepted order with the same content from one with other content', () => {
    const known: Known = { kind: 'accepted', compact: { digest: ENTRY.digest, attempts: 1, at: 5, batchNo: 7 } };
    expect(admit(known, SAME)).toEqual({ kind: 'duplicate', batchNo: 7 });
    expect(admit(known, OTHER)).toEqual({ kind: 'conflict', batchNo: 7, underWay: false });
  });

  it('knows its own order again after a crash', () => {
    expect(admit(open('sending'), { ...OTHER, batch: 'first', ordinal: 4 })).toEqual({ kind: 'mine' });
  });

  it('takes the same number twice in one file for a duplicate', () => {
    expect(admit(open('queued'), { ...SAME, batch: 'first', ordinal: 5 })).toEqual({ kind: 'duplicate', batchNo: 1 });
  });

  it.each<[EntryState, string, string, string]>([
    ['queued', 'duplicate', 'conflict', 'duplicate'],
    ['sending', 'duplicate', 'conflict', 'duplicate'],
    ['retry', 'duplicate', 'conflict', 'duplicate'],
    ['unknown', 'duplicate', 'conflict', 'duplicate'],
    ['inDoubt', 'repeat', 'conflict', 'repeat'],
    ['refused', 'repeat', 'queue', 'queue'],
    ['conflict', 'repeat', 'queue', 'queue'],
    ['failed', 'queue', 'queue', 'queue'],
  ])('%s: the same content is a %s, other content a %s, the same from a fix file a %s', (state, same, other, again) => {
    expect(admit(open(state), SAME).kind).toBe(same);
    expect(admit(open(state), OTHER).kind).toBe(other);
    expect(admit(open(state), { ...SAME, again: true }).kind).toBe(again);
  });

  it('does not send a failed order again because an export still shows it', () => {
    expect(admit(open('failed'), { ...SAME, fromExport: true }).kind).toBe('repeat');
    expect(admit(open('failed'), { ...OTHER, fromExport: true }).kind).toBe('queue');
  });
});
