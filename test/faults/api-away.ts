import type { FaultFileInput } from '../../src/sandbox/faults/fault-file.ts';
import { type Account, accountOf, allReported, type DroppedFile, dropOrders } from '../support/account.ts';
import { startDaemon } from '../support/daemon.ts';
import { settledBatches } from '../support/settled-batches.ts';
import { openWorkplace } from '../support/workplace.ts';

/** How the API is away: nobody listens, a proxy answers in its place, or it takes no orders but shows its list. */
export type Away = 'nobody listens' | 'a proxy answers 502' | 'only the list answers';

const FROM = 3_000;
/** What three attempts with unknown outcome take at this pace at most: a timeout, two settles and the longest backoff each. */
const SPAN = 3 * (1_000 + 2 * 1_000 + 500);
const paceOf = (timeout: string) =>
  `attempts: 3, settle: 1s, timeout: ${timeout}, backoff: { initial: 50ms, max: 500ms }, probe: { initial: 200ms, max: 2s }`;

/** The API is away for so many times what all attempts of an order may take. */
export async function apiAway(
  how: Away,
  times: number,
  orders: number,
): Promise<Account & { awaySeconds: number; paused: string[]; resumed: number }> {
  const until = FROM + Math.round(times * SPAN);
  await using place = await openWorkplace({
    pace: paceOf('1s'),
    faults: { faults: [{ kind: 'delay', by: '100ms' }, ...faultsOf(how, until)] },
  });
  await using daemon = startDaemon(place);
  await daemon.ready();
  const dropped: DroppedFile[] = [];
  await dropOrders(place, dropped, orders);
  await allReported(place, dropped, until + 120_000);
  const lines = daemon.out().split('\n');
  return {
    ...(await accountOf(place, dropped)),
    awaySeconds: Math.round((until - FROM) / 1000),
    paused: lines.flatMap((line) => (line.includes('"event":"delivery-paused"') ? codeIn(line) : [])),
    resumed: lines.filter((line) => line.includes('"event":"delivery-resumed"')).length,
  };
}

function codeIn(line: string): string {
  return (JSON.parse(line) as { code: string }).code;
}

function faultsOf(how: Away, until: number): NonNullable<FaultFileInput['faults']> {
  const away = { from: `${FROM}ms`, until: `${until}ms` };
  switch (how) {
    case 'nobody listens':
      return [{ kind: 'outage', ...away }];
    case 'a proxy answers 502':
      return [{ kind: 'answer', on: 'any', status: 502, body: 'html', ...away }];
    case 'only the list answers':
      return [{ kind: 'answer', on: 'create', status: 502, body: 'html', ...away }];
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
        { kind: 'answer', on: 'list', status: 403 },
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
  const struck = place.events.filter((event) => event.type === 'fault' && event.on === 'create').length;
  const { accepted = 0, inDoubt = 0 } = settled?.report.counts ?? {};
  return { ...(await accountOf(place, dropped)), accepted, inDoubt, struck };
}
