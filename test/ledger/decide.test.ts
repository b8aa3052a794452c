import { describe, expect, it } from 'vitest';
import { type Decision, decide } from '../../src/ledger/decide.ts';
import type { EntryState } from '../../src/ledger/entry.ts';
import { entryOf } from '../support/entry.ts';

const STATES: EntryState[] = ['queued', 'sending', 'retry', 'unknown', 'conflict', 'refused', 'failed', 'inDoubt'];
const DECISIONS: Decision[] = [
  { kind: 'retry', at: 1000, job: 'c-2', delay: 500 },
  { kind: 'ask', at: 1000, settle: 60_000 },
  { kind: 'confirm', at: 1000 },
  { kind: 'resend', at: 1000, job: 'c-2' },
];

describe("a person's word", () => {
  it('counts only for the states it is meant for', () => {
    const heard = DECISIONS.map((decision) =>
      STATES.filter((state) => decide(entryOf({ state }), decision).kind !== 'ignore'),
    );
    expect(heard).toEqual([['conflict', 'refused', 'failed'], ['inDoubt'], ['inDoubt'], ['inDoubt']]);
  });

  it('sends again with a whole budget, the fence and the maybe-sent mark kept', () => {
    const before = entryOf({ state: 'failed', attempt: 12, used: 12, maybeSentAt: 900, absences: 2, absentAt: 950 });
    expect(decide(before, { kind: 'retry', at: 1000, job: 'c-2', delay: 500 })).toEqual({
      kind: 'move',
      due: 1500,
      entry: entryOf({ version: 1000, state: 'retry', attempt: 12, used: 0, maybeSentAt: 900, job: 'c-2' }),
    });
  });

  it('asks the list again not before a settle after the last attempt', () => {
    const before = entryOf({ state: 'inDoubt', attempt: 1, maybeSentAt: 900, absences: 1, absentAt: 950 });
    expect(decide(before, { kind: 'ask', at: 1000, settle: 60_000 })).toEqual({
      kind: 'move',
      doubt: 60_900,
      entry: entryOf({ version: 1000, state: 'unknown', attempt: 1, maybeSentAt: 900 }),
    });
    expect(decide(before, { kind: 'ask', at: 99_000, settle: 60_000 })).toMatchObject({ doubt: 99_000 });
  });

  it('takes away the maybe-sent mark when the person knows that it is not there', () => {
    const before = entryOf({ state: 'inDoubt', attempt: 1, maybeSentAt: 900, refusal: { code: '400', message: '' } });
    expect(decide(before, { kind: 'resend', at: 1000, job: 'c-2' })).toMatchObject({
      entry: entryOf({ version: 1000, state: 'queued', attempt: 1, job: 'c-2' }),
    });
    const step = decide(before, { kind: 'resend', at: 1000, job: 'c-2' });
    expect(step.kind === 'move' && 'maybeSentAt' in step.entry).toBe(false);
  });
});
