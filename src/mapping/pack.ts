import {
  ExactNumber,
  type OddCell,
  type RawRecord,
  type Row,
  type Value,
} from '../parse/record.ts';
import type { Group } from './judge.ts';
import { type Line, type Mark, type Part, recordOf } from './line.ts';

// Orders that wait for the end of the file wait as texts.

type WithMarks<Line, One = Mark> = Omit<Line, 'odd'> & { odd?: [number, One][] };

type PackedRecord =
  | { kind: 'object'; line: number; pointer: string; value: string }
  | WithMarks<Row, OddCell>;

/** A part names its record by its index; its value is a separate text. */
type PackedPart = WithMarks<Omit<Part, 'record' | 'value'>> & { record: number; value?: string };

type Packed = {
  group: Omit<Group, 'lines' | 'other'> & { other?: string };
  records: PackedRecord[];
  parts: PackedPart[];
};

/** A group as a text. */
export function packed({ lines, ...group }: Group): string {
  const records: RawRecord[] = [];
  const parts: PackedPart[] = [];
  for (const line of lines) {
    const record = recordOf(line);
    if (records.at(-1) !== record) records.push(record);
    if (line.kind === 'row') continue;
    const { record: _, value, ...part } = withMarks(line);
    const text = value === undefined || line.isHead ? {} : { value: textOf(value) };
    parts.push({ ...part, ...text, record: records.length - 1 });
  }
  return JSON.stringify({ group, records: records.map(packedRecord), parts });
}

/** The group that a text of `packed` is. */
export function unpacked(text: string): Group {
  const { group, records: texts, parts }: Packed = JSON.parse(text);
  const records = texts.map(unpackedRecord);
  const lines =
    parts.length > 0 ? parts.map((part) => unpackedPart(part, records)) : rowsOf(records);
  return { ...group, other: group.other, lines };
}

function rowsOf(records: readonly RawRecord[]): Line[] {
  return records.filter((record) => record.kind === 'row');
}

function packedRecord(record: RawRecord): PackedRecord {
  return record.kind === 'row' ? withMarks(record) : { ...record, value: textOf(record.value) };
}

function unpackedRecord(record: PackedRecord): RawRecord {
  if (record.kind === 'object') return { ...record, value: valueFrom(record.value) };
  const { odd, ...row } = record;
  return odd === undefined ? row : { ...row, odd: new Map(odd) };
}

function unpackedPart(
  { record, value, odd, ...part }: PackedPart,
  records: readonly RawRecord[],
): Part {
  const own = records[record];
  if (own === undefined) throw new TypeError('a part without its record');
  return {
    ...part,
    record: own,
    ...(value !== undefined && { value: valueFrom(value) }),
    ...(odd !== undefined && { odd: new Map(odd) }),
  };
}

function withMarks<One, Rest>({ odd, ...line }: Rest & { odd?: ReadonlyMap<number, One> }) {
  return odd === undefined ? line : { ...line, odd: [...odd] };
}

/** A value as JSON, its numbers as they were written. */
function textOf(value: Value): string {
  return JSON.stringify(value, (_, one: unknown) =>
    one instanceof ExactNumber ? JSON.rawJSON(one.source) : one,
  );
}

function valueFrom(text: string): Value {
  // The third parameter (JSON.parse source text access) is in Node 24, and not yet in TypeScript's library.
  const revive = (_: string, one: unknown, ...[context]: { source?: string }[]) =>
    typeof one === 'number' ? new ExactNumber(context?.source ?? String(one)) : one;
  return JSON.parse(text, revive);
}
