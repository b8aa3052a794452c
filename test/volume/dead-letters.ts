import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { startTestRedis } from '../support/test-redis.ts';
import { csvOf, type Ended, openWorkplace, type Workplace } from '../support/workplace.ts';

/** What a command needed: seconds, and the most memory it had, in MB. */
export type Cost = { seconds: number; peakMb: number };

export type ManyDeadFigures = {
  /** Orders that the API refused at first, and rows that failed a check. */
  refused: number;
  invalid: number;
  /** A command that has nothing to do with them. */
  idle: Cost;
  list: Cost & { told: number };
  filter: Cost & { told: number };
  /** `list --json`, written to a file. */
  exported: Cost & { told: number };
  retry: Cost & { queued: number };
  discard: Cost & { givenUp: number };
  /** What is open in the end, of what was retried and of what was discarded. */
  left: number[];
  /** Orders that the API stored more than once, or never. */
  wrong: number;
};

/** Nine of ten orders of a file are refused at their first attempt; the rows of another are wrong. */
export async function manyDeadLetters(orders: number): Promise<ManyDeadFigures> {
  await using redis = await startTestRedis();
  const refusal = {
    kind: 'answer',
    status: 400,
    message: 'articleCode is unknown',
    attempts: '1',
    share: 0.9,
  };
  await using place = await openWorkplace({
    redis: redis.url,
    faults: { faults: [refusal] },
    delivery: ', refusalHold: { share: 100%, of: 10000 }',
  });
  await settle(place, 'refused.csv', csvOf(orders), 2);
  await settle(place, 'wrong.csv', csvOf(orders, orders + 1).replace(/\d+$/gm, 'none'), 2);
  const [refused = 0, invalid = 0] = await open(place);
  const idle = await measured(place, ['batches', 'list']);
  const list = await measured(place, ['dead-letters', 'list', '--limit', '10']);
  const filter = await measured(place, [
    'dead-letters',
    'list',
    '--kind',
    'refused',
    '--limit',
    '10',
  ]);
  const exported = await measured(place, ['--json', 'dead-letters', 'list']);
  const retry = await measured(place, ['dead-letters', 'retry', '--kind', 'refused', '--yes']);
  await run(place, 0);
  const discard = await measured(place, ['dead-letters', 'discard', '--kind', 'invalid', '--yes']);
  const stored = place.stored();
  const numbers = Array.from({ length: orders }, (_, i) => `PO-${i + 1}`);
  return {
    refused,
    invalid,
    idle: costOf(idle),
    list: { ...costOf(list), told: countIn(list, /([\d,]+) dead letters, grouped by error/) },
    filter: { ...costOf(filter), told: countIn(filter, /([\d,]+) dead letters, grouped by error/) },
    exported: {
      ...costOf(exported),
      told: (JSON.parse(exported.out) as { deadLetters: object[] }).deadLetters.length,
    },
    retry: { ...costOf(retry), queued: countIn(retry, /([\d,]+) orders queued/) },
    discard: { ...costOf(discard), givenUp: countIn(discard, /([\d,]+) orders discarded/) },
    left: await open(place),
    wrong: numbers.filter((number) => stored.get(number) !== 1).length + stored.size - orders,
  };
}

async function settle(
  place: Workplace,
  name: string,
  content: string,
  code: number,
): Promise<void> {
  await place.drop(name, content);
  await run(place, code);
}

async function run(place: Workplace, code: number): Promise<void> {
  const ended = await place.run(['start', '--once']);
  if (ended.code !== code) throw new Error(`start --once ended with ${ended.code}: ${ended.err}`);
}

async function open(place: Workplace): Promise<number[]> {
  return (await place.reportsNow()).map((report) => report.open);
}

type Measured = Ended & Cost;

async function measured(place: Workplace, args: readonly string[]): Promise<Measured> {
  const began = performance.now();
  const { child, ended } = place.spawn(args);
  let peak = 0;
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0));
    await delay(20);
  }
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  return { ...(await ended), seconds, peakMb: Math.round(peak / 1024) };
}

function costOf({ seconds, peakMb, code, err }: Measured): Cost {
  if (code !== 0 || err !== '') throw new Error(`ended with ${code}: ${err}`);
  return { seconds, peakMb };
}

function countIn({ out }: Ended, pattern: RegExp): number {
  return Number((pattern.exec(out)?.[1] ?? '').replaceAll(',', ''));
}
