import { pauseDelivery } from '../../operate/pause-delivery.ts';
import type { CommonArgs } from '../load-config.ts';
import { openOperatorContext } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import { printable, printJson } from '../terminal/print.ts';

/** `pause`: pauses delivery of the environment until `resume`; files are still taken. */
export async function pauseCommand(args: CommonArgs & { reason?: string }, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: false });
  const { environment } = context.config;
  const reason = await pauseDelivery(args.reason, context);
  if (args.json) printJson(shell, { environment, paused: true, reason });
  else shell.out(`Delivery to ${environment} is ${printable(reason)}.\n${CONSEQUENCE}\n`);
  return 0;
}

const CONSEQUENCE = 'Calls in flight are completed and files are still taken. To resume delivery, run po-sync resume.';
