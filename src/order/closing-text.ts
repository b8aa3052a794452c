import type { Change, Closed, End } from './dead-letter.ts';
import { asShown } from './text.ts';

/** A change in words: `quantity: 1 dozen → 12`. `isAlone`: the order has one row, whose place need not be named. */
function changeText({ place, field, from, to }: Change, isAlone: boolean): string {
  if (field === '') return `${place} removed: ${from}`;
  const where = place === '' ? 'added row, ' : isAlone ? '' : `${place}, `;
  const shown = (value: string) => asShown(value) || '(empty)';
  return `${where}${field}: ${place === '' ? '' : `${shown(from)} → `}${shown(to)}`;
}

/** The changes of an order in words. `at`: the place that is shown beside them; other rows are named. */
export function changeTexts(
  changes: readonly Change[] = [],
  at = changes[0]?.place ?? '',
): string[] {
  const isAlone = changes.every(({ place }) => place === at);
  return changes.map((change) => changeText(change, isAlone));
}

/** How dead letters end whose rows were ordered. */
const ORDERED: ReadonlySet<string> = new Set([
  'accepted',
  'duplicate',
  'confirmed',
  'resent',
  'rebuilt',
]);

/**
 * How an order that needed a person ended; undefined while it needs one in another batch. One that was ordered stays so while
 * rows that came back later wait.
 */
export function endOf({ waitsIn, end, before, ...first }: Closed): End | undefined {
  if (waitsIn === undefined) return end ?? first;
  const was = before ?? (end && first);
  return was && ORDERED.has(was.by) ? was : undefined;
}

/** How a dead letter was closed, in words. */
export function closingWord(by: string): string {
  switch (by) {
    case 'corrected':
      return 'shown again with the accepted content';
    case 'fixed':
      return 'came back';
    case 'duplicate':
      return 'found to be a duplicate';
    case 'confirmed':
      return 'confirmed as accepted';
    case 'resent':
      return 'sent again';
    // By `dead-letters retry` or `reconcile --repair`.
    case 'rebuilt':
      return "found in the API's list";
    default:
      return by;
  }
}

/** What an operator did, as an event of the history. A discarded content is not the order that the API may have. */
export function actionText({ what, who }: { what: string; who: string }): string {
  if (what === 'discarded') return `content that waited for a person was discarded by ${who}`;
  return `${what === 'rebuilt' ? closingWord(what) : what} by ${who}`;
}

/** How a dead letter was closed, by whom and in which file, in words: `came back in fix.csv by anna; then accepted`. */
export function closingText({ end, waitsIn, number = '', ...first }: Closed): string {
  const isThere = end?.batch !== undefined && end.batch === first.batch;
  const as =
    number === '' ? '' : `${end === undefined || isThere ? ' as ' : ', at first as '}${number}`;
  const last = end === undefined ? '' : `; then ${isThere ? closingWord(end.by) : endText(end)}`;
  return `${endText(first)}${as}${last}${waitsIn === undefined ? '' : ', where it needs a person'}`;
}

function endText({ by, who, batch, file = batch }: End): string {
  return `${closingWord(by)}${file === undefined ? '' : ` in ${file}`}${who === undefined ? '' : ` by ${who}`}`;
}

/**
 * The same as an event of an order's history, with the batches. `isEndShown`: another event says how it ended; `its`: the
 * dead letter, with its file where several have one.
 */
export function closedAsEvent(
  { waitsIn, number, end, ...closed }: Closed,
  isEndShown: boolean,
  its = 'its dead letter',
): string {
  const waits = `its rows came back${inFile(end ?? closed)} and still wait in batch ${waitsIn}`;
  if (waitsIn !== undefined && end === undefined) return waits;
  const as = number ? ` as ${number}` : '';
  // A new dead letter replaced it, unless its rows were settled in that file.
  const again =
    end !== undefined && end.batch !== closed.batch ? ', where they needed a person again' : '';
  const back = `its rows came back${inFile(closed)}, batch ${closed.batch}${as}${again}`;
  const first = closed.by === 'fixed' ? back : `${its} was closed: ${endInBatch(closed)}${as}`;
  const last = waitsIn === undefined ? end && !isEndShown && endInBatch(end) : waits;
  return `${first}${last ? `; then ${last}` : ''}`;
}

function inFile({ file }: Pick<End, 'file'>): string {
  return file === undefined ? '' : ` in ${file}`;
}

function endInBatch({ by, who, batch }: End): string {
  const how = by === 'rebuilt' ? closingWord(by) : by;
  return `${how}${who === undefined ? '' : ` by ${who}`}${batch === undefined ? '' : `, batch ${batch}`}`;
}

/** The answer of the API as it came: a line, or none where there was no answer. */
export function answerLines({
  httpStatus,
  response,
}: {
  httpStatus?: number;
  response?: string;
}): string[] {
  return httpStatus === undefined
    ? []
    : [`HTTP ${httpStatus}${response === undefined ? '' : ` ${response}`}`];
}
