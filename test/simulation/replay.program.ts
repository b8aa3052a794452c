import { judge } from './judge.ts';
import { BREACHES } from './weather.ts';
import { live } from './world.ts';
import { storyOf } from './worlds.ts';

/**
 * Runs one world again and prints its events: `node test/simulation/replay.program.ts SEED [ORDER] [BREACH] [CHANGE]`.
 */
const [seed = '1', number = '', word = '', change = '{}'] = process.argv.slice(2);
const options = { breach: BREACHES.find((breach) => breach === word), change: JSON.parse(change) };
for (const line of await storyOf(Number(seed), number, options)) console.log(line);
console.log(judge(await live(Number(seed), options)));
