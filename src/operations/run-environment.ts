import { iso } from '../core/format.ts';
import { createLink, endSessions } from '../operate/dashboard-link.ts';
import {
  delivers,
  pauseDelivery,
  pauseJson,
  type Resumed,
  resumeDelivery,
} from '../operate/delivery/pause-delivery.ts';
import { type Status, statusJson } from '../operate/delivery/read-status.ts';
import type { Finding } from '../operate/doctor/finding.ts';
import { livingDaemons } from '../operate/heartbeat.ts';
import type { OperationContext } from '../operate/operation-context.ts';
import { explainOrder, historyJson, type OrderHistory } from '../operate/orders/explain-order.ts';
import { asText } from '../order/sentence.ts';
import { causeText, pauseFacts, resumedText } from '../wording/pause.ts';
import type { Act, Done, Plan, Work } from './operation.ts';

type Seen = { status: Status; awaySince?: number };

/** The status, as the pages of the dashboard have it too. */
export function seenJson({ status, awaySince }: Seen) {
  return { ...statusJson(status), ...(awaySince && { redisAwaySince: iso(awaySince) }) };
}

export const seen: Work<object, Seen> = { run: (_, { status }) => status(), json: seenJson };

export const explained: Work<{ order: string }, OrderHistory> = {
  run: ({ order }, context) => explainOrder(order, context),
  json: historyJson,
};

/** What `doctor` found. */
export function findingsJson(findings: readonly Finding[]) {
  return { ok: findings.every(({ state }) => state !== 'fail'), findings };
}

export const examined: Work<object, Finding[]> = {
  run: (_, { examine }) => examine(),
  json: findingsJson,
};

/** Nothing is asked before. */
const whole = ({ config: { environment } }: OperationContext): Plan => ({
  on: environment,
  json: { environment },
});

/** Pauses delivery of the environment until `resume`; files are still taken. */
export const pause: Act<{ reason?: string | undefined }, Plan & { reason?: string | undefined }> = {
  plan: async ({ reason }, context) => ({ ...whole(context), reason: reason?.trim() }),
  async run({ json, reason: why }, context) {
    const { cause, before } = await pauseDelivery(why || undefined, context);
    const already = before === undefined ? '' : `Before, it was ${asText(causeText(before))}.\n`;
    return {
      text: `Delivery is ${asText(causeText(cause))}.`,
      steps: already + CONSEQUENCE,
      json: { ...json, ...pauseFacts(cause), ...(before && { before: pauseFacts(before) }) },
    };
  },
};

const CONSEQUENCE =
  'Calls in flight are completed and files are still taken.\nTo resume delivery, run po-sync resume.';

/** `isServed`: a daemon delivers. */
export type ResumeEnd = Done & { resumed: Resumed; isServed: boolean };

/** Ends an operator's pause. */
export const resume: Act<object, Plan, ResumeEnd> = {
  plan: async (_, context) => whole(context),
  async run({ json }, context) {
    const resumed = await resumeDelivery(context);
    const isServed = (await livingDaemons(context.store)).some(delivers);
    const pauses = resumed.pauses.map(pauseJson);
    return {
      text: resumedText(resumed),
      json: { ...json, ...resumed, pauses },
      isOpen: pauses.length > 0,
      resumed,
      isServed,
    };
  },
};

/** A link to the dashboard, or the end of all sessions; neither is something that was done with orders. */
export const dashboard: Act<{ signOutAll: boolean }, Plan & { signOutAll: boolean }> = {
  isRecorded: true,
  plan: async ({ signOutAll }, context) => ({ ...whole(context), signOutAll }),
  async run({ signOutAll }, context) {
    if (signOutAll) {
      await endSessions(context.store);
      return {
        text: 'Every session of the dashboard ends within 10 s.',
        json: { signedOut: true },
      };
    }
    const json = await createLink(context);
    const text = `The link works once, within 60 s, for ${json.who}.`;
    return { text, steps: `\n${json.url}`, json };
  },
};
