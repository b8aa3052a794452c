import { expect, it } from 'vitest';
import { type Absence, ageCanaries, judgeEvidence, reachOf } from '../../src/reconcile/evidence.ts';

const base = {
  listedFrom: 1_000_000,
  settle: 60_000,
  listed: new Set(['LISTED']),
  agedUntil: 0,
};
const grown = (number: string) => ({ number, since: base.listedFrom - 2 * base.settle });
const young = (number: string) => ({ number, since: base.listedFrom - 2 * base.settle + 1 });

it('a list that contains every grown canary is good', () => {
  expect(judgeEvidence({ ...base, canaries: [grown('LISTED')] })).toEqual({
    kind: 'good',
    reaches: 0,
  });
});

it('a list without a grown canary is bad', () => {
  expect(judgeEvidence({ ...base, canaries: [grown('LISTED'), grown('GONE')] })).toEqual({
    kind: 'bad',
    missing: 'GONE',
  });
});

it('a canary younger than two settles proves nothing: a correct list may lack it', () => {
  expect(judgeEvidence({ ...base, canaries: [grown('LISTED'), young('GONE')] })).toMatchObject({
    kind: 'good',
  });
  expect(judgeEvidence({ ...base, canaries: [young('GONE')] })).toMatchObject({ kind: 'good' });
});

it('after canaries were replaced, a list says nothing about orders older than the oldest that it shows', () => {
  const canaries = [grown('LISTED')];
  const since = grown('').since;
  expect(judgeEvidence({ ...base, canaries, agedUntil: 1 })).toEqual({
    kind: 'good',
    reaches: since + base.settle,
  });
  expect(judgeEvidence({ ...base, canaries: [], agedUntil: 1 })).toMatchObject({
    reaches: base.listedFrom + base.settle,
  });
});

it('a list that is not proved complete proves nothing, whatever it shows', () => {
  const unproved = { code: 'list-unproved', facts: {} } as const;
  expect(judgeEvidence({ ...base, canaries: [grown('LISTED')], unproved })).toEqual({
    kind: 'unproved',
    by: unproved,
  });
});

/** An order in doubt that was sent first at `firstAt`, and last at `sentAt`. */
const doubt = { firstAt: 500_000, sentAt: 600_000 };
const older = { number: 'OLDER', since: doubt.firstAt - 1 };
const between = { number: 'BETWEEN', since: doubt.sentAt + base.settle - 1 };
const younger = { number: 'YOUNGER', since: doubt.sentAt + base.settle };

it.each([
  ['nothing', [], [], 'short'],
  ['an order that is hidden before it', [older, younger], ['YOUNGER'], 'short'],
  ['an order before it only', [older], ['OLDER'], 'unknown'],
  ['one that may have been created before it', [older, between], ['OLDER', 'BETWEEN'], 'unknown'],
  ['one before it, and not yet one after it', [older, younger], ['OLDER'], 'early'],
  ['one before it and one after it', [older, younger], ['OLDER', 'YOUNGER'], 'beyond'],
] as const)(
  'how far a list reaches that lacks an order in doubt and shows %s',
  (_, canaries, shown, reach) => {
    expect(reachOf({ ...base, canaries, listed: new Set(shown) }, doubt)).toBe(reach);
  },
);

/** Canaries by age, oldest first: A to E. */
const ages = ['A', 'B', 'C', 'D', 'E'].map((number, i) => ({ number, since: 1000 * (i + 1) }));

/** Reads lists a settle apart that show `shown`; returns the canaries that were replaced. */
function replacedAfter(lists: number, shown: (list: number) => readonly string[]): string[] {
  let before: Record<string, Absence> = {};
  const gone: string[] = [];
  for (let i = 0; i < lists; i += 1) {
    const listedFrom = base.listedFrom + i * base.settle;
    const canaries = ages.filter(({ number }) => !gone.includes(number));
    const { absences, replaced } = ageCanaries(
      { ...base, listedFrom, canaries, listed: new Set(shown(i)) },
      before,
    );
    before = absences;
    gone.push(...replaced.map(({ number }) => number));
  }
  return gone;
}

it('the oldest canaries are replaced after five settles and five lists without them, while all younger ones are shown', () => {
  expect(replacedAfter(5, () => ['C', 'D', 'E'])).toEqual([]);
  expect(replacedAfter(6, () => ['C', 'D', 'E'])).toEqual(['A', 'B']);
});

it('a canary that is missing between others, or together with all, is not replaced', () => {
  expect(replacedAfter(9, () => ['A', 'C', 'D', 'E'])).toEqual([]);
  expect(replacedAfter(9, () => ['B', 'C', 'E'])).toEqual([]);
  expect(replacedAfter(9, () => [])).toEqual([]);
});

it('one list that shows an old canary starts the wait again', () => {
  expect(
    replacedAfter(9, (list) => (list === 4 ? ['A', 'B', 'C', 'D', 'E'] : ['B', 'C', 'D', 'E'])),
  ).toEqual([]);
});
