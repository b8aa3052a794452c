import type { Plan } from '../../operations/operation.ts';
import type { ResumeEnd } from '../../operations/run-environment.ts';
import { asText } from '../../order/sentence.ts';
import { pauseEndText } from '../../views/pause.ts';
import { pauseText } from '../../wording/pause.ts';
import { hanging, printable } from '../terminal/print.ts';
import type { ActView } from './definitions/operation-command.ts';

/** What ended, and what else keeps delivery waiting. */
export const resumeView: ActView<Plan, ResumeEnd> = {
  end({ resumed: { resumed, lifted, pauses, heldBatches }, isServed }, { context, format }) {
    const { environment } = context.config;
    // Without a daemon nothing is delivered, paused or not.
    const state =
      pauses.length > 0 ? 'is still paused' : isServed ? 'is running' : 'begins when a daemon runs';
    const now = context.store.time.now();
    return [
      resumed
        ? `Pause ended; delivery to ${environment} ${state}.\n`
        : `Delivery to ${environment} was not paused by an operator; it ${state}.\n`,
      lifted
        ? `  The wait is over: one order is sent as a trial ${isServed ? 'now' : 'when a daemon runs'}.\n`
        : '',
      ...pauses.map((pause) => {
        const reason = printable(asText(pauseText(pause)));
        const text = `  still paused: ${reason} (${pause.code}); ${pauseEndText(pause, now)}`;
        return `${hanging(text, 4, format)}\n`;
      }),
      ...heldBatches.map(
        (batch) => `  batch ${batch} is held; run po-sync batches release ${batch}\n`,
      ),
    ].join('');
  },
};
