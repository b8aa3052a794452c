import { createHash } from 'node:crypto';
import type { Source } from '../../config/config.ts';
import { PoSyncError } from '../../core/errors.ts';
import { handIn } from '../../intake/hand-in.ts';
import type { Batch } from '../../ledger/batches/batches.ts';
import type { ClaimedFile } from '../../order/batch.ts';
import { closingWord } from '../../order/closing-text.ts';
import { hasInbox, placeText } from '../../order/fixing.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import type { OperatorContext } from '../operator-context.ts';
import { cleanName, openPrivateFile } from '../uploads/private-file.ts';
import { type CheckedCorrection, checkCorrection } from './check-correction.ts';
import { type CorrectedRow, type FixRows, legendsOf, readFixRows } from './fix-rows.ts';

/** A correction that somebody sent: the batch that brought it, and who sent it when (Redis time). */
export type Correction = { batch: string; who: string; at: number };

/** A dead letter for correcting: its rows, and earlier corrections. `version` changes when either does. */
export type Correctable = { rows: FixRows; corrections: readonly Correction[]; version: string };

/** What became of a correction: sent in a batch, or why not. */
export type CorrectionResult = { checked: CheckedCorrection; sent?: Correction };

type CorrectionContext = Omit<OperatorContext, 'operator'>;
type Take = (file: ClaimedFile) => Promise<void>;

/**
 * Corrects dead letters at the admin port. A correction is a fix file of the order's rows: it is submitted and read
 * like one that was dropped, with the same checks and history.
 */
export function createCorrections(context: CorrectionContext, take: Take) {
  const { config, store, batches, ledger } = context;
  const { time } = store;
  const chain = createChain(store);

  /** PoSyncError `dead-letter-closed`, `batch-in-progress`, and those of `readFixRows`. */
  async function open(letter: FoundDeadLetter): Promise<Correctable> {
    if (letter.closed !== undefined) throw closed(letter);
    const batch = await batches.find(letter.batch);
    const shape = batch?.inspection?.shape;
    if (shape === undefined) throw batchForgotten();
    const rows = await readFixRows(letter, shape, config.reports.path).catch(
      unlessInProgress(letter, batch),
    );
    const corrections = await chain.read(letter);
    const text = `${rows.version} ${corrections.at(-1)?.batch ?? ''}`;
    return {
      rows,
      corrections,
      version: createHash('sha256').update(text).digest('hex').slice(0, 16),
    };
  }

  /** What the daemon would make of corrected rows. Changes nothing. */
  async function check(
    letter: FoundDeadLetter,
    { rows }: Correctable,
    corrected: readonly CorrectedRow[],
  ) {
    refuseOtherRows(rows, corrected);
    await using file = await openPrivateFile(nameOf(letter, rows), config, rows.write(corrected));
    return await checkRows(
      { path: file.path, source: letter.source },
      { rows, corrected },
      context,
    );
  }

  /**
   * Sends corrected rows, unless a check fails. `version`: what the person saw. PoSyncError `dead-letter-changed`,
   * `correction-under-way`, `source-gone`.
   */
  async function send(
    letter: FoundDeadLetter,
    { version, corrected }: { version: string; corrected: readonly CorrectedRow[] },
    operator: OperatorContext['operator'],
  ): Promise<CorrectionResult> {
    const found = await open(letter);
    const last = found.corrections.at(-1);
    if (last && stateOf(last, await batches.find(last.batch), time.now()) === 'under-way')
      throw underWay(last);
    if (found.version !== version) throw changed();
    refuseOtherRows(found.rows, corrected);
    const source = sourceOf(letter, config.sources);
    await using file = await openPrivateFile(
      nameOf(letter, found.rows),
      config,
      found.rows.write(corrected),
    );
    const checked = await checkRows(
      { path: file.path, source: letter.source },
      { ...found, corrected },
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
      if (!(await chain.add(letter, last, sent))) throw changed();
      await batches.handedIn(batch, operator.who, { form: true });
      const numbers = new Set([
        letter.purchaseOrderNumber,
        ...checked.orders.map(({ number }) => number),
      ]);
      for (const number of numbers)
        if (number !== '') await ledger.note(number, operator.did(what));
    }
  }

  return { open, check, send, history: chain.read };
}

/** The fix file goes where the batch came from: its source names the mapping of dead letters that it leaves. */
function sourceOf({ source }: FoundDeadLetter, sources: readonly Source[]): Source {
  const found = sources.find(({ name }) => name === source);
  if (found !== undefined) return found;
  throw new PoSyncError('source-gone', `The configuration no longer has the source ${source}.`, {
    remedy: hasInbox({ sources })
      ? 'Drop the corrected fix file into an inbox.'
      : 'For your operator: add the source again, or a source of type inbox for the fix file.',
  });
}

/** `orders.line-7.fix.csv` */
function nameOf({ file, location }: FoundDeadLetter, { ending }: FixRows): string {
  const stem = file
    .replace(/(?:\.[A-Za-z0-9]{1,8}){1,2}$/, '')
    .replace(/\.(?:line|at)-[\w-]+(?:\.fix.*)?$/, '');
  const place = placeText(location).replace(/[^A-Za-z0-9]+/g, '-');
  const at = place.startsWith('-') ? `at${place}` : place;
  return cleanName(`${stem.slice(0, 60)}.${at.slice(0, 30)}${ending}`);
}

/** Rows that a person can add to an order. */
export const MOST_ADDED = 50;

function refuseOtherRows({ rows, added }: FixRows, corrected: readonly CorrectedRow[]): void {
  const more = corrected.length - rows.length;
  const fits =
    more >= 0 &&
    more <= (added === undefined ? 0 : MOST_ADDED) &&
    corrected.every(({ values }, i) => values.length === (rows[i] ?? added)?.cells.length);
  if (fits && corrected.every(({ leave }) => leave))
    throw new PoSyncError('rows-invalid', 'Every row is left out.', {
      remedy: 'To order none of them, discard the order.',
    });
  if (fits) return;
  throw new PoSyncError('rows-invalid', 'The rows or cells do not match this order.', {
    remedy: 'Read the rows again.',
  });
}

/** Whether only the same values are sent again. A row that a person confirms as right is an answer. */
function isUnchanged({ rows }: FixRows, corrected: readonly CorrectedRow[]): boolean {
  const isSame = ({ values, confirmed, leave }: CorrectedRow, row: number) =>
    !confirmed && !leave && values.every((value, i) => value === rows[row]?.cells[i]?.value);
  return corrected.every(isSame);
}

/** The problems of the rows of the file, by the rows of the order: some may be left out of the file. */
async function checkRows(
  file: { path: string; source: string },
  { rows, corrected }: { rows: FixRows; corrected: readonly CorrectedRow[] },
  context: CorrectionContext,
): Promise<CheckedCorrection> {
  const checked = await checkCorrection({ ...file, legends: legendsOf(rows, corrected) }, context);
  const kept = [...corrected.keys()].filter((row) => !corrected[row]?.leave);
  const orders = checked.orders.map((order) => ({
    ...order,
    problems: order.problems.map((problem) => ({
      ...problem,
      row: kept[problem.row] ?? problem.row,
    })),
  }));
  return { ...checked, orders };
}

/** Milliseconds after which a batch that did not begin will not. */
const BEGINS_WITHIN = 60_000;

/** What became of a correction; `lost`: its batch never began. */
export type CorrectionState = 'under-way' | 'done' | 'lost';

/** `batch`: that of the correction, if it is known. `now`: Redis time. */
export function stateOf(
  { at }: Correction,
  batch: Pick<Batch, 'state'> | undefined,
  now: number,
): CorrectionState {
  if (batch === undefined) return now - at < BEGINS_WITHIN ? 'under-way' : 'lost';
  return batch.state === 'done' ? 'done' : 'under-way';
}

/** The fix file is written shortly before the batch is done. */
function unlessInProgress(
  letter: FoundDeadLetter,
  batch: Batch | undefined,
): (error: unknown) => never {
  return (error) => {
    throw batch?.state === 'done' ? error : inProgress(letter, batch?.held !== undefined);
  };
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

function underWay({ who, batch }: Correction): PoSyncError {
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
  const place = end?.batch === undefined ? '' : ` in ${end.file ?? end.batch}`;
  const who = end?.who === undefined ? '' : ` by ${end.who}`;
  const what = `${closingWord(end?.by ?? 'accepted')}${place}${who}`;
  if (end?.by === 'fixed')
    return new PoSyncError('dead-letter-closed', `${name} ${what}.`, {
      remedy: 'Continue with that batch. The history of the order shows what became of it.',
    });
  return new PoSyncError('dead-letter-closed', `${name} is settled already: ${what}.`, {
    remedy:
      'Compare your values with what was sent. To order something else, use a new order number.',
  });
}

/** Corrections of a dead letter that are read at most. */
const MOST = 100;

/**
 * The corrections of each dead letter, one after the other. Each names the one before it, and only the first that does is
 * kept: of two people who correct the same dead letter, the second gets an error.
 */
function createChain({ redis, keys }: CorrectionContext['store']) {
  const fieldOf = ({ location }: Pick<FoundDeadLetter, 'location'>, previous: string) =>
    `handed-in ${placeText(location)} after ${previous}`;

  async function read(letter: Pick<FoundDeadLetter, 'batch' | 'location'>): Promise<Correction[]> {
    const found: Correction[] = [];
    while (found.length < MOST) {
      const text = await redis.hget(
        keys.corrected(letter.batch),
        fieldOf(letter, found.at(-1)?.batch ?? ''),
      );
      if (text === null) break;
      found.push(JSON.parse(text) as Correction);
    }
    return found;
  }

  async function add(
    letter: FoundDeadLetter,
    previous: Correction | undefined,
    next: Correction,
  ): Promise<boolean> {
    const field = fieldOf(letter, previous?.batch ?? '');
    return (await redis.hsetnx(keys.corrected(letter.batch), field, JSON.stringify(next))) === 1;
  }

  return { read, add };
}

function batchForgotten(): PoSyncError {
  return new PoSyncError('rows-unknown', 'The batch of this order is no longer known.', {
    remedy: 'Drop the corrected order as a new file.',
  });
}
