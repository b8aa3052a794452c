import { type BatchStanding, type StandingFacts, standingOf } from '../../operate/batches/list-batches.ts';

/** What a list of batches filters by. `startedAt`: milliseconds since 1970. */
export type BatchRow = StandingFacts & {
  batch: string;
  source: string;
  file: string;
  startedAt: number;
  /** Open dead letters. */
  open: number;
  /** Its report cannot be written, or its file not be put away. */
  unsettled?: true;
  /** Its unreadable file was removed. */
  isDismissed?: true;
  /** It has dead letters, open or closed. */
  hasLetters?: true;
};

/** Selects batches; a batch must match everything that is given. `q`: part of the file's or the batch's name. */
export type BatchRowFilter = {
  state?: BatchStanding;
  /** Only batches that need a person. */
  open?: boolean;
  source?: string;
  q?: string;
  /** Milliseconds since 1970. */
  since?: number;
};

/** Batches by standing, and what needs a person. */
export type BatchTotals = { batches: Record<BatchStanding, number>; open: number; deadLetters: number };

export type BatchTable = ReturnType<typeof createBatchTable>;

/** The batches of an environment in memory, about 300 bytes each, the newest first. */
export function createBatchTable() {
  const rows = new Map<string, BatchRow>();
  let names: string[] | undefined;

  function put(row: BatchRow): void {
    if (!rows.has(row.batch)) names = undefined;
    rows.set(row.batch, row);
  }

  function remove(batch: string): void {
    if (rows.delete(batch)) names = undefined;
  }

  function* newestFirst(): Generator<BatchRow> {
    names ??= [...rows.keys()].sort().reverse();
    for (const name of names) {
      const row = rows.get(name);
      if (row !== undefined) yield row;
    }
  }

  /** The names of at most `limit` batches that are older than `after`. */
  function page(filter: BatchRowFilter, limit: number, after?: string): { names: string[]; next: string | undefined } {
    const found: string[] = [];
    const needsPerson = openTest();
    for (const row of newestFirst()) {
      // Asked for every row, because it remembers the files that were read later.
      const isOpen = needsPerson(row);
      if (after !== undefined && row.batch >= after) continue;
      if (filter.since !== undefined && row.startedAt < filter.since) break;
      if ((filter.open && !isOpen) || !matches(row, filter)) continue;
      if (found.length === limit) return { names: found, next: found.at(-1) };
      found.push(row.batch);
    }
    return { names: found, next: undefined };
  }

  function totals(): BatchTotals {
    const found: BatchTotals = { batches: { ...NONE }, open: 0, deadLetters: 0 };
    const needsPerson = openTest();
    for (const row of newestFirst()) {
      found.batches[standingOf(row)] += 1;
      found.deadLetters += row.open;
      if (needsPerson(row)) found.open += 1;
    }
    return found;
  }

  /** The newest unreadable files, at most so many. */
  function unreadable(most: number): string[] {
    const found: string[] = [];
    for (const row of newestFirst()) {
      if (standingOf(row) === 'unreadable') found.push(row.batch);
      if (found.length === most) break;
    }
    return found;
  }

  return { put, remove, page, totals, unreadable, find: (batch: string) => rows.get(batch), names: () => rows.keys() };
}

const NONE: Record<BatchStanding, number> = { reading: 0, sending: 0, held: 0, finished: 0, unreadable: 0 };

/** Whether a batch needs a person, asked for the newest first: an unreadable file that was replaced or removed does not. */
function openTest(): (row: BatchRow) => boolean {
  const readLater = new Set<string>();
  return (row) => {
    const file = `${row.source}/${row.file}`;
    const isUnreadable = standingOf(row) === 'unreadable';
    if (isUnreadable && !readLater.has(file) && !row.isDismissed) return true;
    if (!isUnreadable) readLater.add(file);
    return row.open > 0 || row.held !== undefined || row.unsettled === true;
  };
}

function matches(row: BatchRow, { state, source, q }: BatchRowFilter): boolean {
  if (state !== undefined && standingOf(row) !== state) return false;
  if (source !== undefined && row.source !== source) return false;
  const words = q?.trim().toLowerCase() ?? '';
  return words === '' || row.file.toLowerCase().includes(words) || row.batch.toLowerCase().includes(words);
}
