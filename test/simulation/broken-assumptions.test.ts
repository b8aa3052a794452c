import { afterAll, describe, expect, it } from 'vitest';
import type { Fault } from './judge.ts';
import type { Breach, Weather } from './weather.ts';
import { liveMany, tell } from './worlds.ts';

/** What is left out, the weather in which it is missed most, and in how many worlds. */
type Case = [breach: Breach, change: Partial<Weather>, worlds: number];

const SAFEGUARDS: Case[] = [
  ['no intent', { crash: 0.02 }, 60],
  ['no freshness check', { machines: 3, freeze: 0.2, longestFreeze: 600_000, suspends: 0 }, 250],
  ['no settle', { lostAnswers: 0.6, listCut: 0, listFails: 0 }, 60],
  ['one list is enough', { lostAnswers: 0.3, stragglers: 0.3, rollback: 'none' }, 60],
  ['no evidence rule', { lostAnswers: 0.3, listCut: 0.5 }, 60],
  ['no fence', { machines: 3, freeze: 0.1, longestFreeze: 600_000 }, 150],
  ['naive retry', { lostAnswers: 0.1 }, 30],
];

const ASSUMPTIONS: Case[] = [
  ['rollback unnoticed', { rollback: 'older' }, 60],
  ['late commits', { lostAnswers: 0.5 }, 60],
  ['lagging list', { lostAnswers: 0.5, rollback: 'none' }, 60],
  ['list cut unseen', { lostAnswers: 0.3 }, 60],
  ['frozen between check and write', {}, 60],
];

/** Orders that came to harm; one that waits for ever or counts wrongly harms nobody yet. */
const HARM: readonly Fault[] = ['double', 'lost', 'falsely given up'];

describe.each([
  ['a safeguard of the program', SAFEGUARDS],
  ['an assumption about the world', ASSUMPTIONS],
])('without %s', (_, cases) => {
  const found: string[] = [];

  it.each(cases)('orders come to harm, and with it none does: %s', async (breach, change, worlds) => {
    const sound = await liveMany(1, worlds, { change });
    expect(await tell(sound.faults, { change })).toBe('');
    const broken = await liveMany(1, worlds, { breach, change });
    const harmed = broken.faults.filter(({ fault }) => HARM.includes(fault));
    const doubled = harmed.filter(({ fault }) => fault === 'double').length;
    found.push(`${breach}: ${doubled} double, ${harmed.length - doubled} falsely given up of ${broken.orders}`);
    expect(doubled).toBeGreaterThan(0);
  });

  afterAll(() => console.log(found.join('\n')));
});
