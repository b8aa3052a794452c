import { type Case, describeHarm } from './harm.ts';

/** The API has orders of the files from another machine. */
const OLD = {
  hadBefore: 10,
  rollback: 'none',
  listForbidden: false,
  refusesDuplicates: false,
  rewritesNumbers: false,
} as const;

const CASES: Case[] = [
  ['no intent', { crash: 0.02 }, 60],
  ['no freshness check', { machines: 3, freeze: 0.2, longestFreeze: 600_000, suspends: 0 }, 250],
  ['no settle', { lostAnswers: 0.6, listCut: 0, listFails: 0 }, 60],
  ['one list is enough', { lostAnswers: 0.3, stragglers: 0.3, rollback: 'none' }, 60],
  ['no evidence rule', { lostAnswers: 0.3, listCut: 0.5 }, 60],
  [
    'conflict forgotten',
    { others: 20, rollback: 'none', listWithoutItems: false, exports: 4 },
    60,
    'sent though known',
  ],
  ['new ledger reads no list', OLD, 20],
  ['no list proof', { ...OLD, listKind: 'newest', rollback: 'none' }, 10],
  [
    'no reach of the list',
    {
      ...OLD,
      hadBefore: 0,
      listKind: 'oldest later',
      listSize: 15,
      lostAnswers: 0.6,
      listFails: 0,
      listCut: 0,
    },
    20,
  ],
  ['unreadable list is empty', { ...OLD, firstListFails: 600_000 }, 10],
  // From the start on, the slow opening of delivery bounds the calls, too.
  [
    'no circuit breaker',
    { lasting: 'busy at once', lastingFrom: 30_000, calls: 4, orders: 200 },
    4,
    'hammered',
  ],
  [
    'no patience',
    { lostAnswers: 0.3, stickyList: 'error', stickyListFrom: 60_000, rollback: 'none' },
    10,
    'waits for ever',
  ],
  [
    'duplicates counted at once',
    { people: 30, exports: 5, rollback: 'none' },
    60,
    'falsely duplicate',
  ],
  ['pause unnoticed', { people: 20, lasting: 'none' }, 20, 'sent while paused'],
  [
    'no journal',
    { people: 30, rollback: 'flush', listForbidden: false, stickyList: 'none' },
    60,
    'sent though withdrawn',
  ],
  ['no fence', { machines: 3, freeze: 0.1, longestFreeze: 600_000 }, 150],
  [
    'clock steps unnoticed',
    {
      machines: 3,
      crash: 0,
      lostAnswers: 0.6,
      redisSteps: 60,
      listFails: 0,
      listCut: 0,
      rollback: 'none',
    },
    60,
  ],
  ['naive retry', { lostAnswers: 0.1 }, 30],
];

describeHarm('a safeguard of the program', CASES);
