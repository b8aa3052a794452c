import { orders } from '../../core/format.ts';
import { deadLetters } from '../../operate/dead-letters.ts';
import { createDiscard, type DiscardVerdict } from '../../operate/discard-dead-letters.ts';
import type { DeadLetterFilter, FoundDeadLetter } from '../../operate/found-dead-letter.ts';
import { refreshReports } from '../../settle/refresh-reports.ts';
import { type ActingArgs, deadLetterFilter } from '../dead-letter-filter.ts';
import { type OperatorContext, openOperatorContext } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import { pages, type Tally, tallyOf } from '../tally.ts';
import { confirmation } from '../terminal/confirmation.ts';
import { printJson } from '../terminal/print-json.ts';

/** `dead-letters discard`: gives orders up that need a person. 0: all of them; 2: some cannot be given up. */
export async function deadLettersDiscardCommand(args: ActingArgs, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: true });
  const filter = deadLetterFilter(args, context.clock);
  const { discard, wouldDiscard } = createDiscard(context);
  const plan = await each(filter, wouldDiscard, context);
  if (!args.json) shell.out(planText(plan));
  const { discarded = 0 } = plan.counts();
  if (args.dryRun || discarded === 0) {
    if (args.json) printJson(shell, { dryRun: args.dryRun, plan: plan.counts() });
    return discarded < plan.total() ? 2 : 0;
  }
  if (!(await confirmation(`Give up ${orders(discarded)}?`, args, shell))) return 1;
  const done = await each(filter, discard, context);
  await refreshReports(context);
  if (args.json) printJson(shell, { done: done.counts() });
  else shell.out(`${orders(done.counts().discarded ?? 0)} given up.\n`);
  return (done.counts().discarded ?? 0) < done.total() ? 2 : 0;
}

async function each(
  filter: DeadLetterFilter,
  act: (deadLetter: FoundDeadLetter) => Promise<DiscardVerdict>,
  context: OperatorContext,
): Promise<Tally<DiscardVerdict>> {
  const tally = tallyOf<DiscardVerdict>();
  for await (const page of pages(deadLetters(filter, context))) {
    for (const verdict of await Promise.all(page.map(act))) tally.add(verdict);
  }
  return tally;
}

function planText(plan: Tally<DiscardVerdict>): string {
  const { discarded = 0, ...left } = plan.counts();
  const lines = Object.entries(left).map(
    ([why, count]) => `${orders(count)} cannot be given up: ${REASONS[why as keyof typeof REASONS]}\n`,
  );
  return [
    plan.total() === 0 ? 'No order passes the filter.\n' : '',
    discarded === 0 ? '' : `${orders(discarded)} would be given up.\n`,
    ...lines,
  ].join('');
}

const REASONS: Record<Exclude<DiscardVerdict, 'discarded'>, string> = {
  'in-doubt': 'whether the API has it is not known. po-sync dead-letters resolve ORDER --as accepted|resend first.',
  'under-way': 'on its way again. Wait for its outcome.',
  settled: 'settled already.',
  forgotten: 'Redis does not know its batch any more. Its report can be removed as it is.',
};
