import { join } from 'node:path';
import { orders } from '../../core/format.ts';
import { isGone } from '../../core/regular-file.ts';
import { allNames } from '../../ledger/batches/batch-control.ts';
import { claimTimeOf } from '../../order/batch.ts';
import { pages } from '../../report/lines.ts';
import type { OperatorContext } from '../operator-context.ts';
import type { WaitGroup } from '../orders/read-waits.ts';

const PAGE = 500;

/** Open dead letters of a batch whose report is gone: only how many there are is known. `report`: its folder. */
export type LettersWithoutReport = { batch: string; file: string; orders: number; report: string };

/** Those of the finished batches among `among`, whose names end with `end`. */
export async function lettersWithoutReport(
  {
    batches,
    config,
    store: { redis, keys },
  }: Pick<OperatorContext, 'batches' | 'config' | 'store'>,
  among: Iterable<string> | AsyncIterable<string> = allNames(batches),
  end = '',
): Promise<LettersWithoutReport[]> {
  const found: LettersWithoutReport[] = [];
  for await (const page of pages(among, PAGE)) {
    const names = page.filter((name) => name.endsWith(end));
    const counts = await Promise.all(names.map((name) => redis.hget(keys.batch(name), 'open')));
    for (const [i, name] of names.entries()) {
      const report = join(config.reports.path, name);
      const orders = Number(counts[i]);
      if (orders === 0 || !(await isGone(join(report, 'report.json')))) continue;
      const batch = await batches.find(name);
      if (batch?.state === 'done') found.push({ batch: name, file: batch.name, orders, report });
    }
  }
  return found;
}

/** What is known of them, and what helps. */
export function withoutReportText({
  batch,
  file,
  orders: count,
  report,
}: LettersWithoutReport): string {
  const [need, their] = count === 1 ? ['needs', 'its'] : ['need', 'their'];
  return `${orders(count)} of ${file} (batch ${batch}) ${need} a person, but ${their} report in ${report} is gone: restore the report from a backup, or drop the file again. Orders that the API has are not sent again.`;
}

/** The dead letters that wait for a person. */
export async function openDeadLetters({
  store: { redis, keys },
  batches,
}: Pick<OperatorContext, 'store' | 'batches'>): Promise<WaitGroup> {
  let orders = 0;
  let oldest: string | undefined;
  for (let from = 0; ; from += PAGE) {
    const names = await batches.names(from, PAGE);
    const counts = (
      await Promise.all(names.map((name) => redis.hget(keys.batch(name), 'open')))
    ).map(Number);
    orders += counts.reduce((sum, open) => sum + open, 0);
    // The newest batch comes first.
    oldest = names.findLast((_, i) => (counts[i] ?? 0) > 0) ?? oldest;
    if (names.length >= PAGE) continue;
    return letterWait(orders, oldest);
  }
}

/** So many dead letters wait for a person. `oldest`: the first batch with one. */
export function letterWait(orders: number, oldest: string | undefined): WaitGroup {
  const since = oldest && claimTimeOf(oldest);
  const first = oldest && since ? { oldest: { batch: oldest, since } } : {};
  return { code: 'person', facts: {}, orders, ...first };
}
