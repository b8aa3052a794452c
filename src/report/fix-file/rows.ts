import { ERROR_COLUMNS, errorColumnOf, writeFixCheck } from '../../order/fixing.ts';
import type { FileShape, SourceRecord } from '../../order/record.ts';
import { escapeFormula } from '../../order/spreadsheet.ts';
import { encoderFor, fixEncodingOf } from '../encode.ts';
import { csvLine, type Dialect } from '../lines.ts';
import { type FixForm, type RecordError, recordErrors } from './form.ts';

/** Shown right of the error columns of a row that is too short: the row stays invalid until somebody clears it. */
const UNCHECKED = 'put each value into its column, then clear this cell';

/** The fix file of a table: the input's columns, delimiter, encoding, byte-order mark and line ends. */
export function fixRows(shape: FileShape, batch: string): FixForm {
  const header = shape.header ?? [];
  const kept = header.flatMap((name, column) => (errorColumnOf(name) === undefined ? [column] : []));
  const dialect = dialectOf(shape);
  const check = writeFixCheck(dialect.delimiter);
  const { encoding, needsMark } = fixEncodingOf(shape.format);
  const encode = encoderFor(encoding);
  const lineOf = (cells: readonly string[]) => encode(csvLine(cells.map(escapeFormula), dialect));
  const mark = shape.bom === true || needsMark ? encode('\ufeff') : new Uint8Array();

  return {
    opening: () => Buffer.concat([mark, lineOf([...kept.map((column) => header[column] ?? ''), ...ERROR_COLUMNS])]),
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
  return { delimiter: shape.format.delimiter ?? ',', newline: shape.newline ?? '\r\n' };
}

function isWorkbook(shape: FileShape): boolean {
  return shape.format.type === 'xlsx';
}
