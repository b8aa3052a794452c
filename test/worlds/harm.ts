import { afterAll, describe, expect, it } from 'vitest';
import type { Fault } from '../simulation/judge.ts';
import type { Breach, Weather } from '../simulation/weather.ts';
import { liveMany, tell } from '../simulation/worlds.ts';

/** What is left out, the weather in which it is missed most, in how many worlds, and what harm it causes. */
export type Case = [breach: Breach, change: Partial<Weather>, worlds: number, harm?: Fault];

/** Orders that were harmed; one that waits forever or counts wrongly harms nobody yet. */
const HARM: readonly Fault[] = ['double', 'lost', 'falsely given up'];

/** Worlds without a safeguard may have no end. Those with all of them take up to 40,000 turns. */
const TURNS_WITHOUT = 40_000;

/** Each case harms no order as the world is, and some once something is left out. */
export function describeHarm(what: string, cases: readonly Case[]): void {
  describe(`without ${what}`, () => {
    const found: string[] = [];

    it.each(cases)(
      'orders are harmed, and with it none are: %s',
      async (breach, change, worlds, harm = 'double') => {
        const sound = await liveMany(1, worlds, { change });
        expect(await tell(sound.faults, { change })).toBe('');
        const broken = await liveMany(1, worlds, { breach, change, mostTurns: TURNS_WITHOUT });
        const harmed = broken.faults.filter(({ fault }) => HARM.includes(fault));
        const doubled = harmed.filter(({ fault }) => fault === 'double').length;
        const other =
          harm === 'double'
            ? ''
            : `, ${broken.faults.filter(({ fault }) => fault === harm).length} ${harm}`;
        found.push(
          `${breach}: ${doubled} double, ${harmed.length - doubled} falsely given up${other} of ${broken.orders}`,
        );
        expect(broken.faults.map(({ fault }) => fault)).toContain(harm);
      },
    );

    afterAll(() => console.log(found.join('\n')));
  });
}
