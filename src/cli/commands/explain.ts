import { iso } from '../../core/format.ts';
import { explainOrder, type OrderHistory } from '../../operate/explain-order.ts';
import type { CommonArgs } from '../load-config.ts';
import { openOperatorContext } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import { createPaint } from '../terminal/paint.ts';
import { printJson } from '../terminal/print.ts';
import { orderHistoryText } from './order-history-text.ts';

/** `explain ORDER`: the complete history of an order number. Throws PoSyncError `order-unknown`. */
export async function explainCommand(args: CommonArgs & { order: string }, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: false });
  const history = await explainOrder(args.order, context);
  const now = context.store.time.now();
  if (args.json) printJson(shell, historyJson(history));
  else shell.out(orderHistoryText(history, { now, reports: context.config.reports.path, paint: createPaint(shell) }));
  return 0;
}

/** Times become ISO 8601, as in the reports. */
function historyJson({ accepted, open, operatorActions, ...rest }: OrderHistory) {
  return {
    ...rest,
    accepted: accepted && { ...accepted, at: iso(accepted.at) },
    open: open && {
      ...open,
      takenAt: iso(open.takenAt),
      maybeSentAt: open.maybeSentAt && iso(open.maybeSentAt),
      nextAt: open.nextAt && iso(open.nextAt),
      history: open.history.map((attempt) => ({ ...attempt, at: iso(attempt.at) })),
    },
    operatorActions: operatorActions.map((action) => ({ ...action, at: iso(action.at) })),
  };
}
