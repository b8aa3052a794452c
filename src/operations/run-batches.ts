import { count, counted, withoutStop } from '../core/format.ts';
import { type Batch, totalOrders } from '../ledger/batches/batches.ts';
import {
  cancelBatch,
  cancelledText,
  closeUnreadable,
  countUnread,
  isFinished,
  isInVain,
  notHeld,
  releaseBatch,
} from '../operate/batches/cancel-batch.ts';
import {
  type BatchView,
  batchJson,
  findBatch,
  listBatches,
  settledIn,
  viewOf,
} from '../operate/batches/list-batches.ts';
import type { OperationContext } from '../operate/operation-context.ts';
import { CANCELLED_IN_EXPORT, sendCancelled } from '../order/fixing.ts';
import { asText } from '../order/sentence.ts';
import { deadLettersInProgress } from '../put-away/dead-letters-in-progress.ts';
import { fileWaitJson, fileWaitText } from '../wording/file-wait.ts';
import type { Act, Plan, Work } from './operation.ts';

type ListInput = { limit: number; open: boolean };
type Listed = { environment: string; batches: BatchView[] };

export const listed: Work<ListInput, Listed> = {
  async run({ limit: most, open }, context) {
    const batches = await listBatches({ most, open }, context, await context.lists?.());
    return { environment: context.config.environment, batches };
  },
  json: ({ environment, batches }) => ({ environment, batches: batches.map(batchJson) }),
};

export const shown: Work<{ batch: string }, BatchView> = {
  run: async ({ batch }, context) => viewOf(await findBatch(batch, context.batches), context),
  json: batchJson,
};

type BatchInput = { batch: string; dryRun: boolean };
type ReleaseInput = BatchInput & { withoutRows: boolean };
type ReleasePlan = Plan & { held: Batch; withoutRows: boolean };

/** Sends a file that waits. `withoutRows`: without those that belong to no order. */
export const release: Act<ReleaseInput, ReleasePlan> = {
  async plan({ batch, withoutRows }, context) {
    const held = await findBatch(batch, context.batches, { isUnfinished: true });
    if (held.held === undefined) throw notHeld(held);
    const waits = fileWaitJson(held.held);
    const what = `${held.batch}, with ${remaining(held)} without an outcome and those queued to be sent again`;
    return {
      on: held.batch,
      question: `${held.batch} waits: ${withoutStop(asText(fileWaitText(held.held)))}. Release it?`,
      would: `${what}, would be released: they would be sent.`,
      left: await refusedText(held, context),
      json: { batch: held.batch, released: false, waits },
      held,
      withoutRows,
    };
  },
  async run({ held, withoutRows, json }, context) {
    const released = await releaseBatch(held, context, { withoutRows });
    return { text: `Batch ${held.batch} is released.`, json: { ...json, released } };
  },
};

/** Orders that `dead-letters retry` queued again wait for the release, too, and keep their refusal in the counts of the batch. */
async function refusedText(batch: Batch, context: OperationContext): Promise<string> {
  if (batch.counts.refused === 0) return '';
  for await (const { kind, now } of deadLettersInProgress(context, [batch]))
    if (kind === 'refused' && (now ?? kind) === kind)
      return `Orders that the API refused are sent again by po-sync dead-letters retry --batch ${batch.batch.slice(-8)}.`;
  return '';
}

type CancelPlan = Plan & { batch: Batch; unreadable?: BatchView };

/** Cancels orders that were never sent, or closes an unreadable file. */
export const cancel: Act<BatchInput, CancelPlan> = {
  async plan(input, context) {
    const batch = await findBatch(input.batch, context.batches, { isUnfinished: true });
    const facts = { on: batch.batch, json: { batch: batch.batch, dryRun: true }, batch };
    if (batch.state === 'done') {
      const unreadable = await viewOf(batch, context);
      if (unreadable.standing !== 'unreadable') throw isFinished(unreadable);
      const would = `Would close the unreadable file ${batch.name}.`;
      const question = `Close the unreadable file ${batch.name}: nobody needs it?`;
      return { ...facts, question, would, unreadable };
    }
    const unread = await countUnread(batch, context);
    const left = `${remaining(batch)}${unread > 0 ? ` (${count(unread)} of them not read yet)` : ''}`;
    const first = batch.kind === 'export' ? `${CANCELLED_IN_EXPORT} ` : '';
    const question = `${first}Cancel the orders of ${batch.batch} that were not sent, ${left}?`;
    const would = `Would cancel the orders of ${batch.batch} that were not sent: ${left}.${batch.kind === 'export' ? `\n${CANCELLED_IN_EXPORT}` : ''}`;
    return { ...facts, question, would };
  },
  async run({ batch, unreadable }, context) {
    if (unreadable) {
      const { end, text } = await closeUnreadable(unreadable, context);
      return { text, json: { batch: batch.batch, ...end } };
    }
    const end = await cancelBatch(batch, context);
    return {
      text: cancelledText(batch, end),
      steps: end.cancelled > 0 ? sendCancelled(batch.kind === 'export') : '',
      json: { batch: batch.batch, ...end },
      needsPerson: end.accepted > 0 || end.underWay > 0,
      isInVain: isInVain(end),
      // Orders that may have been sent can still be accepted.
      isOpen: end.underWay > 0,
    };
  },
};

/** Orders without an outcome; their number is unknown while the file is read. */
function remaining(batch: Batch): string {
  const orders = totalOrders(batch);
  return orders === undefined
    ? 'the rest of its file'
    : counted(orders - settledIn(batch), 'order');
}
