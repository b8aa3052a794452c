import { join } from 'node:path';
import { PoSyncError } from '../../core/errors.ts';
import type { Batch } from '../../ledger/batches.ts';
import { type Cancelled, cancelBatch } from '../../operate/cancel-batch.ts';
import { findBatch } from '../../operate/find-batch.ts';
import { listBatches, settledIn } from '../../operate/list-batches.ts';
import { releaseBatch } from '../../operate/release-batch.ts';
import { readReport } from '../../report/read-report.ts';
import { type DeskArgs, openDesk } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import type { Since } from '../since.ts';
import { agreement } from '../terminal/confirmation.ts';
import { openPaint } from '../terminal/paint.ts';
import { printJson } from '../terminal/print-json.ts';
import { counted } from '../terminal/wording.ts';
import { batchJson } from './batch-json.ts';
import { batchTable, batchText } from './batch-text.ts';

type ListArgs = DeskArgs & { since?: Since; open: boolean; limit: number };
type ActArgs = DeskArgs & { batch: string; yes: boolean; dryRun: boolean };

/** `batches list`: what became of each file, the newest first. */
export async function batchesListCommand(
  { limit: most, open, since, ...args }: ListArgs,
  shell: Shell,
): Promise<number> {
  await using desk = await openDesk(args, shell, { confirm: false });
  const filter = { most, open, ...(since === undefined ? {} : { since: since(desk.clock.now()) }) };
  const batches = await listBatches(filter, desk.batches);
  if (args.json)
    printJson(shell, { environment: desk.environment, batches: batches.map((one) => batchJson(one, desk.reports)) });
  else if (batches.length === 0) shell.out(`There are no ${open ? 'batches that need a person' : 'batches'}.\n`);
  else shell.out(batchTable(batches, desk.time.now(), formatOf(shell)));
  return 0;
}

/** `batches show BATCH`. */
export async function batchesShowCommand(args: DeskArgs & { batch: string }, shell: Shell): Promise<number> {
  await using desk = await openDesk(args, shell, { confirm: false });
  const batch = await findBatch(args.batch, desk.batches);
  if (args.json) printJson(shell, batchJson(batch, desk.reports));
  else {
    const report = join(desk.reports, batch.batch);
    const error = (await readReport(report))?.error?.message;
    shell.out(batchText(batch, report, error, desk.time.now(), formatOf(shell)));
  }
  return 0;
}

/** `batches release BATCH`: lets a held batch go on. */
export async function batchesReleaseCommand(args: ActArgs, shell: Shell): Promise<number> {
  await using desk = await openDesk(args, shell, { confirm: true });
  const batch = await findBatch(args.batch, desk.batches);
  if (batch.held === undefined) throw notHeld(batch);
  const question = `Let ${batch.batch} go on, which is held because ${batch.held.reason}?`;
  if (!args.dryRun && !(await agreement(question, args, shell))) return 1;
  const released = !args.dryRun && (await releaseBatch(batch, desk));
  const left = leftOf(batch);
  if (args.json) printJson(shell, { batch: batch.batch, released, held: batch.held });
  else if (args.dryRun) shell.out(`${batch.batch} would go on with ${left}.\n`);
  else shell.out(`${batch.batch} goes on with ${left}.\n`);
  return 0;
}

/** `batches cancel BATCH`: takes back what was certainly never sent. 2: something of it was, or may have been, sent. */
export async function batchesCancelCommand(args: ActArgs, shell: Shell): Promise<number> {
  await using desk = await openDesk(args, shell, { confirm: true });
  const batch = await findBatch(args.batch, desk.batches);
  if (batch.state === 'done') throw isFinished(batch);
  const left = leftOf(batch);
  if (args.dryRun) {
    if (args.json) printJson(shell, { batch: batch.batch, dryRun: true });
    else shell.out(`What was not sent yet of ${batch.batch} would be taken back: ${left}.\n`);
    return 0;
  }
  if (!(await agreement(`Take back what was not sent yet of ${batch.batch}, ${left}?`, args, shell))) return 1;
  const end = await cancelBatch(batch, desk);
  if (args.json) printJson(shell, { batch: batch.batch, ...end });
  else shell.out(cancelledText(batch, end));
  return end.underWay > 0 ? 2 : 0;
}

/** Orders without an outcome; while the file is read nobody knows how many. */
function leftOf(batch: Batch): string {
  if (batch.total === undefined) return 'what is left of its file';
  return `up to ${counted(batch.total - settledIn(batch), 'order')}`;
}

function cancelledText({ batch, counts }: Batch, { cancelled, underWay, reading }: Cancelled): string {
  const kept = [
    counts.accepted > 0 ? `${counted(counts.accepted, 'order')} had been accepted before` : '',
    underWay > 0 ? `${counted(underWay, 'order')} may have been sent and could not be taken back` : '',
    reading ? 'the rest of the file is taken back as it is read' : '',
  ].filter((text) => text !== '');
  const more = kept.length === 0 ? '' : `; ${kept.join('; ')}`;
  return `${counted(cancelled, 'order')} of ${batch} taken back${more}.\n`;
}

function formatOf(shell: Shell) {
  return { paint: openPaint(shell), columns: shell.isTTY ? shell.columns : undefined };
}

function notHeld({ batch, state }: Batch): PoSyncError {
  return new PoSyncError(
    'batch-not-held',
    `The batch ${batch} is not held${state === 'done' ? ', it is finished' : ''}.`,
    {
      mend: 'po-sync status tells what else keeps orders waiting.',
      facts: { batch },
    },
  );
}

function isFinished({ batch }: Batch): PoSyncError {
  return new PoSyncError('batch-finished', `The batch ${batch} is finished: each of its orders has its outcome.`, {
    mend: 'What waits for a person is given up with po-sync dead-letters discard.',
    facts: { batch },
  });
}
