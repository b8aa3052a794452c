import { PoSyncError } from '../../core/errors.ts';
import { iso } from '../../core/format.ts';
import { explainOrder, type OrderStory } from '../../operate/explain-order.ts';
import { type OperatorContextArgs, openOperatorContext } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import { createPaint } from '../terminal/paint.ts';
import { printJson } from '../terminal/print-json.ts';
import { storyText } from './story-text.ts';

/** `explain ORDER`: the whole story of an order number. Throws PoSyncError `order-unknown`. */
export async function explainCommand(args: OperatorContextArgs & { order: string }, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: false });
  const story = await explainOrder(args.order, context);
  if (story.standing === 'nothing' && story.appearances.length === 0 && story.deeds.length === 0)
    throw unknownOrder(args.order, context.environment);
  if (args.json) printJson(shell, storyJson(story));
  else shell.out(storyText(story, { now: context.time.now(), reports: context.reports, paint: createPaint(shell) }));
  return 0;
}

function unknownOrder(order: string, environment: string): PoSyncError {
  return new PoSyncError('order-unknown', `Nothing is known of the order ${order} in ${environment}.`, {
    remedy:
      'Look at the number, with its leading zeros, and at --environment; orders of a file being read come to be known as they are read.',
    facts: { order },
  });
}

/** Its times as ISO 8601, as in the reports. */
function storyJson({ accepted, open, deeds, ...rest }: OrderStory) {
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
    deeds: deeds.map((operatorAction) => ({ ...operatorAction, at: iso(operatorAction.at) })),
  };
}
