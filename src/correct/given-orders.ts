import type { Mapping, NamedMapping } from '../config/config.ts';
import { compile } from '../mapping/plan.ts';
import { inspectRecords, type Records, readRecords } from '../mapping/read-records.ts';
import type { CheckedOrder } from '../order/order.ts';
import type { Problem } from '../order/problem.ts';
import type { FileShape, SourceRecord } from '../order/record.ts';
import type { RawRecord, Row, Value } from '../parse/record.ts';
import { createCheckedOrders } from './checked-order.ts';
import type { Inspection } from './inspection.ts';

const PAGE = 500;

/** The orders of a correction: its rows, read with the mapping of the file that is corrected. */
export async function* givenPages(
  given: readonly SourceRecord[],
  from: GivenForm,
): AsyncGenerator<CheckedOrder[]> {
  const [named] = from.mappings;
  if (named === undefined) throw new TypeError('a correction has the mapping of its batch');
  const { name, mapping } = named;
  const orders = await readGiven(given, { name, mapping: forGiven(mapping) }, from);
  // A person confirmed what is wrong with some: of these, only values that cannot be sent are wrong.
  const meant = orders.filter(isMeant).flatMap(({ records }) => records);
  const again = await readGiven(meant, { name, mapping: confirmed(mapping) }, from);
  const confirmedFrom = new Map(again.map((order) => [order.records[0], order]));
  for (let i = 0; i < orders.length; i += PAGE)
    yield orders.slice(i, i + PAGE).map((order) => {
      const own = confirmedFrom.get(order.records[0]);
      return own === undefined ? order : { ...own, ordinal: order.ordinal };
    });
}

type GivenForm = Pick<Inspection, 'shape' | 'mappings' | 'stamp'>;

async function readGiven(
  given: readonly SourceRecord[],
  named: NamedMapping,
  { shape, stamp }: GivenForm,
): Promise<CheckedOrder[]> {
  if (given.length === 0) return [];
  const plan = compile(named.mapping, { lacksState: true });
  const records = recordsOf(given, shape, stamp);
  const { reading } = await inspectRecords(records, plan, named);
  if (reading === undefined) return [];
  const byLine = new Map(given.map((record) => [record.place.line, record]));
  const checked = createCheckedOrders(reading);
  const orders: CheckedOrder[] = [];
  for await (const page of readRecords(records, reading, { released: {} }))
    orders.push(...page.map((one) => withFacts(checked(one), byLine)));
  return orders;
}

/** Whether a person said of each row of an order with something wrong that it is right. */
function isMeant(order: CheckedOrder): boolean {
  if (order.valid || order.number === '') return false;
  const sent = new Set(
    order.records.flatMap(({ isConfirmed, place }) => (isConfirmed ? place.line : [])),
  );
  return order.problems.every(({ line }) => sent.has(line));
}

/** What chose rows of the file has done so. */
function forGiven(mapping: Mapping): Mapping {
  const { lastRow: _, ...rest } = mapping;
  const columns = Object.entries(mapping.columns).map(([name, keys]) => {
    if (keys === 'ignore' || keys.skip === undefined) return [name, keys] as const;
    const { skip: __, ...kept } = keys;
    return [name, kept.send === undefined ? ('ignore' as const) : kept] as const;
  });
  return { ...rest, columns: Object.fromEntries(columns), skipRows: [], delimiter: ',' };
}

function confirmed(mapping: Mapping): Mapping {
  const given = forGiven(mapping);
  const columns = Object.entries(given.columns).map(([name, keys]) =>
    keys !== 'ignore' && keys.send !== undefined
      ? ([name, 'ignore'] as const)
      : ([name, keys] as const),
  );
  return { ...given, columns: Object.fromEntries(columns), repeatedRows: 'send' };
}

/** A file that is arrays in memory. */
function recordsOf(
  given: readonly SourceRecord[],
  { header, format }: FileShape,
  stamp: Records['stamp'],
): Records {
  const records = given.map(rawRecord);
  const head: Row[] = header === undefined ? [] : [{ kind: 'row', line: 0, cells: header }];
  const kind = header !== undefined || given[0]?.kind === 'row' ? 'csv' : format.type;
  return {
    format: kind,
    stamp,
    head: async () => head,
    async *records() {
      yield [...head, ...records];
    },
    summary: () => ({
      format: kind,
      sha256: '',
      bytes: 0,
      encoding: 'utf-8',
      gzip: false,
      isOpenEnded: false,
      beside: [],
    }),
  };
}

function rawRecord(record: SourceRecord): RawRecord {
  const { line, pointer = '' } = record.place;
  if (record.kind === 'row') return { kind: 'row', line, cells: record.cells };
  return { kind: 'object', line, pointer, value: record.value as Value };
}

/** An order with what a person said about its rows, and held for what was wrong and nobody changed. */
function withFacts(order: CheckedOrder, byLine: ReadonlyMap<number, SourceRecord>): CheckedOrder {
  const records = order.records.map((record) => byLine.get(record.place.line) ?? record);
  const held: Problem[] = records.flatMap((record) => record.held ?? []);
  const problems = [...(order.valid ? [] : order.problems), ...held];
  if (problems.length === 0 && order.valid) return { ...order, records };
  const { ordinal, number, place } = order;
  return { ordinal, number, place, records, valid: false, problems };
}
