import type { Line } from '../line.ts';
import { median } from '../median.ts';
import { memoryOf } from '../process-figures.ts';
import type { Stage } from '../stage.ts';
import type { Row } from './row.ts';
import { type Lap, runLap } from './run-lap.ts';

/** Enough files per sample for a clock with a resolution of 10 ms. */
type Size = { orders: number; files: number; samples: number };

/** The cost of one order: microseconds of daemon and Redis, milliseconds, bytes left in Redis. */
type Sample = { cpu: number; milliseconds: number; left: number };

type Measured = { orders: number; samples: Sample[] };

const SMALLEST: Size = { orders: 1_000, files: 10, samples: 3 };
const SIZES: readonly Size[] = [
  SMALLEST,
  { orders: 10_000, files: 1, samples: 3 },
  { orders: 100_000, files: 1, samples: 2 },
];
const QUICK: readonly Size[] = [
  { ...SMALLEST, files: 5, samples: 1 },
  { orders: 10_000, files: 1, samples: 1 },
];

/** The cost of an order in small and large files, and the memory that the largest leaves in Redis. */
export const sizes: Row = {
  name: 'sizes',
  title: 'File sizes',
  measure: async (stage) => {
    const measured = await measureSizes(stage, stage.quick ? QUICK : SIZES);
    const small = medianOf(
      measured.find(({ orders }) => orders === SMALLEST.orders)?.samples ?? [],
      'cpu',
    );
    const peak = memoryOf((await stage.poSync()).pid, 'peak');
    return [
      ...measured.flatMap((size) => linesOf(size, small)),
      {
        what: 'Redis memory that an order of the largest file leaves',
        unit: 'B',
        samples: { 'po-sync': measured.at(-1)?.samples.map(({ left }) => left) ?? [] },
      },
      {
        what: 'most memory of the daemon after all these files',
        unit: 'MB',
        samples: { 'po-sync': [peak] },
        targets: [{ text: 'MB', value: peak, limit: 200, sense: 'at most' }],
      },
    ];
  },
};

/** Measures the sizes in turn. */
async function measureSizes(stage: Stage, all: readonly Size[]): Promise<Measured[]> {
  const measured = all.map((size) => ({ ...size, left: size.samples, samples: [] as Sample[] }));
  while (measured.some(({ left }) => left > 0)) {
    for (const size of measured.filter(({ left }) => left > 0)) {
      const sample = await sampleOf(stage, size);
      size.left -= 1;
      size.samples.push(sample);
      stage.say(
        `  ${size.orders} orders: ${sample.cpu.toFixed(0)} µs, ${sample.milliseconds.toFixed(3)} ms an order`,
      );
    }
  }
  return measured;
}

async function sampleOf(
  stage: Stage,
  { orders, files }: { orders: number; files: number },
): Promise<Sample> {
  const laps: Lap[] = [];
  for (let i = 0; i < files; i += 1)
    laps.push(await runLap(stage, 'po-sync', await stage.writeFile(orders), 0));
  const each = (figure: (lap: Lap) => number) =>
    laps.reduce((sum, lap) => sum + figure(lap), 0) / files / orders;
  return {
    cpu: each(({ cpu, redis }) => cpu + (redis?.cpu ?? 0)),
    milliseconds: each(({ milliseconds }) => milliseconds),
    left: each(({ redis }) => redis?.memory ?? 0),
  };
}

function linesOf({ orders, samples }: Measured, small: number): Line[] {
  const size = `${orders.toLocaleString('en')} orders`;
  const relative = medianOf(samples, 'cpu') / small;
  const targets = [{ text: '× at 1,000', value: relative, limit: 1.05, sense: 'at most' as const }];
  return [
    {
      what: `${size}: processor time of daemon and Redis an order`,
      unit: 'µs',
      samples: { 'po-sync': samples.map(({ cpu }) => cpu) },
      ...(orders === SMALLEST.orders ? {} : { targets }),
    },
    {
      what: `${size}: file to accepted`,
      unit: 'orders/s',
      samples: { 'po-sync': samples.map(({ milliseconds }) => 1000 / milliseconds) },
    },
  ];
}

function medianOf(samples: readonly Sample[], figure: keyof Sample): number {
  return median(samples.map((sample) => sample[figure]));
}
