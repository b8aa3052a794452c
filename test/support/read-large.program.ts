import { readFileSync } from 'node:fs';
import { PoSyncError } from '../../src/core/errors.ts';
import { inspectOrders } from '../../src/correct/inspection.ts';
import { readOrderPages } from '../../src/correct/read-orders.ts';

/** Reads one file as the daemon does, both passes, and prints the result and the most memory it took. */
const [, , file = ''] = process.argv;
const before = peakMb();
const result = await read();
process.stdout.write(JSON.stringify({ ...result, peakMb: peakMb(), roomMb: peakMb() - before }));

async function read(): Promise<object> {
  try {
    const inspection = await inspectOrders(file, []);
    let [orders, valid, records] = [0, 0, 0];
    for await (const page of readOrderPages(file, inspection)) {
      orders += page.length;
      for (const order of page) {
        records += order.records.length;
        if (order.valid) valid += 1;
      }
    }
    return { orders, valid, records, proved: inspection.records };
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    return { code: error.code, line: error.facts['line'] };
  }
}

/** The most that the process ever had in memory. */
function peakMb(): number {
  const [, kb = '0'] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Math.round(Number(kb) / 1024);
}
