import type { Line, Target } from '../line.ts';
import { median, medianRatio } from '../median.ts';
import { figureOf, pace, race } from './race.ts';
import type { Row } from './row.ts';
import type { Lap } from './run-lap.ts';

/** The server answers at once: measures the cost of po-sync itself. */
export const saturated: Row = {
  name: 'saturated',
  title: 'Saturated',
  async measure(stage) {
    const rounds = stage.quick ? 2 : 5;
    const orders = stage.quick ? 10_000 : 20_000;
    const laps = await race(stage, { orders, rounds });
    const paces = figureOf(laps, pace);
    const ours = paces['po-sync'] ?? [];
    const each = (figure: (lap: Lap) => number | undefined) =>
      figureOf(laps, (lap) => {
        const whole = figure(lap);
        return whole === undefined ? undefined : whole / lap.orders;
      });
    const reads = each(({ redis }) => redis?.reads);
    const lines: Line[] = [
      {
        what: 'file to accepted',
        unit: 'orders/s',
        samples: paces,
        compared: true,
        targets: [
          atLeast('× fetch script', medianRatio(ours, paces.fetch ?? []), 2),
          atLeast('× undici', medianRatio(ours, paces.undici ?? []), 0.5),
        ],
      },
      { what: 'processor time an order', unit: 'µs', samples: each(({ cpu }) => cpu) },
      {
        what: 'processor time of Redis an order',
        unit: 'µs',
        samples: each(({ redis }) => redis?.cpu),
      },
      {
        what: 'Redis commands an order, within scripts too',
        unit: '',
        samples: each(({ redis }) => redis?.commands),
      },
      { what: 'Redis scripts an order', unit: '', samples: each(({ redis }) => redis?.scripts) },
      {
        what: 'round trips to Redis an order',
        unit: '',
        samples: reads,
        targets: [
          {
            text: 'more than BullMQ',
            value: median(reads['po-sync'] ?? []) - median(reads.bullmq ?? []),
            limit: 3,
            sense: 'at most',
          },
        ],
      },
    ];
    return lines;
  },
};

function atLeast(text: string, value: number, limit: number): Target {
  return { text, value, limit, sense: 'at least' };
}
