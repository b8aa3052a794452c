import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { PoSyncError } from '../../core/errors.ts';
import { endOf } from '../../order/closing-text.ts';
import type { Closed } from '../../order/dead-letter.ts';
import { inPieces, listLine } from '../../report/lines.ts';
import { readReport } from '../../report/report.ts';
import { RESULT_COLUMNS, readResults, resultCells } from '../../report/results.ts';
import type {
  Counted,
  FoundOrders,
  LedgerContext,
  ListContext,
  ListedBatch,
} from './accepted-orders.ts';
import { acceptedAs, keptInLedger, resultsOf } from './accepted-orders.ts';

const COLUMNS = ['file', 'batch', ...RESULT_COLUMNS, 'settled', 'settledAt', 'settledIn'];

/**
 * The batches as they can be listed: of `accepted` orders, those of a lost report are in the ledger. PoSyncError
 * `order-list-incomplete`: a list must not lack orders without saying so.
 */
export async function requireComplete<Row extends Counted>(
  listed: readonly Row[],
  context: LedgerContext,
  { accepted }: { accepted: boolean },
): Promise<Row[]> {
  const missing = await withoutReport(listed, context);
  const rest = listed.filter((one) => !missing.includes(one));
  const lacking = await withoutRows(rest, context, accepted);
  const kept = accepted ? await keptInLedger([...missing, ...lacking], context) : [];
  const found = new Map(kept.map((one) => [one.batch, one]));
  const [gone, short] = [missing, lacking].map((lost) =>
    lost.filter(({ batch }) => !found.has(batch)),
  );
  if (gone?.length) throw incomplete(gone, accepted);
  if (short?.length) throw lacksOrders(short, accepted);
  return listed.map((one) => ({ ...one, ...found.get(one.batch) }));
}

/** Those of the batches whose reports are gone. */
async function withoutReport(
  listed: readonly Counted[],
  { config }: ListContext,
): Promise<Counted[]> {
  const missing: Counted[] = [];
  for (const one of listed) {
    const names = one.hasLetters ? ['results.csv', 'dead-letters.json'] : ['results.csv'];
    const paths = names.map((name) => join(config.reports.path, one.batch, name));
    await Promise.all(paths.map((path) => access(path))).catch(() => missing.push(one));
  }
  return missing;
}

/**
 * Those of the batches whose `results.csv` has fewer orders than their report counts; of `accepted` orders only, if that is
 * asked. Their file was gone when the report was written, or somebody changed the list.
 */
async function withoutRows(listed: readonly Counted[], { config }: ListContext, accepted: boolean) {
  const lacking: Counted[] = [];
  for (const one of listed) {
    const folder = join(config.reports.path, one.batch);
    const counts = (await readReport(folder))?.counts;
    let rows = 0;
    for await (const { outcome } of readResults(join(folder, 'results.csv'))) {
      if (!accepted || outcome === 'accepted') rows += 1;
    }
    if (counts === undefined || rows < (accepted ? counts.accepted : counts.orders))
      lacking.push(one);
  }
  return lacking;
}

/**
 * All orders of several batches as one CSV file in pieces: the lines of each `results.csv` after the file and the batch,
 * and what settled an order that needed a person. `found`: only orders that the API has, each once, and who sent it. Reads
 * one report at a time, and no report into memory. Throws when a report expires in between.
 */
export async function* orderList(
  listed: readonly ListedBatch[],
  context: ListContext,
  found?: FoundOrders,
): AsyncGenerator<string> {
  async function* lines() {
    for (const one of listed) {
      for await (const order of resultsOf(one, context)) {
        const as = found && acceptedAs(one, order, found);
        if (found && as === undefined) continue;
        const cells = [...resultCells(order.result), ...settledCells(order.closed)];
        yield listLine([one.file, one.batch, ...cells, ...(as ? [as.sender] : [])]);
      }
    }
  }
  yield listLine(found ? [...COLUMNS, 'sender'] : COLUMNS);
  yield* inPieces(lines());
}

/** Nothing while it needs a person; `waits` while its rows need one in a later file, unless it was accepted before. */
function settledCells(closed: Closed | undefined): string[] {
  if (closed === undefined) return ['', '', ''];
  const end = endOf(closed);
  return end === undefined
    ? ['waits', '', closed.waitsIn ?? '']
    : [end.by, end.at, end.batch ?? ''];
}

type Named = Pick<ListedBatch, 'file' | 'batch'>;

function incomplete(missing: readonly Named[], accepted: boolean): PoSyncError {
  const others = accepted ? 'Select other days' : 'List only accepted orders, or select other days';
  return new PoSyncError(
    'order-list-incomplete',
    `The list would lack orders, because ${missing.length === 1 ? 'a report is' : `${missing.length} reports are`} missing: ${namesOf(missing)}.`,
    {
      remedy: `${others}, so that these files are not among them, or restore the reports from a backup.`,
    },
  );
}

function lacksOrders(lacking: readonly Named[], accepted: boolean): PoSyncError {
  const others = accepted ? 'Select other days' : 'List only accepted orders, or select other days';
  return new PoSyncError(
    'order-list-incomplete',
    `The list would lack orders, because results.csv of ${lacking.length === 1 ? 'a report does' : `${lacking.length} reports do`} not have all of them: ${namesOf(lacking)}.`,
    { remedy: `${others}, so that these files are not among them. Their report pages say why.` },
  );
}

const NAMED = 5;

/** Some of these files, for a message. */
export function namesOf(rows: readonly Named[]): string {
  const named = rows.slice(0, NAMED).map(({ file, batch }) => `${file} (batch ${batch})`);
  return [...named, ...(rows.length > NAMED ? [`${rows.length - NAMED} more`] : [])].join(', ');
}
