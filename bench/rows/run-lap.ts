import type { Delivered } from '../contenders/contender.ts';
import type { OrderFile } from '../order-file.ts';
import type { RivalName, Stage } from '../stage.ts';

/** One contender's delivery of one file. `span`: from the first to the last post as the API received them, in ms. */
export type Lap = Delivered & { orders: number; span: number };

export type Racer = 'po-sync' | RivalName;

/** Orders before the measurement, until the program is compiled. */
const WARM = 10_000;

const warm = new WeakMap<Stage, Set<Racer>>();

/** Lets a contender deliver a file with `latency` milliseconds per answer, after a warm-up the first time. */
export async function runLap(
  stage: Stage,
  racer: Racer,
  file: OrderFile,
  latency: number,
): Promise<Lap> {
  const warmed = warm.get(stage) ?? new Set();
  warm.set(stage, warmed);
  if (!warmed.has(racer)) await deliver(stage, racer, await stage.writeFile(WARM), 0);
  warmed.add(racer);
  return deliver(stage, racer, file, latency);
}

async function deliver(stage: Stage, racer: Racer, file: OrderFile, latency: number): Promise<Lap> {
  const contender = racer === 'po-sync' ? await stage.poSync() : await stage.rival(racer);
  const { result, seen } = await stage.api.judge(file, latency, () => contender.deliver(file));
  return { ...result, orders: file.orders, span: seen.lastAt - seen.firstAt };
}
