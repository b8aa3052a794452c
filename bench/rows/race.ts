import type { Stage } from '../stage.ts';
import { type Lap, type Racer, runLap } from './run-lap.ts';

/** All laps of all participants. */
type Laps = Partial<Record<Racer, Lap[]>>;

/**
 * Lets po-sync and its rivals deliver the same file in turn, in each round, so that a slow phase of the machine
 * affects all.
 */
export async function race(
  stage: Stage,
  { orders, rounds, latency = 0 }: { orders: number; rounds: number; latency?: number },
): Promise<Laps> {
  const laps: Laps = {};
  const racers: readonly Racer[] = ['po-sync', ...stage.rivals];
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

/** One figure of every lap, for every racer that has it. */
export function figureOf(
  laps: Laps,
  figure: (lap: Lap) => number | undefined,
): Partial<Record<Racer, number[]>> {
  const found: Partial<Record<Racer, number[]>> = {};
  for (const racer of Object.keys(laps) as Racer[]) {
    const values = (laps[racer] ?? []).map(figure).filter((value) => value !== undefined);
    if (values.length > 0) found[racer] = values;
  }
  return found;
}

export const pace = ({ orders, milliseconds }: Lap): number => (orders / milliseconds) * 1000;
