import { randomInt } from 'node:crypto';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { memoryOf } from '../../bench/process-figures.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { CREDENTIALS, startSandboxProcess } from '../support/sandbox-process.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { bearerOf, listedNumbers } from './listed-numbers.ts';
import { type Life, startLives } from './lives.ts';

// `npm run soak -- --minutes N`: steady load, 5 % faults, and kills. Prints a table, and exits with 1 if an order is
// lost or duplicated, or if something grows that must not.

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    /** Orders a second. */
    rate: { type: 'string', default: '2' },
    /** Minutes between two `kill -9`. */
    kill: { type: 'string', default: '15' },
  },
});
const minutes = Number(values.minutes);
const rate = Number(values.rate);
const killEvery = Number(values.kill) * 60_000;

const FAULTS = `seed: 7
faults:
  - { kind: answer, status: 503, share: 1% }
  - { kind: drop, when: before, share: 1% }
  - { kind: drop, when: after, share: 1% }
  - { kind: answer, status: 502, body: html, when: after, share: 1% }
  - { kind: delay, by: 50ms..2s, share: 1% }
`;

/** Files of a few orders, as an ERP drops them. */
const PER_FILE = 20;
/** Share of the run that warms up, before figures are compared. */
const WARM_UP = 0.2;

type Sample = {
  minute: number;
  life: number;
  memory: number;
  descriptors: number;
  redis: number;
  orders: number;
  log: number;
};

await using stack = new AsyncDisposableStack();
const { path: folder } = stack.use(await makeTempFolder());
const redis = stack.use(await startTestRedis());
await writeFile(path.join(folder, 'faults.yaml'), FAULTS);
const flags = ['--faults', path.join(folder, 'faults.yaml')];
const sandbox = stack.use(await startSandboxProcess(path.join(folder, 'sandbox'), flags));
await mkdir(path.join(folder, 'inbox'));
await writeFile(
  path.join(folder, 'po-sync.yaml'),
  `environment: staging
data: data
redis: { url: '${redis.url}' }
environments:
  staging: { baseUrl: '${sandbox.baseUrl}', authUrl: '${sandbox.authUrl}' }
sources:
  - { name: inbox, type: inbox, path: inbox, stable: 200ms, poll: 1s }
reports: { path: reports, keep: 10m }
delivery: { settle: 5s, timeout: 5s, backoff: { initial: 100ms, max: 5s }, probe: { initial: 500ms, max: 5s } }
admin: { port: 0 }
`,
);
const lives = startLives(folder, CREDENTIALS);
stack.defer(async () => void (await lives.end()));
const client = await connectRedis(redis.url);
stack.defer(() => client.disconnect());

const began = performance.now();
const elapsed = () => performance.now() - began;
const samples: Sample[] = [];
const dropped: string[] = [];
let nextKill = killEvery - 10_000;
let nextSample = 60_000;

while (elapsed() < minutes * 60_000) {
  await dropFile();
  if (elapsed() > nextSample) {
    nextSample += 60_000;
    samples.push(await sample(lives.current()));
    print(samples.at(-1));
  }
  if (elapsed() > nextKill) {
    nextKill += killEvery;
    await delay(randomInt(2_000));
    lives.kill();
  }
  await delay((PER_FILE / rate) * 1_000);
}
const isDrained = await drained(10 * 60_000);
const numbers = await listedNumbers(sandbox.baseUrl, await bearerOf(sandbox.authUrl, CREDENTIALS));
process.exitCode = verdict(numbers, isDrained) ? 0 : 1;

async function dropFile(): Promise<void> {
  const rows = Array.from({ length: PER_FILE }, (_, i) => {
    const number = `S-${String(dropped.length + i).padStart(7, '0')}`;
    return `${number},NEW,ART-${i % 9},${1 + (i % 5)}`;
  });
  dropped.push(...rows.map((row) => row.split(',')[0] ?? ''));
  const draft = path.join(folder, 'draft');
  await writeFile(
    draft,
    `purchaseOrderNumber,orderState,articleCode,quantity\n${rows.join('\n')}\n`,
  );
  await rename(draft, path.join(folder, 'inbox', `orders-${dropped.length}.csv`));
}

async function sample({ pid, nth, logged }: Life): Promise<Sample> {
  const used = Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
  return {
    minute: Math.round(elapsed() / 60_000),
    life: nth,
    memory: memoryOf(pid, 'now'),
    descriptors: (await readdir(`/proc/${pid}/fd`)).length,
    redis: used / 1024 / 1024,
    orders: dropped.length,
    log: logged(),
  };
}

function print(one: Sample | undefined): void {
  if (one === undefined) return;
  if (samples.length === 1) {
    console.log(
      '| minute | start | orders | memory MB | descriptors | Redis MB | log MB |\n|--:|--:|--:|--:|--:|--:|--:|',
    );
  }
  const cells = [
    one.minute,
    one.life,
    one.orders,
    one.memory.toFixed(0),
    one.descriptors,
    one.redis.toFixed(1),
  ];
  console.log(`| ${cells.join(' | ')} | ${(one.log / 1024 / 1024).toFixed(2)} |`);
}

/** Waits until the daemon has nothing left to do. */
async function drained(within: number): Promise<boolean> {
  const until = performance.now() + within;
  while (performance.now() < until) {
    const names = await readdir(path.join(folder, 'inbox'), { withFileTypes: true });
    const isTaken = !names.some((one) => one.isFile() && one.name.endsWith('.csv'));
    if (isTaken && (await lives.unsettled()) === 0) return true;
    await delay(2_000);
  }
  return false;
}

function verdict(numbers: readonly string[], isEnded: boolean): boolean {
  const times = new Map<string, number>();
  for (const number of numbers) times.set(number, (times.get(number) ?? 0) + 1);
  const lost = dropped.filter((number) => !times.has(number)).length;
  const double = [...times.values()].filter((count) => count > 1).length;
  const warm = samples.slice(Math.floor(samples.length * WARM_UP));
  const checks = [
    [
      `${dropped.length} orders, ${lost} lost, ${double} duplicate, ${lives.kills()} kills`,
      lost + double === 0,
    ],
    [`everything ended: ${isEnded}`, isEnded],
    growth('memory of the daemon, MB', warm, ({ memory }) => memory, 0.25),
    growth('descriptors', warm, ({ descriptors }) => descriptors, 0.25),
    growth('log bytes an order', warm, ({ log, orders }) => log / orders, 0.25),
    growth('Redis bytes an order', warm, (one) => (one.redis * 1024 * 1024) / one.orders, 0.25),
  ] as const;
  for (const [text, isWell] of checks) console.log(`${isWell ? 'ok    ' : 'FAILED'} ${text}`);
  return checks.every(([, isWell]) => isWell);
}

/** Compares the medians of the first and the last third; `most` is the share by which the last may be larger. */
function growth(
  name: string,
  all: readonly Sample[],
  of: (one: Sample) => number,
  most: number,
): [string, boolean] {
  const third = Math.max(1, Math.floor(all.length / 3));
  const [first, last] = [median(all.slice(0, third).map(of)), median(all.slice(-third).map(of))];
  return [
    `${name}: ${first.toFixed(1)} in the first third, ${last.toFixed(1)} in the last`,
    last <= first * (1 + most),
  ];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
