import { decodeCompact } from '../../src/ledger/entry.ts';
import type { Closing } from '../../src/order/dead-letter.ts';
import { idOf } from '../../src/order/letter-id.ts';
import { countSettled, needsPerson, OUTCOMES } from '../../src/order/outcome.ts';
import type { ReportedOrder } from '../../src/report/write-report.ts';
import type { File } from './files.ts';
import type { FaultFound } from './judge.ts';
import { KEYS } from './setting.ts';
import { isStuckOnList } from './standing.ts';
import type { World } from './world.ts';

/** Whether the reports add up, and each dead letter is open exactly as long as its order needs a person. */
export function faultsOfReports(world: World, waits: (number: string) => boolean): FaultFound[] {
  const { files, rolledBackAt } = world;
  // What Redis forgot after a file was put away, its report still says.
  const known = files.all.filter(({ awayAt, isAway }) => !isAway || awayAt > (rolledBackAt ?? -1));
  const sums = known.flatMap((file) => sumFaults(world, file, waits));
  const letters =
    rolledBackAt === undefined ? known.flatMap((file) => deadLetterFaults(world, file)) : [];
  return [...sums, ...letters];
}

function sumFaults(
  { store, weather, deeds, rolledBackAt }: World,
  { batch, orders, report }: File,
  waits: (number: string) => boolean,
): FaultFound[] {
  const miscounted = (detail: string): FaultFound[] => [
    { fault: 'miscounted', number: batch, detail },
  ];
  const all = orders.length;
  if (report === undefined) {
    const counted = Number(store.hget(KEYS.batch(batch), 'counted') ?? 0);
    const waiting = orders.filter(({ number }) => waits(number)).length;
    // A list that must be read first shows which orders of a cancelled file the API has.
    const isCancelled = store.hget(KEYS.batch(batch), 'cancelled') !== null;
    return counted + waiting >= all || (isCancelled && isStuckOnList(store, weather, deeds))
      ? []
      : miscounted(`${counted} counted and ${waiting} waiting of ${all}`);
  }
  const { rows, counts, total } = report;
  if (rows.length !== all || total !== all || countSettled(counts) !== all)
    return miscounted(
      `${rows.length} rows, ${countSettled(counts)} counted, total ${total}, of ${all}`,
    );
  // After a rollback a batch may have another short number than the entries that a reader made before.
  if (rolledBackAt !== undefined) return [];
  return OUTCOMES.flatMap((outcome) => {
    const inRows = rows.filter(({ result }) => result.outcome === outcome).length;
    return inRows === counts[outcome]
      ? []
      : miscounted(`${outcome}: ${inRows} rows, ${counts[outcome]} counted`);
  });
}

function deadLetterFaults(world: World, file: File): FaultFound[] {
  const { store } = world;
  const { batch, report } = file;
  if (report === undefined) return [];
  const closed = store.fields(KEYS.closed(batch));
  const rows = report.rows.filter(({ result }) => needsPerson(result.outcome));
  const open = Number(store.hget(KEYS.batch(batch), 'open') ?? 0);
  const sums: FaultFound[] =
    open === rows.length - closed.size
      ? []
      : [
          {
            fault: 'miscounted',
            number: batch,
            detail: `${open} open, ${rows.length} less ${closed.size} closed`,
          },
        ];
  return [
    ...sums,
    ...rows.flatMap((row) =>
      deadLetterFault(world, file, row, closed.get(String(row.order.ordinal))),
    ),
  ];
}

function deadLetterFault(
  world: World,
  file: File,
  row: ReportedOrder,
  closing: string | undefined,
): FaultFound[] {
  const { number } = row.order;
  const found = (fault: FaultFound['fault'], detail: string) => [
    { fault, number, detail: `${file.batch}: ${detail}` },
  ];
  if (closing === undefined)
    return mustBeClosed(world, file, row) ? found('dead letter left open', 'accepted since') : [];
  const end = JSON.parse(closing) as Closing;
  return mayBeClosed(world, row, end)
    ? []
    : found('dead letter closed early', `by ${end.by} ${end.batch ?? ''}`);
}

/** The order was accepted after the report; other content of a later file, or a conflict with this order, stays. */
function mustBeClosed(
  world: World,
  { batch, awayAtLedger }: File,
  { order, result }: ReportedOrder,
): boolean {
  const { store } = world;
  const key = KEYS.keyOf(order.number);
  const compact = store.hget(KEYS.settled(key), key);
  if (order.number === '' || compact === null) return false;
  const { batchNo, at, became } = decodeCompact(compact, key);
  const no = Number(store.hget(KEYS.batch(batch), 'no') ?? 0);
  if (batchNo === 0 || became !== undefined || at <= awayAtLedger) return false;
  return !(
    (result.outcome === 'conflict' || result.outcome === 'invalid') &&
    (no >= batchNo || againstOf(world, batch, order.ordinal) === batchNo)
  );
}

function againstOf({ store }: World, batch: string, ordinal: number): unknown {
  return (
    JSON.parse(store.hget(KEYS.results(batch), String(ordinal)) ?? '{}') as { against?: unknown }
  ).against;
}

function mayBeClosed(
  { api, deeds, files, store }: World,
  { deadLetter, order: { number } }: ReportedOrder,
  { by, successor }: Closing,
): boolean {
  const isThere = (one: string) =>
    api.counts.has(one) || api.others.has(one) || deeds.wronglyConfirmed.has(one);
  if (by === 'discarded') return deeds.discarded.has(number);
  const corrections = files.all.flatMap(({ orders }) =>
    orders.filter(({ records }) => records.some(({ from }) => from?.id === deadLetter?.id)),
  );
  // A number has one open dead letter.
  const isSame = ({ batch, orders }: File) =>
    orders.some(
      (one) =>
        idOf(batch, one.ordinal) === successor && KEYS.keyOf(one.number) === KEYS.keyOf(number),
    );
  if (by === 'replaced') return corrections.length > 0 || files.all.some(isSame);
  // An export that shows again what was accepted under another number.
  const key = KEYS.keyOf(number);
  const { became } = decodeCompact(store.hget(KEYS.settled(key), key) ?? '', key);
  return [number, became ?? number, ...corrections.map((one) => one.number)].some(isThere);
}
