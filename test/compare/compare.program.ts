import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { startTestRedis } from '../support/test-redis.ts';
import { factsOf } from './run-story.ts';
import { type Story, storiesFor } from './stories.ts';

// `npm run compare -- --against FOLDER`: this checkout and another one live through the same stories and worlds. Prints what
// only one of them does: bodies that reach the API, outcomes of orders, exit codes. Ends with 1 on a difference that
// `accepted.json` does not have; there are also the mappings of stories that the other side writes in other words.

const { values } = parseArgs({
  options: {
    against: { type: 'string' },
    files: { type: 'string', default: '40' },
    worlds: { type: 'string', default: '10' },
  },
});
const HERE = path.resolve(import.meta.dirname, '../..');
const there = path.resolve(values.against ?? '');
if (values.against === undefined || !existsSync(path.join(there, 'bin/po-sync')))
  throw new Error('use `npm run compare -- --against FOLDER`, a checkout with its packages');
const accepted = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'accepted.json'), 'utf8'),
) as { differences: string[]; mappingsOfTheOther: Record<string, string> };

await using redis = await startTestRedis({ databases: 10_000 });
let database = 0;
const [open, known]: [string[], string[]] = [[], []];
const stories = storiesFor(HERE, Number(values.files));
const others = new Map(storiesFor(there, Number(values.files)).map((one) => [one.name, one]));
for (const story of stories) note(story.name, await both(story, others.get(story.name) ?? story));
for (let seed = 1; seed <= Number(values.worlds); seed += 1)
  note(`world ${seed}`, await Promise.all([HERE, there].map((root) => judgedIn(root, seed))));

const seen = `${stories.length} stories, ${values.worlds} worlds`;
console.log(`${seen}: ${open.length} differences, ${known.length} accepted`);
process.exitCode = open.length > 0 ? 1 : 0;

function both(story: Story, other: Story): Promise<Set<string>[]> {
  const text = accepted.mappingsOfTheOther[story.name];
  const given = text === undefined || !other.mapping ? {} : { mapping: { ...other.mapping, text } };
  const next = () => {
    database += 1;
    return redis.url.replace(/0$/, String(database));
  };
  return Promise.all([
    factsOf(HERE, story, next()),
    factsOf(there, { ...other, ...given }, next()),
  ]);
}

function note(name: string, [here = new Set(), other = new Set()]: Set<string>[]): void {
  const differences = [
    ...[...here.difference(other)].map((fact) => `${name}: only here: ${fact}`),
    ...[...other.difference(here)].map((fact) => `${name}: only there: ${fact}`),
  ];
  for (const one of differences) {
    if (accepted.differences.includes(one)) known.push(one);
    else {
      open.push(one);
      console.log(one);
    }
  }
}

/** The faults that the judge finds in a simulated world; what else happens there depends on what each side draws. */
async function judgedIn(root: string, seed: number): Promise<Set<string>> {
  const program = path.join(root, 'test/simulation/replay.program.ts');
  const options = { cwd: root, maxBuffer: 1e9 };
  const { stdout } = await promisify(execFile)(process.execPath, [program, String(seed)], options);
  return new Set([stdout.slice(stdout.lastIndexOf('faults: '))]);
}
