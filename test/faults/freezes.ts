import { setTimeout as delay } from 'node:timers/promises';
import {
  type Account,
  accountOf,
  allReported,
  countOf,
  type DroppedFile,
  dropOrders,
} from '../support/account.ts';
import { startDaemon } from '../support/daemon.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

/** Milliseconds after which every lock, lease and deadline of a daemon is over and others have its work. */
const PAST_EVERY_LOCK = 17_000;

/**
 * One of two daemons is frozen at work (SIGSTOP) and woken (SIGCONT): some times for longer than every lock, and some
 * times only for about as long as an intent stays fresh. `stale`: calls that a woken one did not write any more.
 */
export async function freezes(
  long: number,
  short: number,
): Promise<Account & { freezes: number; stale: number }> {
  await using place = await openWorkplace({
    faults: { faults: [{ kind: 'delay', by: '2ms..40ms' }] },
    pace: 'settle: 1s, timeout: 1s, backoff: { initial: 50ms, max: 500ms }, probe: { initial: 100ms, max: 500ms }',
  });
  await using first = startDaemon(place);
  await first.ready();
  await using second = startDaemon(place);
  await second.ready();
  const daemons = [first, second];
  const dropped: DroppedFile[] = [];
  for (let n = 0; n < long + short; n += 1) {
    const before = countOf(place.events, 'received');
    await dropOrders(place, dropped, 400);
    await until('work', () => countOf(place.events, 'received') > before + 20);
    await delay(Math.random() * 300);
    const frozen = daemons[n % 2];
    frozen?.signal('SIGSTOP');
    await delay(n < long ? PAST_EVERY_LOCK : 1_500 + Math.random() * 3_000);
    frozen?.signal('SIGCONT');
  }
  await allReported(place, dropped);
  // What a woken daemon may still send has ended after a timeout.
  await delay(2_000);
  const out = first.out() + second.out();
  return {
    ...(await accountOf(place, dropped)),
    freezes: long + short,
    stale: out.split('no longer fresh').length - 1,
  };
}
