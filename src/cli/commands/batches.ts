import { join } from 'node:path';
import { PoSyncError } from '../../core/errors.ts';
import { counted } from '../../core/format.ts';
import type { Batch } from '../../ledger/batches.ts';
import { type Cancelled, cancelBatch } from '../../operate/cancel-batch.ts';
import { findBatch } from '../../operate/find-batch.ts';
import { listBatches, settledIn } from '../../operate/list-batches.ts';
import { releaseBatch } from '../../operate/release-batch.ts';
import { readReport } from '../../report/report.ts';
import { type OperatorContextArgs, openOperatorContext } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import type { Since } from '../since.ts';
import { confirmation } from '../terminal/confirmation.ts';
import { createPaint } from '../terminal/paint.ts';
import { printJson } from '../terminal/print-json.ts';
import { batchJson } from './batch-json.ts';
import { batchTable, batchText } from './batch-text.ts';

type ListArgs = OperatorContextArgs & { since?: Since; open: boolean; limit: number };
type ActArgs = OperatorContextArgs & { batch: string; yes: boolean; dryRun: boolean };

/** `batches list`: what became of each file, the newest first. */
export async function batchesListCommand(
  { limit: most, open, since, ...args }: ListArgs,
  shell: Shell,
): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: false });
  const filter = { most, open, ...(since === undefined ? {} : { since: since(context.clock.now()) }) };
  const batches = await listBatches(filter, context.batches);
  if (args.json)
    printJson(shell, {
      environment: context.environment,
      batches: batches.map((one) => batchJson(one, context.reports)),
    });
  else if (batches.length === 0) shell.out(`There are no ${open ? 'batches that need a person' : 'batches'}.\n`);
  else shell.out(batchTable(batches, context.time.now(), formatOf(shell)));
  return 0;
}

/** `batches show BATCH`. */
export async function batchesShowCommand(args: OperatorContextArgs & { batch: string }, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: false });
  const batch = await findBatch(args.batch, context.batches);
  if (args.json) printJson(shell, batchJson(batch, context.reports));
  else {
    const report = join(context.reports, batch.batch);
    const error = (await readReport(report))?.error?.message;
    shell.out(batchText(batch, report, error, context.time.now(), formatOf(shell)));
  }
  return 0;
}

/** `batches release BATCH`: lets a held batch go on. */
export async function batchesReleaseCommand(args: ActArgs, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: true });
  const batch = await findBatch(args.batch, context.batches);
  if (batch.held === undefined) throw notHeld(batch);
  const question = `Let ${batch.batch} go on, which is held because ${batch.held.reason}?`;
  if (!args.dryRun && !(await confirmation(question, args, shell))) return 1;
  const released = !args.dryRun && (await releaseBatch(batch, context));
  const left = leftOf(batch);
  if (args.json) printJson(shell, { batch: batch.batch, released, held: batch.held });
  else if (args.dryRun) shell.out(`${batch.batch} would go on with ${left}.\n`);
  else shell.out(`${batch.batch} goes on with ${left}.\n`);
  return 0;
}

/** `batches cancel BATCH`: takes back what was certainly never sent. 2: something of it was, or may have been, sent. */
export async function batchesCancelCommand(args: ActArgs, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: true });
  const batch = await findBatch(args.batch, context.batches);
  if (batch.state === 'done') throw isFinished(batch);
  const left = leftOf(batch);
  if (args.dryRun) {
    if (args.json) printJson(shell, { batch: batch.batch, dryRun: true });
    else shell.out(`What was not sent yet of ${batch.batch} would be taken back: ${left}.\n`);
    return 0;
  }
  if (!(await confirmation(`Take back what was not sent yet of ${batch.batch}, ${left}?`, args, shell))) return 1;
  const end = await cancelBatch(batch, context);
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
  return { paint: createPaint(shell), columns: shell.isTTY ? shell.columns : undefined };
}

function notHeld({ batch, state }: Batch): PoSyncError {
  return new PoSyncError(
    'batch-not-held',
    `The batch ${batch} is not held${state === 'done' ? ', it is finished' : ''}.`,
    {
      remedy: 'po-sync status tells what else keeps orders waiting.',
      facts: { batch },
    },
  );
}

function isFinished({ batch }: Batch): PoSyncError {
  return new PoSyncError('batch-finished', `The batch ${batch} is finished: each of its orders has its outcome.`, {
    remedy: 'What waits for a person is given up with po-sync dead-letters discard.',
    facts: { batch },
  });
}
