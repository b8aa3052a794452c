import type { CircuitBreaker } from '../../deliver/circuit-breaker.ts';
import { OPERATOR } from '../../deliver/circuit-breaker.ts';
import { queueChanged } from '../../log/events/delivery.ts';
import type { OrderQueue } from '../../queue/queue.ts';
import type { Context } from '../../redis/store.ts';
import { recorded } from '../operator-context.ts';
import { pauseDelivery } from './pause-delivery.ts';

const ANOTHER = { who: 'another program' };

/**
 * Builds the check for what another program, such as a user interface of BullMQ, set in the queue. A pause becomes an
 * operator's pause, which status shows and `resume` ends; anything else is undone.
 */
export function createQueueGuard(
  context: Context,
  { queue, breaker }: { queue: OrderQueue; breaker: CircuitBreaker },
): () => Promise<void> {
  const { config, log, store } = context;
  const operator = {
    ...ANOTHER,
    did: (what: never) => ({ at: store.time.now(), ...ANOTHER, what }),
  };

  async function takeOverPause(): Promise<void> {
    if ((await breaker.reasons()).some(({ code }) => code === OPERATOR)) return;
    await recorded(
      { what: 'pause', on: config.environment },
      { ...context, operator },
      async () => {
        const why = 'it paused the queue of BullMQ in Redis';
        const { reason } = await pauseDelivery(why, { ...context, breaker, operator });
        return { text: `Delivery is ${reason}.` };
      },
    );
  }

  return async () => {
    const settings = await queue.foreignSettings();
    if (settings.length === 0) return;
    queueChanged(log, { settings });
    if (settings.includes('paused')) await takeOverPause();
    await queue.undo(settings);
  };
}
