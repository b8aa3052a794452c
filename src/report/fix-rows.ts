import { neutralise } from '../order/formula.ts';
import type { FileShape } from '../order/record.ts';
import { csvLine, type Dialect } from './csv-line.ts';
import { encoderFor } from './encode.ts';
import type { FixForm } from './fix-form.ts';
import { ERROR_COLUMNS, isErrorColumn, type RecordError, recordErrors } from './record-errors.ts';

/** Stands right of the error columns of a row that was too short: until it is cleared, the row stays invalid. */
const UNCHECKED = 'put each value into its column, then clear this cell';

/** The fix file of a table: the input's columns, delimiter, encoding, byte order mark and line ends. */
export function fixRows(shape: FileShape, batch: string): FixForm {
  const header = shape.header ?? [];
  const kept = header.flatMap((name, column) => (isErrorColumn(name) ? [] : [column]));
  const dialect = dialectOf(shape);
  const encode = encoderFor(isWorkbook(shape) ? 'utf-8' : shape.format.encoding);
  const lineOf = (cells: readonly string[]) => encode(csvLine(cells.map(neutralise), dialect));

  const mark = shape.bom === true || isWorkbook(shape) ? encode('\ufeff') : new Uint8Array();

  return {
    opening: () => Buffer.concat([mark, lineOf([...kept.map((column) => header[column] ?? ''), ...ERROR_COLUMNS])]),
    recordsOf(order, deadLetter) {
      const errors = recordErrors(order, deadLetter, batch);
      const lines = order.records.map((record, index) => {
        const cells = record.kind === 'row' ? record.cells : [];
        const own = kept.map((column) => cells[column] ?? '');
        return lineOf([...own, ...cellsOf(errors[index]), ...beyond(cells, shape)]);
      });
      return Buffer.concat(lines);
    },
    closing: () => new Uint8Array(),
  };
}

function cellsOf(error: RecordError | undefined): string[] {
  return [error?.line ?? '', error?.code ?? '', error?.message ?? ''];
}

/**
 * What did not fit stands right of the error columns: so each column stands under its name in a spreadsheet, and a
 * row of the wrong width that comes back unmended is of the wrong width still.
 */
function beyond(cells: readonly string[], shape: FileShape): readonly string[] {
  const width = shape.header?.length ?? 0;
  if (cells.length < width) return isWorkbook(shape) ? [] : [UNCHECKED];
  const surplus = cells.slice(width);
  return surplus.every((cell) => cell === '') ? [] : surplus;
}

function dialectOf(shape: FileShape): Dialect {
  return { delimiter: shape.format.delimiter ?? ',', newline: shape.newline ?? '\r\n' };
}

/** A workbook's cells come back as CSV that every spreadsheet program opens rightly: UTF-8 with its mark. */
function isWorkbook(shape: FileShape): boolean {
  return shape.format.type === 'xlsx';
}
