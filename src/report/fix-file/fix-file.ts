import { ERROR_COLUMNS, errorColumnOf, writeFixCheck } from '../../order/fixing.ts';
import { sourceOfNumber } from '../../order/quantity.ts';
import type { FileFormat, FileShape, SourceRecord } from '../../order/record.ts';
import { escapeFormula } from '../../order/spreadsheet.ts';
import { encoderFor, fixDelimiterOf, fixEncodingOf } from '../encode.ts';
import { csvLine, type Dialect } from '../lines.ts';
import { type FixForm, type RecordError, recordErrors } from './form.ts';

/** The rows of `dead-letters.csv` as a workbook. */
export const FIX_WORKBOOK = 'dead-letters.xlsx';

/** Every name that a fix file may have in a report's folder; one of the first three is always there. */
export const FIX_FILE_NAMES = [
  'dead-letters.csv',
  'dead-letters.fix.json',
  'dead-letters.ndjson',
  FIX_WORKBOOK,
] as const;

export type FixFileName = (typeof FIX_FILE_NAMES)[number];

/** The fix file of each input format; the formats themselves are in `parse/formats.ts`. */
const FIX_FILES: Record<
  FileFormat['type'],
  { name: FixFileName; write(shape: FileShape, batch: string): FixForm }
> = {
  csv: { name: 'dead-letters.csv', write: fixRows },
  xlsx: { name: 'dead-letters.csv', write: fixRows },
  // `dead-letters.json` is the list of entries.
  json: { name: 'dead-letters.fix.json', write: fixObjects },
  ndjson: { name: 'dead-letters.ndjson', write: fixObjects },
  xml: { name: 'dead-letters.fix.json', write: fixObjects },
};

/** The fix file of a batch, in the form of its input; a workbook comes back as CSV, XML as JSON. */
export function fixFile(shape: FileShape, batch: string): FixForm {
  return FIX_FILES[shape.format.type].write(shape, batch);
}

/** The name of the fix file for an input format. */
export function fixFileName({ type }: FileFormat): FixFileName {
  return FIX_FILES[type].name;
}

/** The fix file of JSON or XML: the same objects with the error keys added, as an array or one object a line. */
function fixObjects(shape: FileShape, batch: string): FixForm {
  const { encoding, needsMark } = fixEncodingOf(shape.format);
  const encode = encoderFor(encoding);
  const isArray = shape.format.type !== 'ndjson';
  const newline = shape.newline ?? '\n';
  const mark = shape.bom === true || needsMark ? '\ufeff' : '';
  let count = 0;

  function framed(text: string): string {
    const separator = !isArray ? '' : count === 0 ? newline : `,${newline}`;
    count += 1;
    return isArray ? `${separator}${text}` : `${text}${newline}`;
  }

  return {
    opening: () => encode(isArray ? `${mark}[` : mark),
    recordsOf(order, deadLetter) {
      const errors = recordErrors(order, deadLetter, batch);
      const texts = order.records.map((record, index) =>
        framed(JSON.stringify(withError(record, errors[index]))),
      );
      return encode(texts.join(''), escapeCharacter);
    },
    closing: () => encode(isArray ? `${newline}]${newline}` : ''),
  };
}

/** Adds the error keys; a value that is not an object cannot have keys and becomes `_error_value`. */
function withError(record: SourceRecord, error: RecordError | undefined): object {
  const errorKeys = {
    _error_line: error?.line ?? null,
    _error_code: error?.code ?? '',
    _error_message: error?.message ?? '',
    _error_check: writeFixCheck(undefined),
  };
  const value = record.kind === 'object' ? record.value : record.cells;
  return isObject(value) ? { ...value, ...errorKeys } : { _error_value: value, ...errorKeys };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isNumber(value);
}

/** Numbers that a double cannot represent are kept as objects. */
function isNumber(value: object): boolean {
  return sourceOfNumber(value) !== undefined;
}

/** Characters that the encoding lacks occur only in JSON strings, where `\u` means the same. */
function escapeCharacter(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}

/** Shown right of the error columns of a row that is too short: the row stays invalid until somebody clears it. */
const UNCHECKED = 'put each value into its column, then clear this cell';

/** The fix file of a table: the input's columns, delimiter, encoding, byte order mark and line ends. */
function fixRows(shape: FileShape, batch: string): FixForm {
  const header = shape.header ?? [];
  const kept = header.flatMap((name, column) =>
    errorColumnOf(name) === undefined ? [column] : [],
  );
  const dialect = dialectOf(shape);
  const check = writeFixCheck(dialect.delimiter);
  const { encoding, needsMark } = fixEncodingOf(shape.format);
  const encode = encoderFor(encoding);
  const lineOf = (cells: readonly string[]) => encode(csvLine(cells.map(escapeFormula), dialect));
  const mark = shape.bom === true || needsMark ? encode('\ufeff') : new Uint8Array();

  return {
    opening: () =>
      Buffer.concat([
        mark,
        lineOf([...kept.map((column) => header[column] ?? ''), ...ERROR_COLUMNS]),
      ]),
    recordsOf(order, deadLetter) {
      const errors = recordErrors(order, deadLetter, batch);
      const lines = order.records.map((record, index) => {
        const cells = cellsOf(record);
        const own = kept.map((column) => cells[column] ?? '');
        return lineOf([...own, ...errorCells(errors[index]), check, ...surplus(cells, shape)]);
      });
      return Buffer.concat(lines);
    },
    closing: () => new Uint8Array(),
  };
}

function cellsOf(record: SourceRecord): readonly string[] {
  return record.kind === 'row' ? record.cells : [];
}

function errorCells(error: RecordError | undefined): string[] {
  return error === undefined ? ['', '', ''] : [String(error.line), error.code, error.message];
}

/**
 * Surplus cells come after the error columns. So every column keeps its place in a spreadsheet, and a row of the wrong
 * width that comes back unchanged still has the wrong width.
 */
function surplus(cells: readonly string[], shape: FileShape): readonly string[] {
  const width = shape.header?.length ?? 0;
  if (cells.length < width) return isWorkbook(shape) ? [] : [UNCHECKED];
  const rest = cells.slice(width);
  return rest.every((cell) => cell === '') ? [] : rest;
}

function dialectOf(shape: FileShape): Dialect {
  return { delimiter: fixDelimiterOf(shape.format), newline: shape.newline ?? '\r\n' };
}

function isWorkbook(shape: FileShape): boolean {
  return shape.format.type === 'xlsx';
}
