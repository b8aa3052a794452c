import { judge } from './judge.ts';
import { BREACHES, type Breach } from './weather.ts';
import { live } from './world.ts';
import { storyOf } from './worlds.ts';

/** Lives one world again and tells its story: `node test/simulation/replay.program.ts SEED [ORDER] [BREACH…]`. */
const [seed = '1', number = '', ...words] = process.argv.slice(2);
const breach = BREACHES.find((one): one is Breach => one === words.join(' '));
for (const line of await storyOf(Number(seed), number, { breach })) console.log(line);
console.log(judge(await live(Number(seed), { breach })));
