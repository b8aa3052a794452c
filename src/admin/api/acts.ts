import { PoSyncError } from '../../core/errors.ts';
import {
  cancelBatch,
  cancelledText,
  closeUnreadable,
  isInVain,
  LISTED_ON_PAGE,
  notHeld,
  releaseBatch,
  releasedText,
} from '../../operate/batches/cancel-batch.ts';
import { findBatch, viewOf } from '../../operate/batches/list-batches.ts';
import {
  type RetryVerdict,
  retryDeadLetters,
} from '../../operate/dead-letters/retry-dead-letters.ts';
import { findListed } from '../../operate/delivery/api-list.ts';
import {
  pauseDelivery,
  pauseJson,
  resumeDelivery,
  resumedText,
} from '../../operate/delivery/pause-delivery.ts';
import { type OperatorContext, recorded } from '../../operate/operator-context.ts';
import {
  createDiscard,
  type DiscardVerdict,
  orderInProgress,
} from '../../operate/orders/discard-order.ts';
import { findInDoubt, type Resolution, resolveOrder } from '../../operate/orders/resolve-order.ts';
import { fileTitle } from '../../order/batch.ts';
import type { Principal } from '../http/route.ts';
import type { ApiContext } from './api-context.ts';
import { readLetter } from './dead-letter-routes.ts';

/** What a person asks for. `on`: a batch, a dead letter or an order. `confirm`: the name of a protected environment. */
export type Request = {
  on: string;
  confirm?: string;
  reason?: string;
  as?: Resolution;
  withoutRows?: boolean;
};

/** What an act did: as JSON, and in a sentence. `isInVain`: not what the person wanted; `isOpen`: not known yet. */
export type Done = { document: object; text: string; isInVain?: boolean; isOpen?: boolean };

type Act = (context: OperatorContext, request: Request, api: ApiContext) => Promise<Done>;

/** Acts that send or withdraw nothing need no confirmation, also in a protected environment. */
const HARMLESS = ['pause'];

/** Everything that an operator can do at the admin port, by its name. */
export const ACTS = { pause, resume, release, cancel, retry, discard, resolve };

export type ActName = keyof typeof ACTS;

/** Runs an act for a person and records it. PoSyncError `confirmation-missing`, and those of the act. */
export async function runAct(
  name: ActName,
  request: Request,
  principal: Principal | undefined,
  api: ApiContext,
): Promise<Done> {
  const act: Act = ACTS[name];
  return acting(name, request, principal, api, (context) => act(context, request, api));
}

/** Runs what a person asked for under a name, and records it. PoSyncError `confirmation-missing`, and those of `act`. */
export async function acting<Result extends { text: string }>(
  what: string,
  { on, confirm }: Request,
  principal: Principal | undefined,
  api: ApiContext,
  act: (context: OperatorContext) => Promise<Result>,
): Promise<Result> {
  const context = api.operatorOf(principal);
  const { environment, environments } = context.config;
  if (environments[environment]?.protected && !HARMLESS.includes(what) && confirm !== environment) {
    throw new PoSyncError('confirmation-missing', `${environment} is protected.`, {
      remedy: `Enter ${environment} to confirm.`,
      facts: { inBody: JSON.stringify({ confirm: environment }).slice(1, -1) },
    });
  }
  return recorded({ what, on }, context, () => act(context).finally(api.outdate));
}

async function pause(context: OperatorContext, { reason }: Request): Promise<Done> {
  const { reason: said } = await pauseDelivery(reason?.trim() || undefined, context);
  return { document: { paused: true, reason: said }, text: `Delivery is ${said}.` };
}

async function resume(context: OperatorContext): Promise<Done> {
  const end = await resumeDelivery(context);
  const isOpen = end.pauses.length > 0;
  return {
    document: { ...end, pauses: end.pauses.map(pauseJson) },
    text: resumedText(end),
    isOpen,
  };
}

async function release(
  context: OperatorContext,
  { on, withoutRows = false }: Request,
): Promise<Done> {
  const batch = await findBatch(on, context.batches);
  if (!(await releaseBatch(batch, context, { withoutRows }))) throw await notHeld(batch, context);
  return { document: { batch: batch.batch, released: true }, text: releasedText(batch) };
}

async function cancel(context: OperatorContext, { on }: Request): Promise<Done> {
  const batch = await findBatch(on, context.batches);
  if (batch.state === 'done') {
    const { end, text } = await closeUnreadable(await viewOf(batch, context), context);
    return { document: { batch: batch.batch, ...end }, text };
  }
  const end = await cancelBatch(batch, context);
  const text = cancelledText(
    { batch: fileTitle({ ...batch, file: batch.name }) },
    end,
    LISTED_ON_PAGE,
  );
  // Orders that may have been sent can still be accepted.
  const isOpen = end.underWay > 0;
  return { document: { batch: batch.batch, ...end }, text, isInVain: isInVain(end), isOpen };
}

const RETRIED: Record<RetryVerdict, string> = {
  retried: 'is sent again',
  asked: "is looked up in the API's list again",
  found: "is accepted: the API's list shows it",
  invalid: 'failed a check and must be corrected',
  'number-taken': 'is not sent: its number was sent already, with other items',
  corrected: 'is not sent: a fix file brought its rows back as another order',
  'under-way': 'is being sent already',
  settled: 'is settled already',
  forgotten: 'is not sent: the ledger no longer has its content',
};

/** Sends an order again unchanged, after looking it up in ledger and list. */
async function retry(context: OperatorContext, { on }: Request, api: ApiContext): Promise<Done> {
  const letter = await readLetter(api, on);
  const { listed, trouble } = await findListed(new Set([letter.purchaseOrderNumber]), api.readList);
  const [verdict = 'under-way'] = await retryDeadLetters([letter], 0, { listed }, context);
  return {
    document: { verdict, listCheck: trouble ?? 'ok' },
    text: `${letter.purchaseOrderNumber} ${RETRIED[verdict]}.`,
  };
}

const DISCARDED: Record<DiscardVerdict, string> = {
  discarded: 'is discarded',
  'in-doubt': 'is not discarded: the API may have it. Resolve it first',
  'under-way': 'is not discarded: it is being sent again',
  settled: 'is settled already',
  forgotten: 'is not discarded: Redis no longer has its batch',
  'in-progress': 'is not discarded: it is in progress in another file',
};

/** Closes a dead letter without sending. PoSyncError `order-in-progress`. */
async function discard(context: OperatorContext, { on }: Request, api: ApiContext): Promise<Done> {
  const letter = await readLetter(api, on);
  const { verdict, other } = await createDiscard(context).judgeAndDiscard(letter);
  const name = letter.purchaseOrderNumber || `Line ${letter.location.line}`;
  if (other !== undefined) throw orderInProgress(name, other);
  // The person looks at the list next.
  await api.catchUp();
  return { document: { verdict }, text: `${name} ${DISCARDED[verdict]}.` };
}

/** Settles an order in doubt as the person found it at the API. `on`: its number. */
async function resolve(
  context: OperatorContext,
  { on, as }: Request,
  api: ApiContext,
): Promise<Done> {
  if (as === undefined) throw new PoSyncError('parameter-wrong', 'as must be accepted or resend.');
  const entry = await findInDoubt(on, context.ledger, as);
  const { listed, trouble } = await findListed(new Set([on]), api.readList);
  if (as === 'resend' && entry.state !== 'conflict' && listed?.has(on)) {
    throw new PoSyncError('order-listed', `The API's list shows order ${on}.`, {
      remedy: 'Resolve it as accepted.',
    });
  }
  await resolveOrder(entry, as, context);
  return {
    document: { order: on, as, listCheck: trouble ?? 'ok' },
    text:
      as === 'accepted'
        ? `${on} is settled as accepted.`
        : `${on} is sent again. If the API has it, it is created twice.`,
  };
}
