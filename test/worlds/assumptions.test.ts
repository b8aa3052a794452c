import { type Case, describeHarm } from './harm.ts';

const CASES: Case[] = [
  // As the weather draws it: after a rollback only a person could resume delivery where the list never comes.
  [
    'rollback unnoticed',
    {
      rollback: 'older',
      listForbidden: false,
      stickyList: 'none',
      stragglers: 0,
      rewritesNumbers: false,
    },
    60,
  ],
  ['late commits', { lostAnswers: 0.5 }, 60],
  ['lagging list', { lostAnswers: 0.5, rollback: 'none' }, 60],
  ['list cut unseen', { lostAnswers: 0.3 }, 60],
  ['frozen between check and write', {}, 60],
];

describeHarm('an assumption about the world', CASES);
