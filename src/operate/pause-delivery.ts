import { OPERATOR, type Pause } from '../deliver/circuit-breaker.ts';
import { ROLLED_BACK } from '../ledger/identity.ts';
import type { OperatorContext } from './operator-context.ts';

/**
 * What ends a pause: `automatic`, an order gets through; `operator`, the command `resume`; `list`, the API's list has
 * been read, which needs a person only if the API does not offer it.
 */
export type PauseEnd = 'automatic' | 'operator' | 'list';

export function endOf({ code }: Pick<Pause, 'code'>): PauseEnd {
  if (code === OPERATOR) return 'operator';
  return code === ROLLED_BACK ? 'list' : 'automatic';
}

/** Most characters of a reason that are kept. */
const LONGEST_REASON = 500;

/** Pauses delivery until `resumeDelivery`; files are still taken. Returns the reason as it is shown. */
export async function pauseDelivery(
  why: string | undefined,
  { breaker, operator }: Pick<OperatorContext, 'breaker' | 'operator'>,
): Promise<string> {
  const reason = `paused by ${operator.who}${why === undefined ? '' : `: ${why.slice(0, LONGEST_REASON)}`}`;
  await breaker.hold(OPERATOR, reason);
  return reason;
}

/**
 * `resumed`: an operator's pause ended. `lifted`: a wait, such as one that the API asked for, ended.
 * `pauses` and `heldBatches`: what still keeps orders waiting.
 */
export type Resumed = { resumed: boolean; lifted: boolean; pauses: Pause[]; heldBatches: string[] };

/** Ends an operator's pause and the waits of an automatic pause: one order tries at once. */
export async function resumeDelivery({
  breaker,
  batches,
}: Pick<OperatorContext, 'breaker' | 'batches'>): Promise<Resumed> {
  const resumed = await breaker.release(OPERATOR);
  const lifted = await breaker.lift();
  const [pauses, heldBatches] = await Promise.all([breaker.reasons(), batches.held()]);
  return { resumed, lifted, pauses, heldBatches };
}
