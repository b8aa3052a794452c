import { type Fault, judge } from './judge.ts';
import type { ListKind } from './weather.ts';
import { type LiveOptions, live } from './world.ts';

export type FoundFault = { seed: number; fault: Fault; number: string; detail: string };

/** The results of many worlds. */
export type Sum = {
  orders: number;
  accepted: number;
  refused: number;
  failed: number;
  inDoubt: number;
  sent: number;
  deaths: number;
  freezes: number;
  rollbacks: number;
  givenBack: number;
  /** How many worlds have each kind of list. */
  lists: Partial<Record<ListKind, number>>;
  faults: FoundFault[];
  troubles: string[];
};

export function emptySum(): Sum {
  const outcomes = { orders: 0, accepted: 0, refused: 0, failed: 0, inDoubt: 0 };
  return {
    ...outcomes,
    sent: 0,
    deaths: 0,
    freezes: 0,
    rollbacks: 0,
    givenBack: 0,
    lists: {},
    faults: [],
    troubles: [],
  };
}

/** Runs the worlds of `count` seeds from `from` on, adds their results, and judges each. */
export async function liveMany(
  from: number,
  count: number,
  options: LiveOptions = {},
  sum = emptySum(),
): Promise<Sum> {
  for (let seed = from; seed < from + count; seed += 1) {
    const world = await live(seed, options);
    const { faults, ...outcomes } = judge(world);
    for (const name of ['orders', 'accepted', 'refused', 'failed', 'inDoubt'] as const)
      sum[name] += outcomes[name];
    sum.sent += world.sent;
    sum.deaths += world.fates.deaths;
    sum.freezes += world.fates.freezes;
    const { listKind } = world.weather;
    sum.lists[listKind] = (sum.lists[listKind] ?? 0) + 1;
    sum.givenBack += world.givenBack;
    sum.rollbacks += world.rolledBackAt === undefined ? 0 : 1;
    sum.faults.push(...faults.map((found) => ({ seed, ...found })));
    sum.troubles.push(...world.troubles.map((trouble) => `seed ${seed}: ${String(trouble)}`));
  }
  return sum;
}

const TOLD = 3;

/**
 * What a person needs to find a fault: how to run its world again, and the events of its order. Empty without faults.
 */
export async function tell(
  faults: readonly FoundFault[],
  options: LiveOptions = {},
): Promise<string> {
  const { breach = '', change = {} } = options;
  const told: string[] = [];
  for (const { seed, fault, number, detail } of faults.slice(0, TOLD)) {
    const again = `node test/simulation/replay.program.ts ${seed} '${number}' '${breach}' '${JSON.stringify(change)}'`;
    told.push(
      `${fault}: ${number} of seed ${seed} (${detail}); ${again}`,
      ...(await storyOf(seed, number, options)),
    );
  }
  if (faults.length > TOLD) told.push(`and ${faults.length - TOLD} more`);
  return told.join('\n');
}

/** What happened to one order, and to everybody; all of it where no number is given. */
export async function storyOf(
  seed: number,
  number: string,
  options: LiveOptions = {},
): Promise<string[]> {
  const lines: string[] = [];
  await live(seed, { ...options, tell: (line) => lines.push(line) });
  const others = /\bPO-\d+\b/;
  const mine = new RegExp(`\\b${number}\\b`);
  return number === '' ? lines : lines.filter((line) => mine.test(line) || !others.test(line));
}
