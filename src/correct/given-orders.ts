import type { Mapping } from '../config/config.ts';
import { compile } from '../mapping/plan.ts';
import {
  inspectRecords,
  type Reading,
  type Records,
  readRecords,
} from '../mapping/read-records.ts';
import { type CheckedOrder, keptAsRead } from '../order/order.ts';
import type { Problem } from '../order/problem.ts';
import type { FileShape, SourceRecord } from '../order/record.ts';
import type { RawRecord, Row, Value } from '../parse/record.ts';
import { createCheckedOrders, createItemsAsRead } from './checked-order.ts';
import type { Inspection } from './inspection.ts';

/** The orders of a correction: its rows, read with the mapping of the file that is corrected. */
export async function* givenPages(
  given: readonly SourceRecord[],
  { shape, mappings, stamp }: Pick<Inspection, 'shape' | 'mappings' | 'stamp'>,
): AsyncGenerator<CheckedOrder[]> {
  const [named] = mappings;
  if (named === undefined) throw new TypeError('a correction has the mapping of its batch');
  let ordinal = 0;
  // A person confirmed some as they are: of these, only values that cannot be sent are wrong.
  for (const part of partsOf(given)) {
    const isConfirmed = part[0]?.isConfirmed === true;
    const mapping = isConfirmed ? confirmed(named.mapping) : forGiven(named.mapping);
    const plan = compile(mapping, { lacksState: true });
    const records = recordsOf(part, shape, stamp);
    const { reading } = await inspectRecords(records, plan, { ...named, mapping });
    if (reading === undefined) continue;
    const byLine = new Map(part.map((record) => [record.place.line, record]));
    const checked = createCheckedOrders(reading);
    for await (const page of readRecords(records, reading, { released: {} }))
      yield page.map((one) => {
        const own = { ...checked(one), ordinal: ordinal++ };
        return withFacts(own, byLine, reading);
      });
  }
}

/** Orders that follow each other and are confirmed, or are not. */
function partsOf(given: readonly SourceRecord[]): SourceRecord[][] {
  const parts: SourceRecord[][] = [];
  for (const record of given) {
    const last = parts.at(-1);
    if (last !== undefined && last[0]?.isConfirmed === record.isConfirmed) last.push(record);
    else parts.push([record]);
  }
  return parts;
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
function withFacts(
  order: CheckedOrder,
  byLine: ReadonlyMap<number, SourceRecord>,
  reading: Reading,
): CheckedOrder {
  const records = order.records.map((record) => byLine.get(record.place.line) ?? record);
  const held: Problem[] = records.flatMap((record) => record.held ?? []);
  const problems = [...(order.valid ? [] : order.problems), ...held];
  if (problems.length === 0 && order.valid) return { ...order, records };
  const { ordinal, number, place } = order;
  const read = keptAsRead(createItemsAsRead(reading)(records));
  return { ordinal, number, place, records, valid: false, problems, ...read };
}
