import { PoSyncError } from '../../core/errors.ts';
import { findInDoubt, type Resolution, resolveOrder } from '../../operate/resolve-order.ts';
import { refreshReports } from '../../settle/refresh-reports.ts';
import { listCheck } from '../list-check.ts';
import { type OperatorContextArgs, openOperatorContext } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import { confirmation } from '../terminal/confirmation.ts';
import { printJson } from '../terminal/print-json.ts';
import { printable } from '../terminal/printable.ts';
import { withoutStop } from '../terminal/wording.ts';

type ResolveArgs = OperatorContextArgs & { order: string; as: Resolution; yes: boolean; dryRun: boolean };

/** `dead-letters resolve ORDER --as accepted|resend`: settles an order in doubt by what the person found out. */
export async function deadLettersResolveCommand({ order, as, ...args }: ResolveArgs, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: true });
  const entry = await findInDoubt(order, context.ledger);
  const { listed, trouble } = await listCheck(new Set([order]), context, shell);
  if (as === 'resend' && listed?.has(order)) throw isThere(order);
  if (!args.json && trouble !== undefined)
    shell.out(`The API's list could not be looked at: ${printable(withoutStop(trouble))}.\n`);
  if (!args.dryRun && !(await confirmation(questionOf(order, as), args, shell))) return 1;
  if (!args.dryRun) {
    await resolveOrder(entry, as, context);
    await refreshReports(context);
  }
  if (args.json) printJson(shell, { order, as, dryRun: args.dryRun, listCheck: trouble ?? 'ok' });
  else shell.out(`${printable(order)} ${args.dryRun ? 'would be' : 'is'} ${ENDS[as]}\n`);
  return 0;
}

const ENDS: Record<Resolution, string> = {
  accepted: 'settled as accepted; it is not sent any more.',
  resend: 'queued to be sent again.',
};

function questionOf(order: string, as: Resolution): string {
  return as === 'accepted'
    ? `Is ${order} at the API, so that it is never sent again?`
    : `Is ${order} certainly not at the API? If it is, it will be there twice.`;
}

function isThere(order: string): PoSyncError {
  return new PoSyncError('order-at-the-api', `The API's list shows ${order}: sending it again would create it twice.`, {
    remedy: 'Settle it with --as accepted.',
    facts: { order },
  });
}
