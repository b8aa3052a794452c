import type { DeadLetter } from '../../order/dead-letter.ts';
import type { DeadLetterKind } from '../../order/outcome.ts';

/**
 * One line of a list of open dead letters. `value`: the first wrong one. `line`: its line, where that is not the order's.
 * `items`: the first items of an order that was refused or is in conflict, or of one that failed a check as far as read, as text; `articles`: its first articles.
 * `already`: that another file has the order or row; `isOpen`: it has no outcome there yet.
 */
export type DeadLetterRow = Pick<
  DeadLetter,
  | 'purchaseOrderNumber'
  | 'kind'
  | 'code'
  | 'message'
  | 'signature'
  | 'attempts'
  | 'firstAt'
  | 'lastAt'
  | 'location'
> & { id: string; batch: string; source: string; file: string } & {
  line?: number;
  value?: string;
  items?: string;
  articles?: string;
  already?: string;
  isOpen?: true;
};

/**
 * A row with what a search finds only there: its number, articles and wrong values, as `searchText` writes them.
 * `isNameless`: a row of a table without an order number.
 */
export type Kept = { row: DeadLetterRow; own: string; isNameless: boolean };

/** Selects rows; a row must match everything that is given. `q`: part of the number, an article, or the message. */
export type RowFilter = {
  /** Only rows that another file has. `inProgress`: the ids of those that it has since, and that are not settled yet. */
  already?: true;
  inProgress?: readonly string[];
  kind?: DeadLetterKind;
  signature?: string;
  batch?: string;
  source?: string;
  /** ISO 8601. */
  since?: string;
  q?: string;
};

/**
 * Rows of one kind and signature in a batch. `at`: their positions in it, ascending. `differs`: their messages contain
 * different values. `nameless`: how many have no order number; `already`: how many another file has.
 */
type Share = Pick<DeadLetterRow, 'kind' | 'signature' | 'firstAt' | 'lastAt'> & {
  at: number[];
  leastLastAt: string;
  differs: boolean;
  nameless: number;
  already: number;
};

/** The rows of one share that match, by position. The other facts are those of these rows. */
export type Selected = Pick<Share, 'firstAt' | 'lastAt' | 'differs' | 'nameless' | 'already'> & {
  at: readonly number[];
};

export type LetterBatch = ReturnType<typeof createLetterBatch>;

/** Text as a search compares it: lower case, on one line. */
export function searchText(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase();
}

/**
 * The open dead letters of one batch. What they have in common is kept once, so that a count or a search takes a step
 * for each error, and one for each row only where the row's own text decides.
 */
export function createLetterBatch(from: { source: string; file: string }, kept: readonly Kept[]) {
  const rows = kept.map(({ row }) => row);
  const shares = sharesOf(kept);
  const search = createSearch(from.file, kept);

  /** What matches, one entry for each kind and signature. `words`: `q` as `searchText` writes it. */
  function select(
    { kind, signature, since, already, inProgress = [] }: RowFilter,
    words: string,
  ): Selected[] {
    const all = words === '' ? undefined : search(words);
    const found = already ? elsewhere(all ?? [...rows.keys()], new Set(inProgress)) : all;
    if (found?.length === 0) return [];
    const hits = found && bySignature(found, rows);
    return [...shares.values()].flatMap((share) => {
      if (kind !== undefined && share.kind !== kind) return [];
      if (signature !== undefined && share.signature !== signature) return [];
      const at = hits === undefined ? share.at : (hits.get(keyOf(share)) ?? []);
      if (since !== undefined && share.leastLastAt < since) {
        return selectedOf(
          kept,
          share.lastAt < since
            ? []
            : at.filter((position) => (rows[position]?.lastAt ?? '') >= since),
        );
      }
      return at.length === share.at.length ? [share] : selectedOf(kept, at);
    });
  }

  function elsewhere(at: readonly number[], inProgress: ReadonlySet<string>): number[] {
    return at.filter((position) => {
      const { already, id = '' } = rows[position] ?? {};
      return already !== undefined || inProgress.has(id);
    });
  }

  return { from, kept, rows, select };
}

function sharesOf(kept: readonly Kept[]): Map<string, Share> {
  const shares = new Map<string, Share>();
  for (const [position, { row, isNameless }] of kept.entries()) {
    const { kind, signature, firstAt, lastAt } = row;
    const [nameless, already] = [Number(isNameless), Number(row.already !== undefined)];
    const share = shares.get(keyOf(row));
    if (share === undefined) {
      const one = {
        kind,
        signature,
        firstAt,
        lastAt,
        leastLastAt: lastAt,
        at: [position],
        differs: false,
      };
      shares.set(keyOf(row), { ...one, nameless, already });
      continue;
    }
    share.nameless += nameless;
    share.already += already;
    if (kept[share.at[0] ?? 0]?.row.message !== row.message) share.differs = true;
    share.at.push(position);
    if (firstAt < share.firstAt) share.firstAt = firstAt;
    if (lastAt > share.lastAt) share.lastAt = lastAt;
    if (lastAt < share.leastLastAt) share.leastLastAt = lastAt;
  }
  return shares;
}

function keyOf({ kind, signature }: Pick<DeadLetterRow, 'kind' | 'signature'>): string {
  return `${kind} ${signature}`;
}

function bySignature(
  found: readonly number[],
  rows: readonly DeadLetterRow[],
): Map<string, number[]> {
  const hits = new Map<string, number[]>();
  for (const position of found) {
    const row = rows[position];
    if (row === undefined) continue;
    const at = hits.get(keyOf(row));
    if (at === undefined) hits.set(keyOf(row), [position]);
    else at.push(position);
  }
  return hits;
}

function selectedOf(kept: readonly Kept[], at: readonly number[]): Selected[] {
  const [first] = at;
  const one = first === undefined ? undefined : kept[first]?.row;
  if (one === undefined) return [];
  let { firstAt, lastAt } = one;
  let [differs, nameless, already] = [false, 0, 0];
  for (const position of at) {
    const { row = one, isNameless = false } = kept[position] ?? {};
    if (row.firstAt < firstAt) firstAt = row.firstAt;
    if (row.lastAt > lastAt) lastAt = row.lastAt;
    if (row.message !== one.message) differs = true;
    nameless += Number(isNameless);
    already += Number(row.already !== undefined);
  }
  return [{ at, firstAt, lastAt, differs, nameless, already }];
}

/** The positions of the rows that have a text, ascending; undefined: all of them. */
type Search = (words: string) => readonly number[] | undefined;

/** One text of the batch: each distinct error once, then what each row has alone. A hit ends the search of its line. */
function createSearch(file: string, kept: readonly Kept[]): Search {
  const name = searchText(file);
  const errors = new Map<string, number[]>();
  for (const [position, { row }] of kept.entries()) {
    const error = `${row.code}\n${row.message}`;
    const at = errors.get(error);
    if (at === undefined) errors.set(error, [position]);
    else at.push(position);
  }
  const lines = [...errors.keys()].map(searchText);
  const owners: (readonly number[])[] = [
    ...errors.values(),
    ...kept.keys().map((position) => [position]),
  ];
  const text = [...lines, ...kept.map(({ own }) => own)].join('\n');
  const starts = startsOf(text);

  return (words) => {
    if (name.includes(words)) return undefined;
    const found = new Set<number>();
    for (let at = text.indexOf(words); at >= 0; ) {
      const line = lineAt(starts, at);
      const own = owners[line] ?? [];
      if (own.length === kept.length) return undefined;
      for (const position of own) found.add(position);
      if (found.size === kept.length) return undefined;
      const next = starts[line + 1];
      at = next === undefined ? -1 : text.indexOf(words, next);
    }
    return [...found].sort((a, b) => a - b);
  };
}

function startsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The line of a position. */
function lineAt(starts: readonly number[], position: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}
