import { OPERATOR } from '../../deliver/circuit-breaker.ts';
import { type OperatorContextArgs, openOperatorContext } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import { printJson } from '../terminal/print-json.ts';
import { printable } from '../terminal/printable.ts';

/** `pause`: holds delivery of the environment until `resume`; files go on being taken. */
export async function pauseCommand(args: OperatorContextArgs & { reason?: string }, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: false });
  const said = args.reason === undefined ? '' : `: ${args.reason.slice(0, 500)}`;
  const reason = `paused by ${context.operator.who}${said}`;
  await context.breaker.hold(OPERATOR, reason);
  if (args.json) printJson(shell, { environment: context.environment, paused: true, reason });
  else shell.out(`Delivery to ${context.environment} is ${printable(reason)}.\n${AFTER}\n`);
  return 0;
}

const AFTER = 'Calls under way end; files go on being taken. `po-sync resume` lets delivery go on.';
