import { type Case, describeHarm } from './harm.ts';

const CASES: Case[] = [
  ['rollback unnoticed', { rollback: 'older' }, 60],
  ['late commits', { lostAnswers: 0.5 }, 60],
  ['lagging list', { lostAnswers: 0.5, rollback: 'none' }, 60],
  ['list cut unseen', { lostAnswers: 0.3 }, 60],
  ['frozen between check and write', {}, 60],
];

describeHarm('an assumption about the world', CASES);
