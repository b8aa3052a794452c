import type { Mapping } from '../../config/config.ts';
import type { SourceRecord } from '../../order/record.ts';
import { trimBlanks } from '../../order/text.ts';
import type { Format, LeftOut, RecordPage } from '../format.ts';
import type { TableReading } from '../inspection.ts';
import { inspectTable } from './inspect-table.ts';
import { createOwnCells } from './own-cells.ts';
import { createRowParser, type Row } from './row-parser.ts';
import { createTableBody } from './table-body.ts';

/** Tables with a delimiter: what nothing else claims. */
export const csvFormat: Format<'csv'> = {
  sniff: () => true,

  async inspect(file, mapping, originals) {
    const { delimiter, newline, decimal, ...found } = await inspectTable(
      file.text(),
      file.start,
      file.size,
      mapping,
      originals,
    );
    const { columns } = found.reading;
    const isSet = decimal !== undefined && mapping.decimal !== 'auto';
    const sign = decimal !== undefined && { decimal, ...(isSet && { decimalSet: true as const }) };
    const format = { type: 'csv', delimiter, ...sign } as const;
    const shape = { format, header: columns.header, ...(newline !== undefined && { newline }) };
    return { ...found, isFixFile: columns.errorColumns.length > 0, shape };
  },

  async *read(file, reading, mapping) {
    const parser = createRowParser(reading);
    const pageOf = createRowPages(reading, mapping);
    for await (const chunk of file.text()) yield pageOf(await parser.write(chunk));
    yield pageOf(await parser.end());
  },
};

/** Makes records of the rows of one table, in their order. */
export function createRowPages(
  reading: TableReading,
  mapping: Mapping,
): (rows: Row[]) => RecordPage {
  const { columns, fillDown, originals, fixSummary: summary } = reading;
  const isFixFile = columns.errorColumns.length > 0;
  const leftOut: LeftOut[] = [];
  const numberOf = ({ cells }: Row) =>
    trimBlanks(cells[columns.at.purchaseOrderNumber ?? -1] ?? '');
  const body = createTableBody(reading, mapping, (row, because) => {
    leftOut.push({ number: numberOf(row), line: row.line, ...because });
  });
  const own = createOwnCells({ columns, fillDown, originals, summary });
  return (rows) => ({
    records: body.take(rows).map(toRecord),
    leftOut: leftOut.splice(0),
    lineOf: ({ line }) => line,
  });

  function toRecord(row: Row): SourceRecord {
    const cells = own.cellsOf(row);
    const record = { kind: 'row' as const, place: { line: row.line }, cells };
    if (isFixFile) return { ...record, ...own.fixOf(row) };
    return fillDown && cells !== row.cells ? { ...record, inherits: true } : record;
  }
}
