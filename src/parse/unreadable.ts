import type { Mapping } from '../config/config.ts';
import { type ErrorFacts, PoSyncError } from '../core/errors.ts';
import { LIMITS } from '../order/limits.ts';
import { plainName, shorten } from '../order/text.ts';

/** A file that cannot be read as orders: nothing of it is sent. All codes begin with `unreadable-`. */
export function unreadable(
  what: string,
  message: string,
  facts: ErrorFacts,
  remedy?: string,
): PoSyncError {
  return new PoSyncError(
    `unreadable-${what}`,
    message,
    remedy === undefined ? { facts } : { facts, remedy },
  );
}

/** A file without any content, probably sent by mistake. */
export function emptyFile() {
  const remedy = 'Drop the complete file again.';
  return unreadable('empty', 'The file is empty: it has no header and no orders.', {}, remedy);
}

/**
 * A file that was written to after some of its orders were admitted: their places now contain other orders. Admitted
 * orders continue. The file is put aside; when it is dropped again, only the other orders are sent.
 */
export function changedSince(name: string): PoSyncError {
  const message = `${name} was written to after some of its orders were admitted.`;
  const remedy = 'Drop the complete file again. Orders that were already sent are recognized.';
  return unreadable('changed', message, {}, remedy);
}

export function tooManyRecords() {
  const message = `The file contains more than ${LIMITS.records} orders.`;
  return unreadable(
    'too-many-records',
    message,
    { limit: LIMITS.records },
    'Split the file and drop the parts.',
  );
}

/** A name without the line breaks that a header may have: a mapping has none, and finds it nevertheless. */
const inOneLine = (name: string): string => name.trim().replace(/[\s\p{Cc}]+/gu, ' ');

/** What to write into a mapping so that it reads these names as well, with what it has there. */
export function fieldsToPaste(
  found: ReadonlyMap<string, string>,
  { fields }: Pick<Mapping, 'fields'>,
): string {
  const isSet = (field: string, names: readonly string[]) =>
    names.length !== 1 || names[0] !== field;
  const own = Object.entries(fields).filter(([field, names]) => isSet(field, names));
  const all = new Map<string, readonly string[]>([
    ...[...found].map(([field, name]) => [field, [name]] as const),
    ...own.map(
      ([field, names]) => [field, [...names, ...[found.get(field) ?? []].flat()]] as const,
    ),
  ]);
  const lines = [...all].map(([field, names]) => {
    const [first, ...more] = names.map((name) => JSON.stringify(inOneLine(name)));
    return `${field}: ${more.length === 0 ? first : `[${[first, ...more].join(', ')}]`}`;
  });
  const where =
    own.length === 0
      ? 'add to the mapping of its source'
      : 'in the mapping of its source, replace fields by';
  return `${where}: fields: { ${lines.join(', ')} }`;
}

/** Codes of files that are no table at all: a zip archive, a workbook of another program, a damaged file. */
const NO_TABLE = /^unreadable-(?:format|zip|sheet|gzip|empty|too-large)$/;
export const isNoTable = ({ code }: PoSyncError): boolean => NO_TABLE.test(code);

/** What is known of a file that corrects an unknown batch; `reason`: why that is not known. */
export function unknownBatchWarning(
  batch: string,
  source: string | undefined,
  reason: string,
): string {
  const mapping = source === undefined ? 'the standard columns' : `the mapping of source ${source}`;
  return `The file corrects batch ${batch}, but ${reason}: read with ${mapping}, which may not be the mapping of that batch.`;
}

/** Why a fix file of an unknown batch is not read: its orders may be those of another environment. */
export function foreignBatch(batch: string, environment: string): PoSyncError {
  return unreadable(
    'fix-batch',
    `The file corrects batch ${batch}, which the environment ${environment} does not know.`,
    { batch },
    `Drop it into an inbox of the environment that wrote it. If its orders are meant for ${environment}, remove the columns that begin with _error_ and drop it under another name.`,
  );
}

/** Where an object begins in the file that came back. */
export type At = { pointer: string; lineOf(pointer: string): number };

/** `line 14 (/1/items/0, order PO-2)`. `within`: the pointer of an item in the object. */
export function placeOf({ pointer, lineOf }: At, number: string, within = ''): string {
  const at = `${pointer}${within}`;
  const named = [at, number === '' ? '' : `order ${shorten(number, 60)}`].filter(
    (text) => text !== '',
  );
  return `line ${lineOf(at)}${named.length === 0 ? '' : ` (${named.join(', ')})`}`;
}

/**
 * Refuses a fix file in which a name of a value that is sent is gone, and others are `fresh`: the value is under one of them.
 * `where`: the object in which that is so.
 */
export function refuseRenamed(
  what: 'column' | 'key',
  lost: string,
  fresh: readonly string[],
  where?: () => string,
): void {
  const named = fresh
    .filter((name) => name.trim() !== '')
    .map((name) => JSON.stringify(shorten(name, 60)));
  if (named.length === 0) return;
  const [name, others] = [JSON.stringify(shorten(lost, 60)), named.slice(0, 5).join(', ')];
  const missing =
    where === undefined
      ? `The fix file came back without its ${what} ${name}, which is sent, and with ${others}, which it did not have`
      : `In ${where()}, the ${what} ${name}, which is sent, is missing, and ${others} is there, which the fix file did not have`;
  throw unreadable(
    'fix-columns',
    `${missing}: ${name} may have been renamed.`,
    { field: lost },
    `Name the ${what} ${name} again, and drop the file again. If ${others} has other values, remove it, or bring ${name} back as well.`,
  );
}

/**
 * Both readings of a value that came back empty in a row that has one in a column that was not there `before`: the mapping may
 * have a default for it.
 */
export function readingsOfEmptied(
  { was = '', now }: { was: string | undefined; now: string },
  cells: readonly string[],
  header: readonly string[],
  before: readonly string[] = [],
): string | undefined {
  if (was.trim() === '' || now.trim() !== '') return undefined;
  const known = new Set(before.map(plainName));
  const at = header.findIndex(
    (name, column) => !known.has(plainName(name)) && (cells[column] ?? '').trim() !== '',
  );
  const [earlier, other, name] = [was, cells[at] ?? '', header[at] ?? ''].map((text) =>
    JSON.stringify(shorten(text, 60)),
  );
  if (at < 0) return undefined;
  return `it was ${earlier} and is empty now, and the row has ${other} in the new column ${name}: the value can be that one, or none`;
}
