import { iso } from '../../core/format.ts';
import { OPERATOR } from '../../deliver/circuit-breaker.ts';
import { type OperatorContextArgs, openOperatorContext } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import { printJson } from '../terminal/print-json.ts';
import { printable } from '../terminal/printable.ts';

/** `resume`: ends an operator's pause, and tells what else keeps delivery waiting. */
export async function resumeCommand(args: OperatorContextArgs, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: true });
  const { environment } = context;
  const resumed = await context.breaker.release(OPERATOR);
  const [pauses, held] = await Promise.all([context.breaker.reasons(), context.batches.held()]);
  if (args.json) {
    const reasons = pauses.map((pause) => ({ ...pause, since: iso(pause.since) }));
    printJson(shell, { environment, resumed, pauses: reasons, heldBatches: held });
    return 0;
  }
  const goesOn = pauses.length === 0 ? 'goes on' : 'still waits';
  shell.out(
    resumed
      ? `The pause is over; delivery to ${environment} ${goesOn}.\n`
      : `Nobody had paused delivery to ${environment}; it ${goesOn}.\n`,
  );
  for (const { code, reason, held: isHold } of pauses) {
    const end = isHold ? howToEnd(code) : 'it opens by itself';
    shell.out(`  still paused: ${printable(reason)} (${code}); ${end}\n`);
  }
  for (const batch of held) shell.out(`  batch ${batch} is held; \`po-sync batches release ${batch}\`\n`);
  return 0;
}

function howToEnd(code: string): string {
  return code === 'ledger-rolled-back' ? '`po-sync reconcile --repair` ends it' : 'it waits for a person';
}
