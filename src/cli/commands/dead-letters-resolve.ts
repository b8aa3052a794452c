import { PoSyncError } from '../../core/errors.ts';
import { checkList } from '../../operate/api-list.ts';
import { findInDoubt, type Resolution, resolveOrder } from '../../operate/resolve-order.ts';
import { refreshReports } from '../../settle/refresh-reports.ts';
import type { CommonArgs } from '../load-config.ts';
import { openOperatorContext } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import { confirmation } from '../terminal/confirmation.ts';
import { printable, printJson } from '../terminal/print.ts';

type ResolveArgs = CommonArgs & { order: string; as: Resolution; yes: boolean; dryRun: boolean };

/** `dead-letters resolve ORDER --as accepted|resend`: settles an order in doubt as the person found it at the API. */
export async function deadLettersResolveCommand({ order, as, ...args }: ResolveArgs, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: true });
  const entry = await findInDoubt(order, context.ledger, as);
  const { listed, trouble } = await checkList(new Set([order]), context, shell.env);
  // Of a conflict the list shows the other content: to send the order anyway is the person's decision.
  if (as === 'resend' && entry.state !== 'conflict' && listed?.has(order)) throw isListed(order);
  if (!args.json && trouble !== undefined) {
    shell.out(`The API's list could not be read: ${printable(trouble)}.\n`);
  }
  if (!args.dryRun && !(await confirmation(questionOf(order, as), args, shell))) return 1;
  if (!args.dryRun) {
    await resolveOrder(entry, as, context);
    await refreshReports({ batches: context.batches, reports: context.config.reports.path });
  }
  if (args.json) printJson(shell, { order, as, dryRun: args.dryRun, listCheck: trouble ?? 'ok' });
  else shell.out(`${printable(order)} ${args.dryRun ? 'would be' : 'is'} ${RESULTS[as]}\n`);
  return 0;
}

const RESULTS: Record<Resolution, string> = {
  accepted: 'settled as accepted; it is not sent again.',
  resend: 'queued to be sent again.',
};

function questionOf(order: string, as: Resolution): string {
  return as === 'accepted'
    ? `Does the API have order ${order}? It will never be sent again.`
    : `Is order ${order} certainly not at the API? If the API has it, sending it again creates it twice.`;
}

function isListed(order: string): PoSyncError {
  const message = `The API's list contains order ${order}: sending it again would create it twice.`;
  return new PoSyncError('order-at-the-api', message, {
    remedy: `Run po-sync dead-letters resolve ${order} --as accepted.`,
    facts: { order },
  });
}
