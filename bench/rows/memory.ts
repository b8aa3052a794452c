import { openPoSync } from '../contenders/po-sync.ts';
import type { Line } from '../line.ts';
import type { FileKind } from '../order-file.ts';
import { memoryOf } from '../process-figures.ts';
import type { Stage } from '../stage.ts';
import type { Row } from './row.ts';

/** An ordinary CSV is measured with the file sizes. */
const FILES: readonly { kind: FileKind; orders: number; what: (orders: string) => string }[] = [
  {
    kind: 'apart',
    orders: 100_000,
    what: (orders) => `a CSV of ${orders} orders with non-contiguous rows`,
  },
  { kind: 'workbook', orders: 10_000, what: (orders) => `a workbook of ${orders} orders` },
];

/** The most memory of a fresh daemon, for files that are hard on it. */
export const memory: Row = {
  name: 'memory',
  title: 'Memory of the daemon',
  measure: async (stage) => {
    const lines: Line[] = [];
    for (const { kind, orders, what } of FILES) {
      const count = stage.quick ? orders / 20 : orders;
      const peak = await peakOf(stage, kind, count);
      const name = what(count.toLocaleString('en'));
      stage.say(`  ${name}: ${peak.toFixed(0)} MB`);
      lines.push({
        what: name,
        unit: 'MB',
        samples: { 'po-sync': [peak] },
        targets: [{ text: 'MB', value: peak, limit: 200, sense: 'at most' }],
      });
    }
    return lines;
  },
};

async function peakOf(stage: Stage, kind: FileKind, orders: number): Promise<number> {
  await using poSync = await openPoSync(await stage.makeFolder(), stage.api);
  const file = await stage.writeFile(orders, kind);
  await stage.api.judge(file, 0, () => poSync.deliver(file));
  return memoryOf(poSync.pid, 'peak');
}
