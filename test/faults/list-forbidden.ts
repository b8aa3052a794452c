import {
  type Account,
  accountOf,
  allReported,
  type DroppedFile,
  dropOrders,
} from '../support/account.ts';
import { startDaemon } from '../support/daemon.ts';
import { settledBatches } from '../support/settled-batches.ts';
import { openWorkplace } from '../support/workplace.ts';

/** The list is forbidden and connections drop: what cannot be known is left to a person, nothing is sent again. */
export async function listForbidden(
  orders: number,
): Promise<Account & { accepted: number; inDoubt: number; struck: number }> {
  await using place = await openWorkplace({
    // No call is in doubt only because the machine is slow.
    pace: 'attempts: 3, settle: 1s, timeout: 10s, backoff: { initial: 50ms, max: 500ms }, probe: { initial: 200ms, max: 2s }',
    faults: {
      faults: [
        // The first read is the one of the new ledger.
        { kind: 'answer', on: 'list', status: 403, calls: '2-9999' },
        { kind: 'drop', when: 'before', share: 0.05 },
        { kind: 'drop', when: 'after', how: 'reset', share: 0.05 },
        { kind: 'cut', share: 0.05 },
      ],
    },
  });
  await using daemon = startDaemon(place);
  await daemon.ready();
  const dropped: DroppedFile[] = [];
  await dropOrders(place, dropped, orders);
  await allReported(place, dropped);
  const [settled] = await settledBatches(place.reports);
  const struck = place.events.filter(
    (event) => event.type === 'fault' && event.on === 'create',
  ).length;
  const { accepted = 0, inDoubt = 0 } = settled?.report.counts ?? {};
  return { ...(await accountOf(place, dropped)), accepted, inDoubt, struck };
}
