import type { FaultFileInput } from '../../src/sandbox/faults/fault-file.ts';
import {
  type Account,
  accountOf,
  allReported,
  type DroppedFile,
  dropOrders,
} from '../support/account.ts';
import { startDaemon } from '../support/daemon.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

/** Fifteen kinds, two of a hundred calls each: three of ten calls are struck. The list and the token endpoint suffer too. */
const EVERY_KIND: FaultFileInput['faults'] = [
  { kind: 'drop', when: 'before', how: 'close', share: 0.02 },
  { kind: 'drop', when: 'before', how: 'reset', share: 0.02 },
  { kind: 'drop', when: 'after', how: 'close', share: 0.02 },
  { kind: 'drop', when: 'after', how: 'reset', share: 0.02 },
  { kind: 'cut', share: 0.02 },
  { kind: 'answer', when: 'before', status: 500, share: 0.02 },
  { kind: 'answer', when: 'after', status: 500, share: 0.02 },
  { kind: 'answer', when: 'before', status: 502, body: 'html', share: 0.02 },
  { kind: 'answer', when: 'after', status: 504, body: 'html', share: 0.02 },
  { kind: 'answer', when: 'after', status: 200, body: 'empty', share: 0.02 },
  { kind: 'late', by: '50ms..600ms', share: 0.02 },
  { kind: 'answer', status: 429, retryAfter: '1s', share: 0.005 },
  { kind: 'answer', status: 503, share: 0.02 },
  { kind: 'revoke', share: 0.005 },
  { kind: 'delay', when: 'before', by: '1100ms..1300ms', share: 0.03 },
  { kind: 'delay', when: 'after', by: '1100ms..1900ms', share: 0.03 },
  { kind: 'drop', on: 'list', share: 0.1 },
  { kind: 'cut', on: 'list', share: 0.1 },
  { kind: 'answer', on: 'list', status: 500, share: 0.1 },
  { kind: 'list', show: 'lag:0ms..600ms', share: 0.3 },
  { kind: 'answer', on: 'token', status: 503, body: 'html', share: 0.2 },
];

/** Orders against an API that fails three of ten calls in every way there is. */
export async function randomFaults(
  orders: number,
  seed = 1,
): Promise<Account & { struck: number; peakMb: number }> {
  await using place = await openWorkplace({
    faults: { seed, faults: EVERY_KIND },
    pace: 'settle: 1s, timeout: 1s, backoff: { initial: 50ms, max: 500ms }, probe: { initial: 100ms, max: 500ms }, concurrency: 32',
  });
  await using daemon = startDaemon(place);
  await daemon.ready();
  const dropped: DroppedFile[] = [];
  await dropOrders(place, dropped, orders);
  await until('half of the orders', () => place.stored().size > orders / 2);
  await allReported(place, dropped);
  const struck = place.events.filter(
    (event) => event.type === 'fault' && event.on === 'create',
  ).length;
  return { ...(await accountOf(place, dropped)), struck, peakMb: await daemon.peakMb() };
}
