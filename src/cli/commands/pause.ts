import { OPERATOR } from '../../deliver/circuit-breaker.ts';
import { type DeskArgs, openDesk } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import { printJson } from '../terminal/print-json.ts';
import { printable } from '../terminal/printable.ts';

/** `pause`: holds delivery of the environment until `resume`; files go on being taken. */
export async function pauseCommand(args: DeskArgs & { reason?: string }, shell: Shell): Promise<number> {
  await using desk = await openDesk(args, shell, { confirm: false });
  const said = args.reason === undefined ? '' : `: ${args.reason.slice(0, 500)}`;
  const reason = `paused by ${desk.operator.who}${said}`;
  await desk.gate.hold(OPERATOR, reason);
  if (args.json) printJson(shell, { environment: desk.environment, paused: true, reason });
  else shell.out(`Delivery to ${desk.environment} is ${printable(reason)}.\n${AFTER}\n`);
  return 0;
}

const AFTER = 'Calls under way end; files go on being taken. `po-sync resume` lets delivery go on.';
