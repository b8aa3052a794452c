import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import { inspectOrders } from '../../src/correct/inspection.ts';
import { readOrderPages } from '../../src/correct/read-orders.ts';
import { medianRatio } from '../median.ts';
import type { Row } from './row.ts';

/** Both passes over a table, with mapping and checks, against one bare csv-parse pass over the same file. */
export const intake: Row = {
  name: 'intake',
  title: 'Intake alone',
  measure: async (stage) => {
    const { path: file, orders } = await stage.writeFile(stage.quick ? 50_000 : 200_000);
    const [ours, bare]: [number[], number[]] = [[], []];
    for (let round = 0; round < (stage.quick ? 2 : 5); round += 1) {
      ours.push((await cpuFor(() => readBoth(file))) / orders);
      bare.push((await cpuFor(() => readBare(file))) / orders);
      stage.say(`  ${ours.at(-1)?.toFixed(1)} µs, bare ${bare.at(-1)?.toFixed(1)} µs an order`);
    }
    return [
      {
        what: 'processor time an order of two rows',
        unit: 'µs',
        samples: { 'po-sync': ours, bare },
      },
      {
        what: 'as a multiple of bare csv-parse',
        unit: '',
        samples: { 'po-sync': [medianRatio(ours, bare)] },
      },
    ];
  },
};

async function readBoth(file: string): Promise<void> {
  const inspection = await inspectOrders(file, []);
  for await (const page of readOrderPages(file, inspection)) void page;
}

async function readBare(file: string): Promise<void> {
  for await (const row of createReadStream(file).pipe(parse())) void row;
}

/** Processor time in microseconds. */
async function cpuFor(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
