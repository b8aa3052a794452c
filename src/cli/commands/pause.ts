import { withoutStop } from '../../core/format.ts';
import {
  byWhom,
  notStored,
  pauseDelivery,
  pauseJson,
  resumeDelivery,
  resumedText,
} from '../../operate/delivery/pause-delivery.ts';
import { livingDaemons } from '../../operate/heartbeat.ts';
import { recorded } from '../../operate/operator-context.ts';
import { type CommonArgs, openOperatorContext } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { pauseEndText } from '../terminal/pause-view.ts';
import { formatOf, hanging, printable, printJson, sentences } from '../terminal/print.ts';

/** `pause`: pauses delivery of the environment until `resume`; files are still taken. */
export async function pauseCommand(
  args: CommonArgs & { reason?: string },
  shell: Shell,
): Promise<number> {
  const opening = openOperatorContext(args, shell, { confirm: false });
  await using context = await opening.catch(notStored);
  const { environment } = context.config;
  const { reason, before } = await recorded(
    { what: 'pause', on: environment },
    context,
    async () => {
      const paused = await pauseDelivery(args.reason, context);
      return { ...paused, text: `Delivery is ${paused.reason}.` };
    },
  );
  if (args.json) printJson(shell, { environment, paused: true, reason, before });
  else {
    const already =
      before === undefined ? '' : `It was paused already ${printable(byWhom(before))}.\n`;
    shell.out(
      sentences(
        `Delivery to ${environment} is ${printable(reason)}.\n${already}${CONSEQUENCE}\n`,
        shell,
      ),
    );
  }
  return 0;
}

const CONSEQUENCE =
  'Calls in flight are completed and files are still taken.\nTo resume delivery, run po-sync resume.';

/** `resume`: ends an operator's pause, and shows what else keeps delivery waiting. */
export async function resumeCommand(args: CommonArgs, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: true });
  const { environment } = context.config;
  const { resumed, lifted, pauses, heldBatches } = await recorded(
    { what: 'resume', on: environment },
    context,
    async () => {
      const end = await resumeDelivery(context);
      return { ...end, text: resumedText(end) };
    },
  );
  const isServed = (await livingDaemons(context.store)).some(({ role }) => role !== 'intake');
  if (args.json) {
    const shown = pauses.map(pauseJson);
    printJson(shell, { environment, resumed, lifted, pauses: shown, heldBatches });
    return 0;
  }
  // Without a daemon nothing is delivered, paused or not.
  const state =
    pauses.length > 0 ? 'is still paused' : isServed ? 'is running' : 'begins when a daemon runs';
  shell.out(
    resumed
      ? `Pause ended; delivery to ${environment} ${state}.\n`
      : `Delivery to ${environment} was not paused by an operator; it ${state}.\n`,
  );
  if (lifted)
    shell.out(
      `  The wait is over: one order is sent as a trial ${isServed ? 'now' : 'when a daemon runs'}.\n`,
    );
  for (const pause of pauses) {
    const end = pauseEndText(pause, context.store.time.now());
    const text = `  still paused: ${printable(withoutStop(pause.reason))} (${pause.code}); ${end}`;
    shell.out(`${hanging(text, 4, formatOf(shell))}\n`);
  }
  for (const batch of heldBatches)
    shell.out(`  batch ${batch} is held; run po-sync batches release ${batch}\n`);
  return 0;
}
