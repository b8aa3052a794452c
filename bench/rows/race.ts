import type { Delivered } from '../contenders/contender.ts';
import type { OrderFile } from '../order-file.ts';
import type { RivalName, Stage } from '../stage.ts';

/** One contender's round. `span`: from the first post to the last, in milliseconds, as the API saw it. */
export type Lap = Delivered & { orders: number; span: number };

type Racer = 'po-sync' | RivalName;

/** All laps of all who took part. */
type Laps = Partial<Record<Racer, Lap[]>>;

/** Until then programs are still being compiled. */
const WARM = 10_000;

/**
 * Lets po-sync and its rivals deliver the same file one after the other, and again for each round, so that a slow
 * moment of the machine hits all. A first round warms them up and is not counted.
 */
export async function race(
  stage: Stage,
  { orders, rounds, latency = 0 }: { orders: number; rounds: number; latency?: number },
): Promise<Laps> {
  const laps: Laps = {};
  const racers: readonly Racer[] = ['po-sync', ...stage.rivals];
  const warm = await stage.writeFile(WARM);
  for (const racer of racers) await runLap(stage, racer, warm, 0);
  for (let round = 1; round <= rounds; round += 1) {
    const file = await stage.writeFile(orders);
    for (const racer of racers) {
      const lap = await runLap(stage, racer, file, latency);
      laps[racer] = [...(laps[racer] ?? []), lap];
      const spent = `${Math.round(pace(lap))} orders/s, ${Math.round(lap.cpu / orders)} µs an order`;
      stage.say(`  round ${round}, ${racer}: ${spent}`);
    }
  }
  return laps;
}

async function runLap(stage: Stage, racer: Racer, file: OrderFile, latency: number): Promise<Lap> {
  const contender = racer === 'po-sync' ? await stage.poSync() : await stage.rival(racer);
  const { result, seen } = await stage.api.judge(file, latency, () => contender.deliver(file));
  return { ...result, orders: file.orders, span: seen.lastAt - seen.firstAt };
}

/** A figure of every lap of every racer who has it. */
export function figureOf(laps: Laps, figure: (lap: Lap) => number | undefined): Partial<Record<Racer, number[]>> {
  const found: Partial<Record<Racer, number[]>> = {};
  for (const racer of Object.keys(laps) as Racer[]) {
    const values = (laps[racer] ?? []).map(figure).filter((value) => value !== undefined);
    if (values.length > 0) found[racer] = values;
  }
  return found;
}

export const pace = ({ orders, milliseconds }: Lap): number => (orders / milliseconds) * 1000;
