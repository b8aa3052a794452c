import type { Source } from '../../config/config.ts';
import { codeOf, PoSyncError } from '../../core/errors.ts';
import { problemsOf } from '../../correct/letter-rows.ts';
import { patchText, type SentRow } from '../../correct/patch.ts';
import { listOf, readLetters } from '../../correct/read-as.ts';
import { handIn } from '../../intake/hand-in.ts';
import type { ClaimedFile } from '../../order/batch.ts';
import { type DeadLetter, type LetterRow, REPLACED } from '../../order/dead-letter.ts';
import { hasInbox, placeText } from '../../order/fixing.ts';
import { splitId } from '../../order/letter-id.ts';
import type { Problem, ProblemCode } from '../../order/problem.ts';
import type { FileShape } from '../../order/record.ts';
import type { Sentence } from '../../order/sentence.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import { closingText } from '../../wording/closing.ts';
import { problemText } from '../../wording/problem.ts';
import type { OperatorContext } from '../operator-context.ts';
import { cleanName, openPrivateFile } from '../uploads/private-file.ts';
import { type CheckedCorrection, checkCorrection } from './check-correction.ts';

/** A correction that somebody sent: the batch that brought it, and who sent it when (Redis time). */
export type Correction = { batch: string; who: string; at: number };

/** A value of a row. `name`: that of its column, or the path in an object. */
export type FixCell = { name: string; value: string };

/** A row as a form shows it: its place in the batch, its cells, and what is wrong with it; `field` is "" for the complete row. */
export type FixRow = {
  place: string;
  cells: FixCell[];
  problems: { field: string; code: ProblemCode; message: Sentence }[];
};

/** A dead letter for correcting: its rows, and an empty one to add. */
export type Correctable = {
  letter: DeadLetter;
  rows: readonly FixRow[];
  added: FixRow;
  revision: number;
};

/** What became of a correction: sent in a batch, or why not. */
export type CorrectionResult = { checked: CheckedCorrection; sent?: Correction };

type CorrectionContext = Omit<OperatorContext, 'operator'>;
type Take = (file: ClaimedFile) => Promise<void>;

/**
 * Corrects dead letters at the admin port. A correction is a patch of the rows of an order, as a workbook that is dropped: it is
 * submitted as a file, and read with the same checks and history.
 */
export function createCorrections(context: CorrectionContext, take: Take) {
  const { config, store, batches, ledger } = context;
  const { time, redis, keys } = store;

  /** PoSyncError `dead-letter-closed`, `batch-in-progress`, `rows-unknown` and `rows-too-many`. */
  async function open(letter: FoundDeadLetter): Promise<Correctable> {
    if (letter.closed !== undefined) throw closed(letter);
    const batch = await batches.find(letter.batch);
    const shape = batch?.inspection?.shape;
    if (shape === undefined) throw batchForgotten();
    if (batch?.state !== 'done') throw inProgress(letter, batch?.held !== undefined);
    const kept = await keptLetter(letter, config);
    const rows = fixRows(kept, shape);
    return {
      letter: kept,
      rows,
      added: addedRow(letter, rows),
      revision: kept.revision,
    };
  }

  /** The file that corrects it now, and who sent that. */
  async function underWay({ batch, id }: Pick<FoundDeadLetter, 'batch' | 'id'>) {
    const taker = (await batches.taken(batch)).get(id);
    return taker === undefined || taker.isOver ? undefined : sentIn(taker.batch);
  }

  async function sentIn(batch: string) {
    return { batch, who: (await batches.find(batch))?.by ?? 'somebody' };
  }

  /** Of those who send a correction of the same revision, the first. PoSyncError `correction-under-way`. */
  async function takeTurn({ id, revision }: DeadLetter, batch: string): Promise<void> {
    const key = keys.correcting(id, revision);
    if ((await redis.set(key, batch, 'PX', BEGINS_WITHIN, 'NX')) === null)
      throw isUnderWay(await sentIn((await redis.get(key)) ?? batch));
  }

  /** As `open`. `revision`: what the person saw. PoSyncError `dead-letter-changed`, `correction-under-way`. */
  async function current(letter: FoundDeadLetter, revision: number): Promise<Correctable> {
    const found = await open(letter);
    const other = await underWay(letter);
    if (other) throw isUnderWay(other);
    if (found.revision !== revision) throw changed();
    return found;
  }

  /** What the daemon would make of corrected rows. Changes nothing. */
  async function check(letter: FoundDeadLetter, found: Correctable, corrected: readonly SentRow[]) {
    await using file = await fileOf(letter, found, corrected);
    return await checkCorrection(
      { path: file.path, source: letter.source },
      linesOf(found.letter, corrected),
      context,
    );
  }

  /** A file with what was corrected. PoSyncError `rows-invalid`. */
  function fileOf(
    letter: FoundDeadLetter,
    { letter: kept, rows }: Correctable,
    corrected: readonly SentRow[],
  ) {
    refuseOtherRows(rows.length, corrected);
    const [, ordinal] = splitId(kept.id);
    const lines = linesOf(kept, corrected);
    const text = patchText({
      batch: letter.batch,
      rows: corrected.map(({ row, act, cells }, i) => ({
        line: lines[i] ?? 0,
        id: { ordinal, ...(row !== undefined && { row }), revision: kept.revision },
        act,
        cells,
      })),
    });
    return openPrivateFile(nameOf(letter), config, text);
  }

  /**
   * Sends corrected rows, unless a check fails. PoSyncError as `current`, and `source-gone`.
   */
  async function send(
    letter: FoundDeadLetter,
    { revision, corrected }: { revision: number; corrected: readonly SentRow[] },
    operator: OperatorContext['operator'],
  ): Promise<CorrectionResult> {
    const found = await current(letter, revision);
    const source = sourceOf(letter, config.sources);
    await using file = await fileOf(letter, found, corrected);
    const checked = await checkCorrection(
      { path: file.path, source: letter.source },
      linesOf(found.letter, corrected),
      context,
    );
    if (!checked.isReady) return { checked };
    const at = time.now();
    const sent = { batch: '', who: operator.who, at };
    const what = isUnchanged(found.rows, corrected) ? 'sent again unchanged' : 'corrected';
    const claimed = await handIn(
      { name: file.name, from: file.path },
      source,
      { config, at: new Date(at) },
      announce,
    );
    await take(claimed);
    return { checked, sent };

    async function announce(batch: string): Promise<void> {
      sent.batch = batch;
      await takeTurn(found.letter, batch);
      await batches.handedIn(batch, operator.who, { form: true });
      const numbers = new Set([
        letter.purchaseOrderNumber,
        ...checked.orders.map(({ number }) => number),
      ]);
      for (const number of numbers)
        if (number !== '') await ledger.note(number, operator.did(what));
    }
  }

  return { open, current, check, send, underWay };
}

/** The dead letter with its rows, as its report has it. */
async function keptLetter(
  { batch, id }: FoundDeadLetter,
  config: CorrectionContext['config'],
): Promise<DeadLetter> {
  for await (const letter of lettersIn(batch, config)) {
    if (letter.id !== id) continue;
    if (!letter.rows?.length) break;
    const cells = letter.rows.reduce((sum, row) => sum + Object.keys(row.cells).length, 0);
    if (letter.rows.length > MOST_ROWS || cells > MOST_CELLS) throw tooManyRows();
    return letter;
  }
  throw batchForgotten();
}

/** The dead letters of a report; none of one that has expired. */
async function* lettersIn(batch: string, config: CorrectionContext['config']) {
  try {
    yield* readLetters(listOf(batch, config));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** Milliseconds in which the batch of a correction takes its dead letter. */
const BEGINS_WITHIN = 60_000;

/** Rows and cells that a page can show. */
const MOST_ROWS = 200;
const MOST_CELLS = 5_000;

function tooManyRows(): PoSyncError {
  const message = `The order has more than ${MOST_ROWS} rows or ${MOST_CELLS} cells.`;
  return new PoSyncError('rows-too-many', message, { remedy: 'Correct it in fix.xlsx.' });
}

function fixRows(letter: DeadLetter, shape: FileShape): FixRow[] {
  const { rows = [], problems = [] } = letter;
  const found = problemsOf(letter, shape);
  return rows.map((row): FixRow => {
    const { of, whole } = found(row);
    const names = Object.keys(row.cells);
    const own = names.flatMap((field) =>
      of(field).map((one) => said({ ...one, field: '' }, field)),
    );
    const isFirst = row.row === 1 && problems.length > 0;
    const lost = isFirst
      ? problems.filter((one) => !rows.some((all) => isIn(one, found(all), all)))
      : [];
    const others = [...whole, ...lost].map((one) => said(one, ''));
    return {
      place: placeText({ line: row.line, ...(row.pointer && { pointer: row.pointer }) }),
      cells: names.map((name) => ({ name, value: row.cells[name] ?? '' })),
      problems: [...own, ...others],
    };
  });
}

function said(problem: Problem, field: string): FixRow['problems'][number] {
  return { field, code: problem.code, message: problemText(problem) };
}

function isIn(
  problem: Problem,
  { of, whole }: ReturnType<ReturnType<typeof problemsOf>>,
  { cells }: LetterRow,
): boolean {
  return whole.includes(problem) || Object.keys(cells).some((name) => of(name).includes(problem));
}

/** An empty row, with only the number of the order. */
function addedRow(
  { purchaseOrderNumber: number }: FoundDeadLetter,
  rows: readonly FixRow[],
): FixRow {
  const names = new Set(rows.flatMap(({ cells }) => cells.map(({ name }) => name)));
  const isNumber = (name: string) =>
    number !== '' &&
    rows.every(({ cells }) => cells.some((one) => one.name === name && one.value === number));
  const cells = [...names].map((name) => ({ name, value: isNumber(name) ? number : '' }));
  return { place: 'added row', cells, problems: [] };
}

/** The lines of corrected rows in their file: those of the rows themselves, so that messages name them. */
function linesOf({ rows = [] }: DeadLetter, corrected: readonly SentRow[]): number[] {
  const isTable = rows.every(({ value }) => value === undefined);
  const lineOf = ({ row, line }: LetterRow) => (isTable ? line : row);
  const last = rows.reduce((most, row) => Math.max(most, lineOf(row)), 1);
  let added = 0;
  return corrected.map(({ row }) => {
    if (row === undefined) added += 1;
    const own = rows[(row ?? 0) - 1];
    return own === undefined ? last + added : lineOf(own);
  });
}

/** The correction goes where the batch came from: its source names the mapping of dead letters that it leaves. */
function sourceOf({ source }: FoundDeadLetter, sources: readonly Source[]): Source {
  const found = sources.find(({ name }) => name === source);
  if (found !== undefined) return found;
  throw new PoSyncError('source-gone', `The configuration no longer has the source ${source}.`, {
    remedy: hasInbox({ sources })
      ? 'Drop the corrected fix.xlsx into an inbox.'
      : 'For your operator: add the source again, or a source of type inbox for fix.xlsx.',
  });
}

/** `orders.line-7.correction.json` */
function nameOf({ file, location }: FoundDeadLetter): string {
  const stem = file
    .replace(/(?:\.[A-Za-z0-9]{1,8}){1,2}$/, '')
    .replace(/\.(?:line|at)-[\w-]+(?:\.correction.*)?$/, '');
  const place = placeText(location).replace(/[^A-Za-z0-9]+/g, '-');
  const at = place.startsWith('-') ? `at${place}` : place;
  return cleanName(`${stem.slice(0, 60)}.${at.slice(0, 30)}.correction.json`);
}

/** Rows that a person can add to an order. */
export const MOST_ADDED = 50;

function refuseOtherRows(known: number, corrected: readonly SentRow[]): void {
  const rows = corrected.flatMap(({ row }) => row ?? []);
  const removed = corrected.filter(({ row, act }) => row !== undefined && act === 'delete');
  const added = corrected.length - rows.length;
  if (added > MOST_ADDED)
    throw new PoSyncError('rows-invalid', `More than ${MOST_ADDED} rows are added.`, {
      remedy: 'Add all of them in fix.xlsx.',
    });
  if (rows.some((row) => row > known) || new Set(rows).size < rows.length)
    throw new PoSyncError('rows-invalid', 'The rows do not match this order.', {
      remedy: 'Read the rows again.',
    });
  if (removed.length === known && added === 0)
    throw new PoSyncError('rows-invalid', 'Every row is left out.', {
      remedy: 'To order none of them, discard the order.',
    });
}

/** Whether only the same values are sent again. A row that a person confirms as right is an answer. */
function isUnchanged(rows: readonly FixRow[], corrected: readonly SentRow[]): boolean {
  return corrected.every(({ row, act, cells }) => {
    const known = new Map(rows[(row ?? 0) - 1]?.cells.map(({ name, value }) => [name, value]));
    return act === '' && Object.entries(cells).every(([name, cell]) => known.get(name) === cell);
  });
}

function inProgress({ batch, file }: FoundDeadLetter, isHeld: boolean): PoSyncError {
  const why = isHeld
    ? 'it is held until a person releases or cancels it'
    : 'other orders of it are in progress';
  return new PoSyncError(
    'batch-in-progress',
    `The form is here when ${file} is finished: ${why}.`,
    {
      remedy: `${isHeld ? 'Ask your operator to do so. ' : ''}If that takes too long, drop the complete corrected order as a new file: it is sent, but what was changed is not recorded.`,
      facts: { batch },
    },
  );
}

function isUnderWay({ who, batch }: Pick<Correction, 'who' | 'batch'>): PoSyncError {
  return new PoSyncError('correction-under-way', `A correction by ${who} is in progress.`, {
    remedy: `Wait for batch ${batch}.`,
    facts: { batch },
  });
}

function changed(): PoSyncError {
  return new PoSyncError(
    'dead-letter-changed',
    'This order was changed since its rows were read.',
    {
      remedy: 'Read it again and compare your correction with the current values.',
    },
  );
}

function closed({ closed: end, purchaseOrderNumber: number }: FoundDeadLetter): PoSyncError {
  const name = number === '' ? 'This row' : number;
  const what = end === undefined ? 'accepted' : closingText(end);
  if (end?.by === REPLACED)
    return new PoSyncError('dead-letter-closed', `${name} ${what}.`, {
      remedy: 'Continue with that batch. The history of the order shows what became of it.',
    });
  return new PoSyncError('dead-letter-closed', `${name} is settled already: ${what}.`, {
    remedy:
      'Compare your values with what was sent. To order something else, use a new order number.',
  });
}

function batchForgotten(): PoSyncError {
  return new PoSyncError('rows-unknown', 'The batch of this order is no longer known.', {
    remedy: 'Drop the corrected order as a new file.',
  });
}
