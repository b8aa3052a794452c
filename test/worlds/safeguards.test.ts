import { type Case, describeHarm } from './harm.ts';

const CASES: Case[] = [
  ['no intent', { crash: 0.02 }, 60],
  ['no freshness check', { machines: 3, freeze: 0.2, longestFreeze: 600_000, suspends: 0 }, 250],
  ['no settle', { lostAnswers: 0.6, listCut: 0, listFails: 0 }, 60],
  ['one list is enough', { lostAnswers: 0.3, stragglers: 0.3, rollback: 'none' }, 60],
  ['no evidence rule', { lostAnswers: 0.3, listCut: 0.5 }, 60],
  ['no fence', { machines: 3, freeze: 0.1, longestFreeze: 600_000 }, 150],
  ['naive retry', { lostAnswers: 0.1 }, 30],
];

describeHarm('a safeguard of the program', CASES);
