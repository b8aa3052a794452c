import { parseExactly } from '../order/quantity.ts';
import type { RawRecord } from '../parse/record.ts';
import type { Group } from './judge.ts';
import { type Line, type Part, recordOf } from './line.ts';

// Orders that wait for the end of the file wait as texts, without their key.

/** Parts name their records by their indexes; rows are records themselves. */
type Packed = Omit<Group, 'lines' | 'key'> & {
  records: RawRecord[];
  parts: (Omit<Part, 'record'> & { record: number })[];
};

/** A group as a text. */
export function packed(whole: Group): string {
  const { lines, key: _, ...group } = whole;
  const records: RawRecord[] = [];
  const parts: Packed['parts'] = [];
  for (const line of lines) {
    const record = recordOf(line);
    if (records.at(-1) !== record) records.push(record);
    if (line.kind === 'row') continue;
    const { value, ...part } = line;
    // The value of an order's own record is in the record.
    parts.push({ ...part, ...(!line.isHead && { value }), record: records.length - 1 });
  }
  return JSON.stringify({ ...group, records, parts } satisfies Packed);
}

/** The group that a text of `packed` is. */
export function unpacked(text: string, key: string): Group {
  let all = JSON.parse(text) as Packed;
  if (all.records[0]?.kind === 'object') all = parseExactly(text) as Packed;
  const { records, parts, ...group } = all;
  const lines =
    parts.length > 0
      ? parts.map((part): Line => ({ ...part, record: recordAt(records, part.record) }))
      : records.filter((record) => record.kind === 'row');
  return { ...group, other: group.other, key, lines };
}

function recordAt(records: readonly RawRecord[], at: number): RawRecord {
  const record = records[at];
  if (record === undefined) throw new TypeError('a part without its record');
  return record;
}
