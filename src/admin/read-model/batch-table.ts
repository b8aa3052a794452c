import {
  type BatchStanding,
  type StandingFacts,
  standingOf,
} from '../../operate/batches/list-batches.ts';
import type { OutcomeCounts } from '../../order/outcome.ts';

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
  /** Its unreadable file was replaced by a later one, or cancelled. */
  isOver?: true;
  counts: OutcomeCounts;
};

/** Selects batches; a batch must match everything that is given. `q`: part of the file's or the batch's name. */
export type BatchRowFilter = {
  state?: BatchStanding;
  /** Only batches that need a person. */
  open?: boolean;
  source?: string;
  q?: string;
  /** When it was taken, milliseconds since 1970; `until` is excluded. */
  since?: number;
  until?: number;
};

export type BatchTable = ReturnType<typeof createBatchTable>;

/** The batches of an environment in memory, about 400 bytes each, the newest first. */
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

  /** The batches that match, the newest first. */
  function* matching(filter: BatchRowFilter): Generator<BatchRow> {
    for (const row of newestFirst()) {
      if (filter.since !== undefined && row.startedAt < filter.since) break;
      if ((!filter.open || isOpen(row)) && matches(row, filter)) yield row;
    }
  }

  /** The names of at most `limit` of them that are older than `after`. */
  function page(
    filter: BatchRowFilter,
    limit: number,
    after?: string,
  ): { names: string[]; next: string | undefined } {
    const rows = matching(filter).filter(({ batch }) => after === undefined || batch < after);
    const names = Array.from(rows.take(limit + 1), ({ batch }) => batch);
    return names.length > limit
      ? { names: names.slice(0, limit), next: names[limit - 1] }
      : { names, next: undefined };
  }

  const find = (batch: string) => rows.get(batch);
  return { put, remove, matching, page, find, names: () => rows.keys() };
}

/** Whether a batch needs a person. */
function isOpen(row: BatchRow): boolean {
  const isUnread = standingOf(row) === 'unreadable' && !row.isOver;
  return isUnread || row.open > 0 || row.held !== undefined || row.unsettled === true;
}

function matches(row: BatchRow, { state, source, q, until }: BatchRowFilter): boolean {
  if (until !== undefined && row.startedAt >= until) return false;
  if (state !== undefined && standingOf(row) !== state) return false;
  if (source !== undefined && row.source !== source) return false;
  const words = q?.trim().toLowerCase() ?? '';
  return (
    words === '' ||
    row.file.toLowerCase().includes(words) ||
    row.batch.toLowerCase().includes(words)
  );
}
