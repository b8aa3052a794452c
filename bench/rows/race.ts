import type { Delivered } from '../contenders/contender.ts';
import type { RivalName, Stage } from '../stage.ts';

/** One contender's round. `span`: from the first post to the last, in milliseconds, as the API saw it. */
export type Lap = Delivered & { orders: number; span: number };

export type Racer = 'po-sync' | RivalName;

/**
 * Lets contenders deliver the same file one after the other, and again for each round, so that a slow moment of the
 * machine hits all. A first round warms them up and is not counted.
 */
export async function race<R extends Racer>(
  stage: Stage,
  racers: readonly R[],
  { orders, rounds, latency = 0 }: { orders: number; rounds: number; latency?: number },
): Promise<Record<R, Lap[]>> {
  const laps = Object.fromEntries(racers.map((racer) => [racer, [] as Lap[]])) as unknown as Record<R, Lap[]>;
  for (let round = 0; round <= rounds; round += 1) {
    const file = await stage.writeFile(round === 0 ? Math.min(orders, 5_000) : orders);
    for (const racer of racers) {
      const contender = racer === 'po-sync' ? await stage.poSync() : await stage.rival(racer);
      const { result, seen } = await stage.api.judge(file, latency, () => contender.deliver(file));
      const lap = { ...result, orders: file.orders, span: seen.lastAt - seen.firstAt };
      if (round === 0) continue;
      laps[racer].push(lap);
      const pace = Math.round((orders / lap.milliseconds) * 1000);
      stage.say(`  round ${round}, ${racer}: ${pace} orders/s, ${Math.round(lap.cpu / orders)} µs an order`);
    }
  }
  return laps;
}

/** A figure of every lap of every racer. */
export function figureOf<R extends Racer>(
  laps: Record<R, Lap[]>,
  figure: (lap: Lap) => number | undefined,
): Partial<Record<R, number[]>> {
  const found: Partial<Record<R, number[]>> = {};
  for (const racer of Object.keys(laps) as R[]) {
    const values = laps[racer].map(figure).filter((value) => value !== undefined);
    if (values.length > 0) found[racer] = values;
  }
  return found;
}

export const pace = ({ orders, milliseconds }: Lap): number => (orders / milliseconds) * 1000;
