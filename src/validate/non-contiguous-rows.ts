import { PoSyncError } from '../core/errors.ts';
import { fixNote, readFixNote } from '../order/fixing.ts';
import type { SourceRecord } from '../order/record.ts';
import type { CheckedRow } from './check-row.ts';
import { openSpill, type Spill } from './spill.ts';

/** Rows of orders whose rows do not follow each other, kept until the end of the file: in memory, or on disk. */
export type NonContiguousRows = AsyncDisposable & {
  add(rows: readonly CheckedRow[]): void;
  /** Moves what is held to disk when it is more than the memory given. */
  relieve(): Promise<void>;
  /** The rows of each number, in the file's order; call once, after the last row. */
  drain(): AsyncGenerator<CheckedRow[]>;
};

type RowRecord = Extract<SourceRecord, { kind: 'row' }>;

export type NonContiguousOptions = {
  /** Bytes kept in memory; when there is more, all goes to disk. */
  memory: number;
  /** Spreads the numbers on disk as the sender of a file cannot foresee. */
  seed: number;
  /** Reads a row again that was on disk. */
  check: (record: RowRecord) => CheckedRow;
};

/** Opens the store; nothing touches the disk before `memory` is used up. */
export function openNonContiguousRows({ memory, seed, check }: NonContiguousOptions): NonContiguousRows {
  let groups = new Map<string, CheckedRow[]>();
  let held = 0;
  let spill: Spill | undefined;

  function hold(row: CheckedRow): void {
    const group = groups.get(row.number);
    if (group) group.push(row);
    else groups.set(row.number, [row]);
    held += sizeOf(row);
  }

  return {
    add(rows) {
      if (spill) for (const row of rows) spill.write(row.number, toLine(row));
      else rows.forEach(hold);
    },
    async relieve() {
      if (spill === undefined) {
        if (held <= memory) return;
        spill = await openSpill(seed);
        for (const rows of groups.values()) this.add(rows);
        groups = new Map();
      }
      await spill.relieve();
    },
    async *drain() {
      if (spill === undefined) {
        yield* groups.values();
        return;
      }
      for await (const lines of spill.portions()) yield* grouped(lines.map((line) => check(fromLine(line)))).values();
    },
    async [Symbol.asyncDispose]() {
      await spill?.[Symbol.asyncDispose]();
    },
  };
}

function grouped(rows: readonly CheckedRow[]): Map<string, CheckedRow[]> {
  return Map.groupBy(rows, ({ number }) => number);
}

/** Bytes that V8 takes for a checked row, and for each of its cells, besides their characters. */
const ROW_COST = 500;
const CELL_COST = 48;

function sizeOf({ record }: CheckedRow): number {
  const cells: readonly string[] = record.kind === 'row' ? record.cells : [];
  return cells.reduce((sum, cell) => sum + cell.length + CELL_COST, ROW_COST);
}

function toLine({ record }: CheckedRow): string {
  if (record.kind !== 'row') return '[]';
  const { place, fixTarget, cells } = record;
  return JSON.stringify([place.line, fixTarget === undefined ? '' : fixNote(fixTarget), ...cells]);
}

function fromLine(line: string): RowRecord {
  const parsed: unknown = JSON.parse(line);
  const [at, note, ...cells]: unknown[] = Array.isArray(parsed) ? parsed : [];
  if (typeof at !== 'number') throw new PoSyncError('spill-damaged', 'Rows laid aside on disk came back damaged.');
  const fixTarget = readFixNote(String(note));
  return { kind: 'row', place: { line: at }, cells: cells.map(String), ...(fixTarget && { fixTarget }) };
}
