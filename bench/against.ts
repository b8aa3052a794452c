import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Api, startApi } from './api/start-api.ts';
import { openPoSync, type PoSync } from './contenders/po-sync.ts';
import { median } from './median.ts';
import type { Options } from './options.ts';
import { writeOrderFile } from './order-file.ts';

/** One delivery of one file: orders a second, and microseconds of daemon and Redis per order. */
export type Sample = { pace: number; cpu: number };

/** Both checkouts with the same file, one directly after the other. */
export type Pair = { ours: Sample; theirs: Sample };

type Load = { name: string; title: string; orders: number; latency: number; pairs: number };

const LOADS: readonly Load[] = [
  { name: 'saturated', title: 'Saturated', orders: 20_000, latency: 0, pairs: 8 },
  { name: 'latency', title: '50 ms an answer', orders: 12_800, latency: 50, pairs: 5 },
];
const WARM = 10_000;

/**
 * Delivers the same files with this checkout and with the one in `folder`, in alternating pairs, and gives a table of
 * ratios: ours divided by theirs, the median of all pairs with the lowest and the highest.
 */
export async function compareWith(
  folder: string,
  { quick, only }: Pick<Options, 'quick' | 'only'>,
): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const root = await mkdtemp(path.join(tmpdir(), 'po-sync-against-'));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  const api = stack.use(await startApi());
  const open = async (launcher?: string) =>
    stack.use(await openPoSync(await mkdtemp(path.join(root, 'place-')), api, launcher));
  const ours = await open();
  const theirs = await open(path.resolve(folder, 'bin/po-sync'));
  const deliver = (poSync: PoSync, orders: number, latency: number) =>
    sampleOf(root, api, poSync, orders, latency);
  for (const poSync of [ours, theirs]) await deliver(poSync, WARM, 0);

  const lines: string[] = [];
  for (const { title, orders, latency, pairs } of LOADS.filter(
    (load) => only?.includes(load.name) ?? true,
  )) {
    const all: Pair[] = [];
    for (let nth = 0; nth < (quick ? 2 : pairs); nth += 1) {
      const size = quick ? orders / 4 : orders;
      all.push(await alternate(nth, (poSync) => deliver(poSync, size, latency), ours, theirs));
      process.stderr.write(
        `${title}, pair ${nth + 1}: ${ratioText(all.slice(-1), 'pace')} × the pace\n`,
      );
    }
    lines.push(
      `${title}: ${ratioText(all, 'pace')} × the pace, ${ratioText(all, 'cpu')} × the processor time per order`,
    );
  }
  return lines.join('\n');
}

/** Who goes first alternates, so that a slow moment does not always hit the same side. */
async function alternate(
  nth: number,
  deliver: (poSync: PoSync) => Promise<Sample>,
  ours: PoSync,
  theirs: PoSync,
): Promise<Pair> {
  if (nth % 2 === 0) return { ours: await deliver(ours), theirs: await deliver(theirs) };
  const second = await deliver(theirs);
  return { ours: await deliver(ours), theirs: second };
}

async function sampleOf(
  root: string,
  api: Api,
  poSync: PoSync,
  orders: number,
  latency: number,
): Promise<Sample> {
  const file = await writeOrderFile(root, orders);
  const { result } = await api.judge(file, latency, () => poSync.deliver(file));
  return {
    pace: (orders / result.milliseconds) * 1000,
    cpu: (result.cpu + (result.redis?.cpu ?? 0)) / orders,
  };
}

/** `0.97 (0.93–1.02)`: the median of ours divided by theirs, and its range. */
function ratioText(pairs: readonly Pair[], figure: keyof Sample): string {
  const ratios = pairs.map(({ ours, theirs }) => ours[figure] / theirs[figure]);
  const text = (value: number) => value.toFixed(2);
  if (ratios.length === 1) return text(ratios[0] ?? Number.NaN);
  return `${text(median(ratios))} (${text(Math.min(...ratios))}–${text(Math.max(...ratios))})`;
}
