import { expect, it } from 'vitest';
import {
  type Bracket,
  type Guarantee,
  guaranteeRemedy,
  guaranteeText,
  joinBrackets,
  judgeGuarantee,
  type Measures,
  NOTHING_SEEN,
} from '../../src/reconcile/guarantee.ts';

const SETTLE = 60_000;
const NOTHING: Measures = {
  seen: NOTHING_SEEN,
  kind: undefined,
  twice: 0,
  overdue: { orders: 0, longest: 0 },
};

function judged(assumption: string, measures: Partial<Measures>): Guarantee {
  const all = judgeGuarantee({ ...NOTHING, ...measures }, SETTLE);
  const found = all.find((one) => one.assumption === assumption);
  if (found === undefined) throw new Error(assumption);
  return found;
}

const seen = (changes: Partial<Measures['seen']>) => ({ seen: { ...NOTHING_SEEN, ...changes } });

it('nothing is known without samples', () => {
  const known = judgeGuarantee(NOTHING, SETTLE);
  expect(known.map(({ holds }) => holds)).toEqual([null, null, null, null, null]);
  expect(known.map(({ measured }) => measured)).toEqual([null, null, null, null, null]);
});

it('several times make one bracket: the longest lack, and the shortest time beyond it', () => {
  const times = [
    [0, 5],
    [8, 12],
    [1, 9],
    [2, 3],
  ].map(([atLeast = 0, atMost = 0]) => ({ samples: 1, atLeast, atMost }));
  const all = times.reduce<Bracket | undefined>(joinBrackets, undefined);
  expect(all).toEqual({ samples: 4, atLeast: 8, atMost: 9 });
  expect(joinBrackets(times[0], times[1])).toEqual({ samples: 2, atLeast: 8, atMost: 12 });
});

// After how many seconds a list still lacked an order, and after how many one showed it; what that says with a settle of 60 s.
it.each<[number, number, boolean | null, number | null, string | undefined]>([
  [0, 0.3, true, 200, undefined],
  [1, 2, true, 30, undefined],
  [25, 31, true, 1.94, undefined],
  [31, 33, true, 1.82, '2m'],
  [45, 55, true, 1.09, '2m'],
  [59, 61, null, null, '3m'],
  [0, 3_600, null, null, undefined],
  [60, 3_600, false, 0.02, '5m'],
  [88, 92, false, 0.65, '5m'],
  [40_000, 43_000, false, 0, '1d'],
  [80_000, 86_000, false, 0, undefined],
])(
  'an order that appears after %d to %d s: holds %s, margin %s, proposed %s',
  (least, most, holds, margin, propose) => {
    const lag = { samples: 3, atLeast: 1_000 * least, atMost: 1_000 * most };
    expect(judged('A3', seen({ lag }))).toEqual({
      assumption: 'A3',
      holds,
      samples: 3,
      measured: 1_000 * most,
      atLeast: 1_000 * least,
      margin,
      ...(propose && { propose }),
    });
  },
);

it.each<[string, Partial<Measures>, boolean, string, string | undefined]>([
  [
    'A2',
    seen({ late: { samples: 1, atLeast: 0, atMost: 60_500 } }),
    true,
    'calls without an answer were stored within 1 min 1 s',
    undefined,
  ],
  [
    'A2',
    seen({ late: { samples: 1, atLeast: 120_000, atMost: 180_000 } }),
    false,
    'a list lacked an order 2 min after its call had timed out, and a later one showed it',
    'Set delivery.settle to 10m.',
  ],
  [
    'A3',
    seen({ lag: { samples: 1, atLeast: 0, atMost: 2_000 } }),
    true,
    'created orders are in the list within 2 s',
    undefined,
  ],
  [
    'A3',
    { overdue: { orders: 2, longest: 600_000 } },
    false,
    'a list lacked an order 10 min after it was created',
    "Ask the API's owner for the complete list, and how soon it shows an order.",
  ],
  ['A4', { kind: 'complete' }, true, 'the list is complete', undefined],
  ['A4', { kind: 'paged' }, true, 'the list is complete, read by pages', undefined],
  [
    'A4',
    { kind: 'cut' },
    false,
    'the list lacks orders that it must show',
    "Ask the API's owner for the complete list, and how soon it shows an order.",
  ],
  [
    'A4',
    { kind: 'notOffered' },
    false,
    'the API does not offer its list',
    "Ask the API's owner for the complete list, and how soon it shows an order.",
  ],
  [
    'A5',
    seen({ lag: { samples: 1, atLeast: 0, atMost: 1 } }),
    true,
    'the list shows each number as it was sent',
    undefined,
  ],
  [
    'A5',
    seen({ respelled: 3 }),
    false,
    'the list shows 3 orders under another spelling of the number',
    "Ask the API's owner to keep order numbers as they are sent.",
  ],
  ['once', seen({ lists: 4 }), true, 'the list shows no order twice', undefined],
  [
    'once',
    { twice: 2 },
    false,
    "2 orders were created twice: the API's list shows them more than once",
    "Run po-sync reconcile to see them, and ask the API's owner to remove all but one of each.",
  ],
])('%s of %j holds: %s, and says: %s', (assumption, measures, holds, text, remedy) => {
  const one = judged(assumption, measures);
  expect(one.holds).toBe(holds);
  expect(guaranteeText(one)).toBe(text);
  expect(guaranteeRemedy(one)).toBe(remedy);
});
