import { medianRatio } from '../median.ts';
import { figureOf, pace, race } from './race.ts';
import type { Row } from './row.ts';

const LATENCY = 50;

/** The server is slow, like a real one: measures whether po-sync keeps all calls in flight. */
export const slowServer: Row = {
  name: 'latency',
  title: `${LATENCY} ms an answer`,
  async measure(stage) {
    const orders = stage.quick ? 3_200 : 12_800;
    const rounds = stage.quick ? 1 : 3;
    const laps = await race(stage, { orders, rounds, latency: LATENCY });
    const paces = figureOf(laps, pace);
    const steady = figureOf(laps, ({ orders, span }) => (orders / (span + LATENCY)) * 1000);
    return [
      {
        what: 'file to accepted',
        unit: 'orders/s',
        samples: paces,
        compared: true,
        targets: [
          {
            text: '× undici',
            value: medianRatio(paces['po-sync'] ?? [], paces.undici ?? []),
            limit: 0.97,
            sense: 'at least',
          },
        ],
      },
      { what: 'from the first post on', unit: 'orders/s', samples: steady, compared: true },
    ];
  },
};
