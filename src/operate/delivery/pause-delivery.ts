import { iso } from '../../core/format.ts';
import type { Pause } from '../../deliver/breaker-view.ts';
import { endOf } from '../../deliver/pause-rules.ts';
import { type Batch, isFinished } from '../../ledger/batches/batches.ts';
import { OPERATOR, type PauseCause } from '../../ledger/pause-cause.ts';
import { pauseText } from '../../wording/pause.ts';
import { isBeating, type LivingDaemon } from '../heartbeat.ts';
import type { OperatorContext } from '../operator-context.ts';

/** `waitsForOrder`: no order can be tried now; the pause lasts until one comes, which is then sent as a trial. */
export type ShownPause = Pause & { waitsForOrder?: true };

/** A pause in JSON output. */
export function pauseJson({ since, nextTryAt, ...pause }: ShownPause) {
  return {
    ...pause,
    message: pauseText(pause),
    since: iso(since),
    ...(nextTryAt === undefined ? {} : { nextTryAt: iso(nextTryAt) }),
    ends: endOf(pause),
  };
}

/** Maximum characters of a reason that are kept. */
const LONGEST_REASON = 500;

/**
 * Pauses delivery until `resumeDelivery`; files are still taken. Returns the cause, and that of a pause that an operator began
 * before: it stays unless there is a new one.
 */
export async function pauseDelivery(
  why: string | undefined,
  context: Pick<OperatorContext, 'breaker' | 'operator' | 'store'>,
): Promise<{ cause: PauseCause; before?: PauseCause }> {
  const { breaker, operator } = context;
  const found = (await breaker.reasons()).find(({ code }) => code === OPERATOR);
  const before = found && ({ code: found.code, facts: found.facts } as PauseCause);
  const said = why === undefined ? {} : { why: why.slice(0, LONGEST_REASON) };
  const own: PauseCause = { code: OPERATOR, facts: { who: operator.who, ...said } };
  const cause = why === undefined ? (before ?? own) : own;
  await breaker.hold(cause);
  return { cause, ...(before && { before }) };
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
