import type { FaultFileInput } from '../../src/sandbox/faults/fault-file.ts';
import {
  type Account,
  accountOf,
  allReported,
  countOf,
  type DroppedFile,
  dropOrders,
} from '../support/account.ts';
import { startDaemon } from '../support/daemon.ts';
import { exchange } from '../support/exchange.ts';
import { settledBatches } from '../support/settled-batches.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

/**
 * How the API is unreachable: nobody listens, a proxy answers in its place, or it takes no orders but shows its list.
 */
export type Away = 'nobody listens' | 'a proxy answers 502' | 'only the list answers';

/** What three attempts with unknown outcome take at this pace at most: a timeout, two settles and the longest backoff each. */
const SPAN = 3 * (1_000 + 2 * 1_000 + 500);
const paceOf = (timeout: string) =>
  `attempts: 3, settle: 1s, timeout: ${timeout}, backoff: { initial: 50ms, max: 500ms }, probe: { initial: 200ms, max: 2s }`;

type Outage = {
  how: Away;
  /** The API becomes unreachable after a number of calls, with more in flight. */
  after: number;
  /** How many times what all attempts of an order may take. */
  times: number;
  orders: number;
};

/** The API is away for a long time, from the middle of the work or from the first order on. */
export async function apiAway({
  how,
  after,
  times,
  orders,
}: Outage): Promise<Account & { awaySeconds: number; paused: string[]; resumed: number }> {
  const span = Math.round(times * SPAN);
  const slow = { kind: 'delay', by: '100ms' };
  const away = { faults: [slow, faultOf(how, span)] };
  await using place = await openWorkplace({
    pace: paceOf('1s'),
    sandbox: { record: true },
    faults: after === 0 ? away : { faults: [slow] },
  });
  await using daemon = startDaemon(place);
  await daemon.ready();
  const dropped: DroppedFile[] = [];
  await dropOrders(place, dropped, orders);
  if (after > 0) {
    await until('the middle of the work', () => countOf(place.events, 'received') >= after);
    await exchange('PUT', `${place.api.authUrl}/rehearsal/faults`, { body: JSON.stringify(away) });
  }
  await allReported(place, dropped, span + 120_000);
  const lines = daemon.out().split('\n');
  return {
    ...(await accountOf(place, dropped)),
    awaySeconds: Math.round(span / 1000),
    paused: lines.flatMap((line) =>
      line.includes('"event":"delivery-paused"') ? codeIn(line) : [],
    ),
    resumed: lines.filter((line) => line.includes('"event":"delivery-resumed"')).length,
  };
}

function codeIn(line: string): string {
  return (JSON.parse(line) as { code: string }).code;
}

/** From a moment after the fault begins to count, so that the call that sets it gets its answer. */
function faultOf(how: Away, span: number): NonNullable<FaultFileInput['faults']>[number] {
  const away = { from: '100ms', until: `${100 + span}ms` };
  switch (how) {
    case 'nobody listens':
      return { kind: 'outage', ...away };
    case 'a proxy answers 502':
      return { kind: 'answer', on: 'any', status: 502, body: 'html', ...away };
    case 'only the list answers':
      return { kind: 'answer', on: 'create', status: 502, body: 'html', ...away };
  }
}

/** The list is forbidden and connections drop: what cannot be known is left to a person, nothing is sent again. */
export async function listForbidden(
  orders: number,
): Promise<Account & { accepted: number; inDoubt: number; struck: number }> {
  await using place = await openWorkplace({
    // No call is in doubt only because the machine is slow.
    pace: paceOf('10s'),
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
  await allReported(place, dropped, 300_000);
  const [settled] = await settledBatches(place.reports);
  const struck = place.events.filter(
    (event) => event.type === 'fault' && event.on === 'create',
  ).length;
  const { accepted = 0, inDoubt = 0 } = settled?.report.counts ?? {};
  return { ...(await accountOf(place, dropped)), accepted, inDoubt, struck };
}
