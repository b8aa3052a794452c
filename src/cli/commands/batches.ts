import { join } from 'node:path';
import { count, counted, withoutStop } from '../../core/format.ts';
import { type Batch, totalOrders } from '../../ledger/batches/batches.ts';
import {
  CLOSE_UNREADABLE,
  cancelBatch,
  cancelledText,
  closeUnreadable,
  countUnread,
  isFinished,
  notHeld,
  releaseBatch,
  releasedText,
} from '../../operate/batches/cancel-batch.ts';
import {
  type BatchView,
  findBatch,
  settledIn,
  viewOf,
} from '../../operate/batches/list-batches.ts';
import { type OperatorContext, recorded } from '../../operate/operator-context.ts';
import { CANCELLED_IN_EXPORT, sendCancelled } from '../../order/fixing.ts';
import { deadLettersInProgress } from '../../put-away/dead-letters-in-progress.ts';
import { readReport } from '../../report/report.ts';
import { fileWaitJson, fileWaitText } from '../../wording/file-wait.ts';
import { type CommonArgs, openOperatorContext } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import {
  confirmation,
  type Format,
  formatOf,
  hanging,
  printable,
  printJson,
  sentences,
  wrapped,
} from '../terminal/print.ts';
import { batchTable, batchText } from './batch-view.ts';
import type { View } from './definitions/operation-command.ts';

type ActArgs = CommonArgs & { batch: string; yes: boolean; dryRun: boolean };

export const listView: View<{ open: boolean }, { batches: readonly BatchView[] }> = {
  text({ batches }, { input: { open }, format, now }) {
    if (batches.length === 0) return open ? 'No batches need a person.\n' : 'No batches.\n';
    return batchTable(batches, now, format) + (open ? remarks(batches, format) : '');
  },
};

function remarks(batches: readonly BatchView[], format: Format): string {
  const lines = [
    ...(batches.some(({ standing }) => standing === 'unreadable')
      ? [`${CLOSE_UNREADABLE}BATCH`]
      : []),
    ...batches.flatMap(({ batch }) =>
      batch.unsettled ? [`${batch.name}, no report yet: ${batch.unsettled.reason}`] : [],
    ),
  ];
  return lines.length === 0
    ? ''
    : `\n${lines.flatMap((line) => wrapped(printable(line), format)).join('\n')}\n`;
}

export const showView: View<object, BatchView> = {
  async text(batch, { format, now }) {
    const report = await readReport(batch.report).catch(() => undefined);
    return batchText(batch, now, format, report?.nameless ?? 0);
  },
};

/** `batches release BATCH`: sends a file that waits; `--without-rows`: without those that belong to no order. */
export async function batchesReleaseCommand(
  args: ActArgs & { withoutRows?: boolean },
  shell: Shell,
): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: !args.dryRun });
  const batch = await findBatch(args.batch, context.batches, { byFile: 'unfinished' });
  if (batch.held === undefined) throw await notHeld(batch, context);
  const question = `${batch.batch} waits: ${withoutStop(fileWaitText(batch.held))}. Release it?`;
  if (!args.dryRun && !(await confirmation(question, args, shell))) return 1;
  const text = await releaseText(batch, args.dryRun, context);
  const release = async () => ({
    released: await releaseBatch(batch, context, args),
    text: releasedText(batch),
  });
  const { released } = args.dryRun
    ? { released: false }
    : await recorded({ what: 'release', on: batch.batch }, context, release);
  if (args.json)
    printJson(shell, { batch: batch.batch, released, waits: fileWaitJson(batch.held) });
  else shell.out(sentences(text, shell));
  return 0;
}

/** `batches cancel BATCH`: cancels orders that were never sent. 2: some orders were or may have been sent. */
export async function batchesCancelCommand(args: ActArgs, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: !args.dryRun });
  const batch = await findBatch(args.batch, context.batches, { byFile: 'unfinished' });
  if (batch.state === 'done')
    return await dismiss(await viewOf(batch, context), args, context, shell);
  const unread = await countUnread(batch, context);
  const left = `${remaining(batch)}${unread > 0 ? ` (${count(unread)} of them not read yet)` : ''}`;
  if (args.dryRun) {
    if (args.json) printJson(shell, { batch: batch.batch, dryRun: true });
    else
      shell.out(
        sentences(
          `Would cancel the orders of ${batch.batch} that were not sent: ${left}.\n${batch.kind === 'export' ? `${CANCELLED_IN_EXPORT}\n` : ''}`,
          shell,
        ),
      );
    return 0;
  }
  const first = batch.kind === 'export' ? `${CANCELLED_IN_EXPORT} ` : '';
  const question = `${first}Cancel the orders of ${batch.batch} that were not sent, ${left}?`;
  if (!(await confirmation(question, args, shell))) return 1;
  const { end, text } = await recorded({ what: 'cancel', on: batch.batch }, context, async () => {
    const end = await cancelBatch(batch, context);
    return { end, text: cancelledText(batch, end) };
  });
  if (args.json) printJson(shell, { batch: batch.batch, ...end });
  else
    shell.out(
      `${text}\n${end.accepted > 0 ? reportText(batch, context) : ''}${end.cancelled > 0 ? undoText(batch, shell) : ''}`,
    );
  return end.accepted > 0 || end.underWay > 0 ? 2 : 0;
}

/** Orders that `dead-letters retry` queued again wait for the release, too, and keep their refusal in the counts of the batch. */
async function releaseText(
  batch: Batch,
  dryRun: boolean,
  context: OperatorContext,
): Promise<string> {
  const what = dryRun ? 'would be released: they would be sent' : 'is released: they are sent now';
  const again = (await hasRefused(batch, context))
    ? `Orders that the API refused are sent again by po-sync dead-letters retry --batch ${batch.batch.slice(-8)}.\n`
    : '';
  return `${batch.batch}, with ${remaining(batch)} without an outcome and those queued to be sent again, ${what}.\n${again}`;
}

/** Whether an order that the API refused is not queued again. */
async function hasRefused(batch: Batch, context: OperatorContext): Promise<boolean> {
  if (batch.counts.refused === 0) return false;
  for await (const { kind, now } of deadLettersInProgress(context, [batch])) {
    if (kind === 'refused' && (now ?? kind) === kind) return true;
  }
  return false;
}

/** Closes an unreadable file. */
async function dismiss(
  view: BatchView,
  args: ActArgs,
  context: OperatorContext,
  shell: Shell,
): Promise<number> {
  const { batch, name } = view.batch;
  if (view.standing !== 'unreadable') throw isFinished(view);
  const question = `Close the unreadable file ${name}: nobody needs it?`;
  if (args.dryRun) {
    if (args.json) printJson(shell, { batch, dryRun: true });
    else shell.out(sentences(`Would close the unreadable file ${name}.\n`, shell));
    return 0;
  }
  if (!(await confirmation(question, args, shell))) return 1;
  const { end, text } = await recorded({ what: 'cancel', on: batch }, context, () =>
    closeUnreadable(view, context),
  );
  if (args.json) printJson(shell, { batch, ...end });
  else shell.out(sentences(`${printable(text)}\n`, shell));
  return 0;
}

/** The report of a batch whose rest is cancelled as it is read follows later. */
function reportText({ batch }: Batch, { config }: OperatorContext): string {
  return `  The report, when the batch is finished: ${printable(join(config.reports.path, batch))}\n`;
}

function undoText({ kind }: Batch, shell: Shell): string {
  return `  ${hanging(sendCancelled(kind === 'export'), 2, formatOf(shell))}\n`;
}

/** Orders without an outcome; their number is unknown while the file is read. */
function remaining(batch: Batch): string {
  const orders = totalOrders(batch);
  return orders === undefined
    ? 'the rest of its file'
    : counted(orders - settledIn(batch), 'order');
}
