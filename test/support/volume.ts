import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Report } from '../../src/report/report.ts';
import { countOf } from './account.ts';
import { startDaemon } from './daemon.ts';
import { type LargeKind, writeLarge } from './large-files.ts';
import { openTestRedis } from './open-redis.ts';
import { storeOrders } from './order-file.ts';
import { makeTempFolder } from './temp-folder.ts';
import { until } from './until.ts';
import { csvOf, openWorkplace, type Workplace } from './workplace.ts';

/** What a daemon did, how long it took and the most memory it had. */
type Figures = { calls: number; seconds: number; peakMb: number };

/** An export shows `orders` orders, of which the API has all but the last `fresh`. */
export async function wholeExport(
  orders: number,
  fresh: number,
): Promise<Figures & { counts: Report['counts'] | undefined }> {
  await using data = await makeTempFolder();
  fillApi(data.path, orders - fresh);
  await using place = await openWorkplace({
    sandbox: { data: data.path },
    source: '- { name: erp, type: export, path: erp.csv, stable: 100ms, poll: 200ms }',
  });
  // The ledger learns what the API has before anything is shown.
  await place.run(['start', '--once']);
  await using daemon = startDaemon(place);
  await daemon.ready();
  const before = countOf(place.events, 'received');
  const began = performance.now();
  await writeFile(path.join(place.folder, 'erp.new'), csvOf(orders));
  await rename(path.join(place.folder, 'erp.new'), path.join(place.folder, 'erp.csv'));
  const report = await until(
    'the export reported',
    async () => finished(await place.reportsNow())[0],
  );
  return {
    calls: countOf(place.events, 'received') - before,
    seconds: since(began),
    peakMb: await daemon.peakMb(),
    counts: report.counts,
  };
}

/** A large file while the API takes long for each order: what is in memory once `enough` orders went out. */
export async function slowlyFed(
  kind: LargeKind,
  rows: number,
  enough: number,
): Promise<Figures & { redisMb: number }> {
  await using redis = await openTestRedis();
  await using place = await openWorkplace({
    faults: { faults: [{ kind: 'delay', by: '100ms', on: 'create' }] },
    redis: redis.server.url,
  });
  await using daemon = startDaemon(place);
  await daemon.ready();
  const began = performance.now();
  const draft = path.join(place.folder, 'dropping');
  await writeLarge(draft, kind, rows);
  await rename(draft, path.join(place.inbox, 'large.csv'));
  await until('enough orders', () => countOf(place.events, 'stored') >= enough);
  const [, used = '0'] = /^used_memory_peak:(\d+)/m.exec(await redis.redis.info('memory')) ?? [];
  return {
    calls: countOf(place.events, 'received'),
    seconds: since(began),
    peakMb: await daemon.peakMb(),
    redisMb: Math.round(Number(used) / 1e6),
  };
}

/** Files of one order each, all there at once. */
export async function filesAtOnce(
  files: number,
): Promise<Figures & { double: number; reports: number; done: number }> {
  await using place = await openWorkplace();
  const aside = path.join(place.folder, 'aside');
  await mkdir(aside);
  await Promise.all(
    Array.from({ length: files }, (_, i) =>
      writeFile(path.join(aside, `${i}.csv`), csvOf(1, i + 1)),
    ),
  );
  await using daemon = startDaemon(place);
  await daemon.ready();
  const began = performance.now();
  await Promise.all(
    Array.from({ length: files }, (_, i) =>
      rename(path.join(aside, `${i}.csv`), path.join(place.inbox, `${i}.csv`)),
    ),
  );
  await until('every order stored', () => countOf(place.events, 'stored') >= files);
  const seconds = since(began);
  const reports = await until('every report', () => allFinished(place, files));
  const stored = [...place.stored().values()];
  return {
    calls: countOf(place.events, 'received'),
    seconds,
    peakMb: await daemon.peakMb(),
    double: stored.filter((times) => times > 1).length,
    reports: reports.length,
    done: reports.filter(({ counts }) => counts.accepted === 1).length,
  };
}

async function allFinished(place: Workplace, files: number): Promise<Report[] | undefined> {
  const reports = finished(await place.reportsNow());
  return reports.length < files ? undefined : reports;
}

function finished(reports: readonly Report[]): Report[] {
  return reports.filter(({ state }) => state === 'finished');
}

function since(began: number): number {
  return Math.round((performance.now() - began) / 100) / 10;
}

/** Stores what `csvOf` holds, as if it had been sent long ago. */
function fillApi(folder: string, count: number): void {
  const orders = Array.from({ length: count }, (_, i) => ({
    number: `PO-${i + 1}`,
    items: `[{"articleCode":"ART-${i % 7}","quantity":${(i % 9) + 1}}]`,
  }));
  storeOrders(folder, orders);
}
