import { basename, join } from 'node:path';
import { z } from 'zod';
import { PoSyncError } from '../../core/errors.ts';
import { openRegularFile } from '../../core/regular-file.ts';
import { FIX_WORKBOOK } from '../../correct/fix-workbook.ts';
import { unknownBatch, viewOf, viewsOf } from '../../operate/batches/list-batches.ts';
import { type OrderInBatch, ordersIn } from '../../operate/lists/read-reports.ts';
import { claimTimeOf } from '../../order/batch.ts';
import { type Closed, type Closings, closedBy } from '../../order/dead-letter.ts';
import { OUTCOMES } from '../../order/outcome.ts';
import { besideName } from '../../report/place-file.ts';
import type { Reply, Route } from '../http/route.ts';
import type { ApiContext } from './api-context.ts';
import { PAGE, readQuery } from './query.ts';

/** States of a batch in a list. */
export const STANDINGS = ['reading', 'sending', 'waiting', 'finished', 'unreadable'] as const;

/** Files of a report that may be downloaded, with their types. */
const FILES: Readonly<Record<string, string>> = {
  'report.json': 'application/json',
  'report.html': 'text/html; charset=utf-8',
  'results.csv': 'text/csv; charset=utf-8',
  'dead-letters.json': 'application/json',
  [FIX_WORKBOOK]: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** The files of reports. */
export function batchRoutes(api: ApiContext): Route[] {
  return [
    api.needingRedis({
      method: 'GET',
      path: '/api/v1/batches/:batch/files/:name',
      handle: ({ params }) => fileReply(api, params['batch'] ?? '', params['name'] ?? ''),
    }),
  ];
}

const BATCH_QUERY = z.object({
  state: z.enum(STANDINGS).optional(),
  open: z.enum(['true', 'false']).optional(),
  source: z.string().optional(),
  q: z.string().max(1_000).optional(),
  after: z.string().optional(),
});

/** A page of batches, newest first, each as Redis has it now. */
export async function readBatchPage(api: ApiContext, { searchParams }: URL) {
  const { after, ...filter } = readQuery(searchParams, BATCH_QUERY);
  const { items: names, next } = (await api.tables()).batchPage(filter, PAGE, after);
  return { items: await viewsOf(names, api.base), next };
}

/** A batch by its complete name. PoSyncError `batch-unknown`. */
export async function readBatch({ base }: ApiContext, name: string) {
  const batch = await base.batches.find(name);
  if (batch === undefined) throw unknownBatch(name);
  return viewOf(batch, base);
}

const ORDER_QUERY = z.object({
  outcome: z.enum(OUTCOMES).optional(),
  after: z.coerce.number().int().nonnegative().optional(),
});

/** A page of the orders of a finished batch, in the order of its file; before that the list is empty. */
export async function readOrderPage(api: ApiContext, name: string, { searchParams }: URL) {
  const { outcome, after = 0 } = readQuery(searchParams, ORDER_QUERY);
  const { base } = api;
  const { batch, report } = await readBatch(api, name);
  if (batch.state !== 'done') return { items: [], next: undefined };
  const page = await ordersIn(report, after, PAGE, outcome).catch(() => {
    throw new PoSyncError('report-unknown', `The report of ${name} has expired.`, {
      remedy: 'See the history of its orders.',
    });
  });
  return { ...page, items: withClosings(page.items, await base.batches.closings(name)) };
}

/** An order of a batch. `closed`: who or what settled it after it needed a person. */
export type ListedOrder = OrderInBatch & { closed?: Closed };

/** The report shows what was when it was written; what was closed since is in the ledger. */
function withClosings(items: readonly OrderInBatch[], closings: Closings): ListedOrder[] {
  return items.map((one) => {
    const closing = one.letter === undefined ? undefined : closings.get(one.letter);
    return closing === undefined ? one : { ...one, closed: closedBy(closing) };
  });
}

/** A file of a report, always as a download: what it contains must not run as a page of this address. */
async function fileReply({ base }: ApiContext, batch: string, name: string): Promise<Reply> {
  const type = FILES[name];
  // A batch that Redis forgot may still have a report.
  if (type === undefined || claimTimeOf(batch) === undefined || basename(batch) !== batch)
    throw noFile(batch, name);
  const path = join(base.config.reports.path, batch, name);
  const found = await base.batches.find(batch);
  const file = found && (found.settledPath ?? found.name);
  const handle = await openRegularFile(path).catch(() => {
    throw noFile(batch, name);
  });
  const saved = file === undefined ? `${batch}-${name}` : besideName(basename(file), `.${name}`, 1);
  const headers = { 'content-disposition': attachment(saved) };
  const { size } = await handle.stat();
  return {
    status: 200,
    type,
    body: handle.createReadStream(),
    headers: { ...headers, 'content-length': String(size) },
  };
}

/** A download with this name; browsers take the second one, which can have any letters (RFC 6266). */
function attachment(name: string): string {
  const plain = name.replace(/[^\w.-]/g, '_');
  const exact = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${exact}`}`;
}

function noFile(batch: string, name: string): PoSyncError {
  return new PoSyncError('file-unknown', `The report of ${batch} has no file ${name}.`, {
    remedy: `Use one of ${Object.keys(FILES).join(', ')}. fix.xlsx exists while orders need a person.`,
  });
}
