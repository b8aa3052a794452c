import type { Delivered } from '../contenders/contender.ts';
import type { Line } from '../line.ts';
import { median } from '../median.ts';
import { memoryOf } from '../process-figures.ts';
import type { Stage } from '../stage.ts';
import type { Row } from './row.ts';

/** So many files of so many orders, one after the other, are one sample: enough for a clock of hundredths. */
type Size = { orders: number; files: number; samples: number };

type Sample = { cpu: number; milliseconds: number };

const SIZES: readonly Size[] = [
  { orders: 1_000, files: 10, samples: 3 },
  { orders: 10_000, files: 1, samples: 3 },
  { orders: 100_000, files: 1, samples: 2 },
];

const QUICK: readonly Size[] = [
  { orders: 1_000, files: 5, samples: 1 },
  { orders: 10_000, files: 1, samples: 1 },
];

/** What an order costs in small and large files; what the largest leaves behind. */
export const sizes: Row = {
  name: 'sizes',
  title: 'File sizes',
  measure: async (stage) => {
    const measured = stage.quick ? QUICK : SIZES;
    const poSync = await stage.poSync();
    // Warm: what small files cost is not the compiler's work.
    await deliverFiles(stage, 1, 10_000);
    const samples = new Map<number, Sample[]>(measured.map(({ orders }) => [orders, []]));
    const most = Math.max(...measured.map((size) => size.samples));
    let kept = 0;
    for (let round = 0; round < most; round += 1) {
      for (const size of measured.filter((one) => one.samples > round)) {
        const { sample, bytes } = await sampleOf(stage, size);
        samples.get(size.orders)?.push(sample);
        kept = bytes;
        stage.say(
          `  ${size.orders} orders: ${sample.cpu.toFixed(0)} µs, ${sample.milliseconds.toFixed(3)} ms an order`,
        );
      }
    }
    return [
      ...[...samples].flatMap(([orders, of]) => linesOf(orders, of, samples.get(1_000) ?? [])),
      {
        what: 'most memory of the daemon',
        unit: 'MB',
        samples: { 'po-sync': [memoryOf(poSync.pid, 'peak')] },
        targets: [{ text: 'MB', value: memoryOf(poSync.pid, 'peak'), limit: 200, sense: 'at most' }],
      },
      { what: 'Redis memory left by an order of the largest file', unit: 'B', samples: { 'po-sync': [kept] } },
    ];
  },
};

async function sampleOf(stage: Stage, { orders, files }: Size): Promise<{ sample: Sample; bytes: number }> {
  const delivered = await deliverFiles(stage, files, orders);
  const each = (figure: (one: Delivered) => number) =>
    delivered.reduce((sum, one) => sum + figure(one), 0) / files / orders;
  return {
    sample: {
      cpu: each(({ cpu, redis }) => cpu + (redis?.cpu ?? 0)),
      milliseconds: each(({ milliseconds }) => milliseconds),
    },
    bytes: each(({ redis }) => redis?.memory ?? 0),
  };
}

async function deliverFiles(stage: Stage, files: number, orders: number): Promise<Delivered[]> {
  const poSync = await stage.poSync();
  const delivered: Delivered[] = [];
  for (let i = 0; i < files; i += 1) {
    const file = await stage.writeFile(orders);
    const { result } = await stage.api.judge(file, 0, () => poSync.deliver(file));
    delivered.push(result);
  }
  return delivered;
}

function linesOf(orders: number, samples: readonly Sample[], small: readonly Sample[]): Line[] {
  const cpu = samples.map((sample) => sample.cpu);
  const relative = median(cpu) / median(small.map((sample) => sample.cpu));
  const line: Line = {
    what: `${orders.toLocaleString('en')} orders: processor time of daemon and Redis an order`,
    unit: 'µs',
    samples: { 'po-sync': cpu },
  };
  return [
    orders === 100_000
      ? { ...line, targets: [{ text: '× at 1,000', value: relative, limit: 1.05, sense: 'at most' }] }
      : line,
    {
      what: `${orders.toLocaleString('en')} orders: file to accepted`,
      unit: 'orders/s',
      samples: { 'po-sync': samples.map(({ milliseconds }) => 1000 / milliseconds) },
    },
  ];
}
