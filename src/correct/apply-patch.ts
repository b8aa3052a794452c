import type { Mapping } from '../config/config.ts';
import { counted } from '../core/format.ts';
import type { CorrectionCounts } from '../order/dead-letter.ts';
import { placeText } from '../order/fixing.ts';
import type { FileShape, SourceRecord } from '../order/record.ts';
import { shorten, trimBlanks } from '../order/text.ts';
import {
  type Edit,
  editLetter,
  type Letter,
  type RowForm,
  recordsOf,
  rowForm,
  stillHeld,
  unedited,
} from './edit-letter.ts';
import { placeOfRecord, recordsIn } from './letter-rows.ts';
import type { Patch, PatchRow } from './patch.ts';

/** What is corrected: the dead letters of a batch, the form of its file, and how that is mapped. */
export type Corrected = {
  batch: string;
  letters: readonly Letter[];
  shape: Pick<FileShape, 'header' | 'items'>;
  mapping: Mapping;
  /** Ordinals of those whose number a row of another file was given. */
  joins?: Set<number>;
  /** Numbers that no row can be given, and why. */
  barred?: ReadonlyMap<string, string>;
};

/**
 * What patches do. `records`: the rows of the orders that they touch, those of one order together; `discards`: the ids of dead letters.
 */
export type Applied = {
  records: readonly SourceRecord[];
  discards: readonly string[];
  counts: CorrectionCounts;
  warnings: readonly string[];
};

/** `given`: the numbers that rows were given. */
export type AppliedPatch = Applied & { given: readonly string[] };

/**
 * Applies what a person changed to the dead letters of a batch. A cell that is at fault takes its new value; any other is
 * restored, unless no cell is to blame. What is not in the patch is unchanged. `lineFor`: where a row is that did not come back.
 */
export function applyPatch(
  patch: Patch,
  corrected: Corrected,
  lineFor: () => number = linesAfter([patch]),
): AppliedPatch {
  const form = rowForm(corrected.shape, corrected.mapping);
  const { edits, discards, counts, said } = editsIn(patch, corrected, form);
  addRows(patch.rows, { corrected, edits, form, said });
  for (const [ordinal, edit] of edits) {
    const numbers = edit.isTouched ? numbersOf(edit, form) : [];
    const shown = numbers.slice(0, 3).join(' and ');
    const fault =
      numbers.length > 1
        ? `its rows have the numbers ${shown} now. Give all of them one number`
        : corrected.barred?.get(numbers[0] ?? '');
    if (fault === undefined) continue;
    said.push(`${nameOf(edit.letter)}: ${fault}. Nothing of it was taken`);
    edits.set(ordinal, { ...unedited(edit.letter), restored: edit.restored });
  }
  counts.unchanged += [...edits.values()].filter(({ isTouched }) => !isTouched).length;
  const given = joinOthers(corrected, edits, form);
  const isSettled = settledRows(corrected, { edits, discards });
  releaseOthers(corrected, { edits, discards }, isSettled);
  const touched = [...edits.values()].filter(({ isTouched }) => isTouched);
  const restored = [...edits.values()].flatMap((edit) => edit.restored);
  return {
    records: write(touched, { form, isSettled, lineFor }),
    discards: [...discards].map((ordinal) => `${corrected.batch}-${ordinal}`),
    counts: {
      ...counts,
      taken: touched.length,
      discarded: discards.size,
      restored: restored.length,
    },
    warnings: warningsOf(said, restored),
    given,
  };
}

type Edits = Map<number, Edit>;

function editsIn(patch: Patch, { letters }: Corrected, form: RowForm) {
  const known = new Map(letters.map((letter) => [letter.ordinal, letter]));
  const counts = { unchanged: 0, outdated: 0 };
  const said: string[] = [];
  const discards = new Set<number>();
  const edits: Edits = new Map();
  for (const [ordinal, rows] of Map.groupBy(patch.rows, ({ id }) => id?.ordinal)) {
    if (ordinal === undefined) continue;
    const letter = known.get(ordinal);
    const answer = letter === undefined ? UNKNOWN : answerTo(letter, rows);
    if (letter === undefined || answer !== undefined) {
      const { count, text } = answer ?? UNKNOWN;
      counts[count] += 1;
      said.push(`${nameOf(letter, rows)}: ${text}`);
    } else if (rows.every(({ act }) => act === 'discard')) discards.add(ordinal);
    else {
      const edit = editLetter(letter, rows, { form, isForm: patch.isForm });
      const isDoubted = edit.isTouched && letter.kind === 'inDoubt';
      if (isDoubted) said.push(`${nameOf(letter)}: ${IN_DOUBT}`);
      edits.set(ordinal, isDoubted ? unedited(letter) : edit);
    }
  }
  return { edits, discards, counts, said };
}

type Answer = { count: 'outdated' | 'unchanged'; text: string };

const UNKNOWN: Answer = { count: 'outdated', text: 'the report has no such row' };

/** Why nothing of a dead letter is taken. */
function answerTo(letter: Letter, rows: readonly PatchRow[]): Answer | undefined {
  const { ended, revision, rows: own = [], kind } = letter;
  const outdated = (text: string): Answer => ({ count: 'outdated', text });
  const unchanged = (text: string): Answer => ({ count: 'unchanged', text });
  if (ended !== undefined) return outdated(ended);
  if (rows.some(({ id }) => id?.revision !== revision))
    return outdated('it was corrected since. Take its rows again');
  const numbers = rows.flatMap(({ id }) => id?.row ?? []);
  if (new Set(numbers).size < numbers.length)
    return outdated('one _id is there twice. Nothing of it was taken');
  if (numbers.some((row) => row > own.length)) return UNKNOWN;
  const other = rows.find(({ act }) => !['', 'send', 'discard', 'delete'].includes(act));
  if (other !== undefined)
    return unchanged(`_do is ${JSON.stringify(shorten(other.act, 40))}. Write send or discard`);
  const discarded = rows.filter(({ act }) => act === 'discard').length;
  if (discarded > 0 && discarded < own.length)
    return unchanged('only some of its rows say discard. Write it into all of them');
  if (discarded > 0 && kind === 'inDoubt') return unchanged(IN_DOUBT);
  return undefined;
}

const IN_DOUBT = 'the API may have it. Resolve it first';

function nameOf(letter: Letter | undefined, [first]: readonly PatchRow[] = []): string {
  const number = letter?.purchaseOrderNumber ?? '';
  if (number !== '') return `Order ${shorten(number, 60)}`;
  return first ? `Line ${first.line}` : 'A row';
}

type Adding = { corrected: Corrected; edits: Edits; form: RowForm; said: string[] };

/** Adds rows without an id to the open orders that they name. */
function addRows(rows: readonly PatchRow[], { corrected, edits, form, said }: Adding): void {
  const [some] = corrected.letters;
  const cell = some ? form.numberCell(some) : '';
  for (const row of rows) {
    if (row.id !== undefined) continue;
    const number = trimBlanks(row.cells[cell] ?? '');
    const own = [...edits.values()].find((edit) => numbersOf(edit, form).includes(number));
    const letter = own?.letter ?? openWith(number, corrected);
    if (number === '' || letter === undefined) {
      const which = number === '' ? 'no number' : `no open order ${shorten(number, 60)}`;
      said.push(`Line ${row.line}: there is ${which} to add this row to. It was not taken`);
      continue;
    }
    const edit = edits.get(letter.ordinal) ?? unedited(letter);
    edits.set(letter.ordinal, { ...edit, added: [...edit.added, row], isTouched: true });
  }
}

function openWith(number: string, { letters }: Corrected): Letter | undefined {
  return letters.find(
    (one) =>
      number !== '' &&
      one.purchaseOrderNumber === number &&
      one.ended === undefined &&
      one.kind !== 'inDoubt',
  );
}

/** The numbers of the rows of a dead letter as it is corrected. */
function numbersOf(edit: Edit, form: RowForm): string[] {
  const records = recordsOf(edit, form, { lineFor: () => 0, held: [] });
  return [...new Set(records.map(form.numberOf).filter((number) => number !== ''))];
}

/** An order of a table that was given the number of another open one is one order with it. Returns the numbers that were given. */
function joinOthers(corrected: Corrected, edits: Edits, form: RowForm): string[] {
  const join = (letter: Letter) =>
    edits.set(letter.ordinal, {
      ...(edits.get(letter.ordinal) ?? unedited(letter)),
      isTouched: true,
    });
  const given = edits
    .values()
    .toArray()
    .flatMap(({ letter, ...edit }) => {
      const [number = ''] = edit.isTouched ? numbersOf({ letter, ...edit }, form) : [];
      return number === '' || number === letter.purchaseOrderNumber ? [] : [number];
    });
  for (const number of form.header === undefined ? [] : given) {
    const other = openWith(number, corrected);
    if (other !== undefined) join(other);
  }
  for (const letter of corrected.letters) if (corrected.joins?.has(letter.ordinal)) join(letter);
  return given;
}

type Decided = { edits: Edits; discards: ReadonlySet<number> };

/**
 * Whether a person decided on the row at a place, here or before; of rows without a number below each other, on all of
 * them, because each may belong to the order next to them all.
 */
function settledRows({ letters }: Corrected, { edits, discards }: Decided) {
  const isDecided = ({ ordinal, ended }: Letter) =>
    ended !== undefined || discards.has(ordinal) || edits.get(ordinal)?.isTouched === true;
  const rows = letters.flatMap((letter) =>
    recordsIn(letter.rows ?? []).map((own) => ({ letter, place: placeOfRecord(own) })),
  );
  rows.sort((a, b) => a.place.line - b.place.line);
  const runs = new Map<string, Letter[]>();
  let run: Letter[] = [];
  for (const { letter, place } of rows) {
    if (letter.purchaseOrderNumber !== '' || run.at(-1)?.purchaseOrderNumber !== '') run = [];
    run.push(letter);
    runs.set(placeText(place), run);
  }
  return (place: string): boolean => runs.get(place)?.every(isDecided) ?? false;
}

/** Orders that were held only because of rows on which a person has decided now are sent. */
function releaseOthers(
  { letters }: Corrected,
  { edits, discards }: Decided,
  isSettled: (place: string) => boolean,
): void {
  const released = letters.filter(({ ordinal, ended, problems = [] }) => {
    const isFree = ended === undefined && !discards.has(ordinal) && !edits.get(ordinal)?.isTouched;
    return isFree && problems.length > 0 && problems.every(({ rows }) => rows?.every(isSettled));
  });
  for (const letter of released)
    edits.set(letter.ordinal, { ...unedited(letter), isTouched: true });
}

/** Numbers the lines behind the last one of a file. */
export function linesAfter(patches: readonly Patch[]): () => number {
  let last = 1;
  for (const { rows } of patches) for (const { line } of rows) last = Math.max(last, line);
  return () => {
    last += 1;
    return last;
  };
}

/** Patches of several batches of one file. A row without an id goes where the order is that it names. */
export function assignAdded(parts: readonly { patch: Patch; corrected: Corrected }[]): Patch[] {
  const added = parts.flatMap(({ patch }) =>
    patch.rows.flatMap((row) => {
      const home = parts.find(({ corrected }) => isNamedBy(row, corrected))?.patch ?? patch;
      return row.id === undefined ? [{ row, home }] : [];
    }),
  );
  return parts.map(({ patch }) => ({
    ...patch,
    rows: [
      ...patch.rows.filter(({ id }) => id !== undefined),
      ...added.flatMap(({ row, home }) => (home === patch ? [row] : [])),
    ],
  }));
}

function isNamedBy({ cells }: PatchRow, corrected: Corrected): boolean {
  const [some] = corrected.letters;
  const cell = some && rowForm(corrected.shape, corrected.mapping).numberCell(some);
  return openWith(trimBlanks(cells[cell ?? ''] ?? ''), corrected) !== undefined;
}

type Writing = {
  form: RowForm;
  isSettled: (place: string) => boolean;
  lineFor: () => number;
};

/** The rows of all orders, those of one number together. */
function write(touched: readonly Edit[], { form, isSettled, lineFor }: Writing): SourceRecord[] {
  const all = touched.flatMap((edit) =>
    recordsOf(edit, form, { lineFor, held: stillHeld(edit, form, isSettled) }),
  );
  const groups = Map.groupBy(all, (record) => form.numberOf(record) || `line ${record.place.line}`);
  return [...groups.values()].flat();
}

const SHOWN = 20;

function warningsOf(said: readonly string[], restored: readonly string[]): string[] {
  const more = (all: readonly string[]) =>
    all.length > SHOWN ? `; and ${all.length - SHOWN} more` : '';
  const cells = restored.slice(0, SHOWN).join('; ');
  return [
    ...said.slice(0, SHOWN).map((text) => `${text}.`),
    ...(said.length > SHOWN ? [`The same for ${said.length - SHOWN} more.`] : []),
    ...(restored.length > 0
      ? [
          `${counted(restored.length, 'cell')} not marked as wrong ${restored.length === 1 ? 'was' : 'were'} restored: ${cells}${more(restored)}.`,
        ]
      : []),
  ];
}
