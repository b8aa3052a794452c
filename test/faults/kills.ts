import { setTimeout as delay } from 'node:timers/promises';
import {
  type Account,
  accountOf,
  allReported,
  type DroppedFile,
  dropOrders,
} from '../support/account.ts';
import { startDaemon } from '../support/daemon.ts';
import { openWorkplace } from '../support/workplace.ts';

/** Two daemons share inbox and private Redis; one of them after the other is killed with kill -9, files coming all the while. */
export async function kills(
  times: number,
): Promise<Account & { kills: number; files: number; peakMb: number }> {
  await using place = await openWorkplace({
    faults: {
      faults: [
        { kind: 'delay', by: '5ms..60ms' },
        { kind: 'drop', when: 'after', share: 0.02 },
        { kind: 'answer', when: 'before', status: 502, body: 'html', share: 0.02 },
      ],
    },
    pace: 'settle: 1s, timeout: 1s, backoff: { initial: 50ms, max: 500ms }, probe: { initial: 100ms, max: 500ms }',
  });
  await using first = startDaemon(place);
  await first.ready();
  await using second = startDaemon(place);
  await second.ready();
  const dropped: DroppedFile[] = [];
  for (let n = 0; n < times; n += 1) {
    await dropOrders(place, dropped, 1 + Math.floor(Math.random() * 120));
    await delay(Math.random() * 1500);
    await (Math.random() < 0.5 ? first : second).restart();
  }
  await Promise.all([first.ready(), second.ready()]);
  await allReported(place, dropped);
  const peakMb = Math.max(await first.peakMb(), await second.peakMb());
  return { ...(await accountOf(place, dropped)), kills: times, files: dropped.length, peakMb };
}
