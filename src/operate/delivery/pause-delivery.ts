import { PoSyncError, toError } from '../../core/errors.ts';
import { clauses, duration, iso, withoutStop } from '../../core/format.ts';
import type { Pause } from '../../deliver/breaker-view.ts';
import { OPERATOR } from '../../deliver/circuit-breaker.ts';
import { endOf } from '../../deliver/pause-rules.ts';
import { type Batch, isFinished } from '../../ledger/batches/batches.ts';
import { refusedWrite, replyRemedy } from '../../redis/connection-end.ts';
import { isBeating, type LivingDaemon } from '../heartbeat.ts';
import type { OperatorContext } from '../operator-context.ts';

/** `waitsForOrder`: no order can be tried now; the pause lasts until one comes, which is then sent as a trial. */
export type ShownPause = Pause & { waitsForOrder?: true };

/** That delivery is paused, why and for how long. */
export function pausedText(pause: Pick<Pause, 'code' | 'reason' | 'since'>, now: number): string {
  const text = `for ${duration(Math.max(0, now - pause.since))}`;
  // The reason of a person is a separate clause.
  return pause.code === OPERATOR
    ? `${withoutStop(pause.reason)}, ${text}`
    : `paused ${text} (${pause.code}): ${withoutStop(pause.reason)}`;
}

/** That delivery is paused, by whom or why. */
export function causeText({ code, reason }: Pick<Pause, 'code' | 'reason'>): string {
  return code === OPERATOR ? withoutStop(reason) : `paused (${code}): ${withoutStop(reason)}`;
}

/** A pause in JSON output. */
export function pauseJson({ since, nextTryAt, ...pause }: ShownPause) {
  return {
    ...pause,
    since: iso(since),
    ...(nextTryAt === undefined ? {} : { nextTryAt: iso(nextTryAt) }),
    ends: endOf(pause),
  };
}

/** Maximum characters of a reason that are kept. */
const LONGEST_REASON = 500;

/**
 * Pauses delivery until `resumeDelivery`; files are still taken. Returns the reason as it is shown, and that of a pause that
 * an operator began before: it stays unless there is a new one.
 */
export async function pauseDelivery(
  why: string | undefined,
  context: Pick<OperatorContext, 'breaker' | 'operator' | 'store'>,
): Promise<{ reason: string; before?: string }> {
  const { breaker, operator } = context;
  const before = (await breaker.reasons()).find(({ code }) => code === OPERATOR)?.reason;
  const own = `paused by ${operator.who}${why === undefined ? '' : `: ${why.slice(0, LONGEST_REASON)}`}`;
  const reason = why === undefined ? (before ?? own) : own;
  await breaker.hold(OPERATOR, reason).catch(notStored);
  return { reason, ...(before === undefined ? {} : { before }) };
}

/** While Redis refuses writes, there is nothing to pause: an attempt begins with an entry in Redis. Throws PoSyncError `pause-not-stored`. */
export function notStored(thrown: unknown): never {
  const { message, cause } = toError(thrown);
  const said = refusedWrite(toError(thrown)) ?? (cause instanceof Error && refusedWrite(cause));
  if (!said) throw thrown;
  throw new PoSyncError(
    'pause-not-stored',
    `The pause could not be stored: Redis refuses writes (${withoutStop(said)}). No order is sent while it does, and delivery resumes when Redis takes writes again.`,
    {
      remedy: `${replyRemedy(message) ?? 'Find out why.'} To keep orders from being sent then, stop the daemons first, and run po-sync pause before you start them.`,
      cause: thrown,
    },
  );
}

/**
 * `resumed`: an operator's pause ended. `lifted`: a wait, such as one that the API asked for, ended, of one order or all.
 * `pauses` and `heldBatches`: what still keeps orders waiting.
 */
export type Resumed = { resumed: boolean; lifted: boolean; pauses: Pause[]; heldBatches: string[] };

/**
 * Ends an operator's pause, and the waits of an automatic pause and of single orders. An order in doubt continues to wait for the list, which protects it from being created twice.
 */
export async function resumeDelivery(
  context: Pick<OperatorContext, 'breaker' | 'batches' | 'ledger' | 'store'>,
): Promise<Resumed> {
  const { breaker, batches } = context;
  const resumed = await breaker.release(OPERATOR);
  const hastened = await endRetryWaits(context);
  await requestTokenAnew(context);
  const lifted = (await breaker.lift()) || hastened > 0;
  const [pauses, heldBatches] = await Promise.all([breaker.reasons(), batches.held()]);
  return { resumed, lifted, pauses, heldBatches };
}

/** What kept delivery from having a token may be fixed: one is requested, also in place of one that the API does not accept. */
async function requestTokenAnew({
  breaker,
  store: { redis, keys },
}: Pick<OperatorContext, 'breaker' | 'store'>): Promise<void> {
  const isRefused = (await breaker.reasons()).some(({ code }) => code === 'token-not-accepted');
  await redis.del(keys.tokenFailure, ...(isRefused ? [keys.token] : []));
}

/** What ending a pause led to, in a sentence that is still right when the call that follows has its answer. */
export function resumedText({ pauses }: Pick<Resumed, 'pauses'>): string {
  const left = clauses(
    ...pauses.filter((pause) => endOf(pause) !== 'automatic').map(({ reason }) => reason),
  );
  if (left !== '') return `Delivery is still paused: ${left}.`;
  if (pauses.length === 0) return 'Delivery is running.';
  return 'po-sync calls the API once more now: delivery continues when it accepts an order. The top of each page shows whether it does.';
}

/** Milliseconds; no order waits longer for its next attempt. */
const LONGEST_WAIT = 86_400_000;
const MOST = 100_000;

/** Makes every order that waits for its next attempt due now; how many. */
async function endRetryWaits({
  ledger,
  store,
}: Pick<OperatorContext, 'ledger' | 'store'>): Promise<number> {
  const now = store.time.now();
  const areDue = new Set(await ledger.numbersDue('due', now, MOST));
  const later = (await ledger.numbersDue('due', now + LONGEST_WAIT, MOST)).filter(
    (number) => !areDue.has(number),
  );
  const known = await ledger.lookup(later);
  const waiting = known.flatMap((one) =>
    one.kind === 'open' && one.entry.state === 'retry' ? [one.entry] : [],
  );
  await Promise.all(waiting.map(({ order }) => ledger.postpone(order.purchaseOrderNumber, now)));
  return waiting.length;
}

/** Whether a daemon calls the API; one of an earlier version without a role does everything. */
export function delivers({ role }: Pick<LivingDaemon, 'role'>): boolean {
  return role !== 'intake';
}

/** Why no daemon of these calls the API; undefined: one does. The heartbeat of one that was killed stays for some seconds. */
export function noDelivery(
  daemons: readonly Pick<LivingDaemon, 'role' | 'silentMs'>[],
): string | undefined {
  const serving = daemons.filter(delivers);
  if (serving.some(isBeating)) return undefined;
  return serving.length === 0 ? 'no daemon delivers' : 'no daemon that delivers sends a heartbeat';
}

/** The files that were taken and that wait for a daemon that takes files, which reads them and writes their reports. */
export function leftWithoutIntake(
  batches: readonly Batch[],
  daemons: readonly Pick<LivingDaemon, 'role'>[],
): Batch[] {
  if (daemons.some(({ role }) => role !== 'delivery')) return [];
  return batches.filter(
    (one) => one.held === undefined && (one.state === 'reading' || isFinished(one)),
  );
}
