import {
  type Account,
  accountOf,
  allReported,
  countOf,
  type DroppedFile,
  dropOrders,
} from '../support/account.ts';
import { startDaemon } from '../support/daemon.ts';
import { storeOrders } from '../support/order-file.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

/** A small file dropped behind a huge one: how long each takes from the moment when the small one comes. */
export async function smallBehindHuge(
  huge: number,
): Promise<Account & { smallSeconds: number; hugeSeconds: number }> {
  await using place = await openWorkplace({ faults: { faults: [{ kind: 'delay', by: '25ms' }] } });
  await using daemon = startDaemon(place);
  await daemon.ready();
  const dropped: DroppedFile[] = [];
  await dropOrders(place, dropped, huge);
  await until('the huge file under way', () => countOf(place.events, 'stored') > 1_000, 120_000);
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 100) / 10;
  await dropOrders(place, dropped, 5);
  await allReported(place, [{ name: 'the first that is through', first: 1, orders: 0 }], 600_000);
  const smallSeconds = seconds();
  const wasHuge = countOf(place.events, 'stored') >= huge;
  await allReported(place, dropped, 600_000);
  return {
    ...(await accountOf(place, dropped)),
    smallSeconds: wasHuge ? Number.NaN : smallSeconds,
    hugeSeconds: seconds(),
  };
}

/** Orders in doubt are looked for in a list of so many orders: what the daemon's memory was at rest, and at most. */
export async function longList(
  listed: number,
  orders: number,
): Promise<Account & { lists: number; idleMb: number; peakMb: number }> {
  await using data = await makeTempFolder();
  fill(data.path, listed);
  const idleMb = await idle();
  await using place = await openWorkplace({
    sandbox: { data: data.path },
    faults: {
      faults: [
        { kind: 'drop', when: 'after', share: 0.1 },
        { kind: 'drop', when: 'before', share: 0.1 },
      ],
    },
  });
  await using daemon = startDaemon(place);
  await daemon.ready();
  const dropped: DroppedFile[] = [];
  await dropOrders(place, dropped, orders);
  await allReported(place, dropped, 600_000);
  const lists = place.events.filter(
    (event) => event.type === 'answered' && event.on === 'list',
  ).length;
  return { ...(await accountOf(place, dropped)), lists, idleMb, peakMb: await daemon.peakMb() };
}

/** What a daemon has in memory that has nothing to do. */
async function idle(): Promise<number> {
  await using place = await openWorkplace();
  await using daemon = startDaemon(place);
  await daemon.ready();
  return daemon.nowMb();
}

/** Stores orders of others, as many years would. */
function fill(folder: string, count: number): void {
  const items =
    '[{"articleCode":"ART-1001","quantity":3},{"articleCode":"ART-2002","quantity":12}]';
  storeOrders(
    folder,
    Array.from({ length: count }, (_, n) => ({ number: `OLD-${n}`, items })),
  );
}
