import { hasNeededColumns, resolveColumns } from '../columns.ts';
import { createRowPages } from '../csv/csv-format.ts';
import { inspectRows } from '../csv/inspect-table.ts';
import type { Format } from '../format.ts';
import { type SheetRow, tableRows } from './sheet-row.ts';
import { openWorkbook } from './workbook.ts';

/** Excel workbooks: their only visible sheet with data, or the one that the mapping names. */
export const xlsxFormat: Format<'xlsx'> = {
  sniff: (start) => start.startsWith('PK\x03\x04'),

  async inspect(file, mapping, originals) {
    const { sheet, decimal, headerRow } = mapping;
    await using workbook = await openWorkbook(file.handle, file.stamp, { sheet, signal: file.signal });
    const rows = tableRows(workbook.pages(), decimal, ({ cells, line }) => {
      const isHeader = headerRow === 'auto' ? hasNeededColumns(cells, mapping) : line === headerRow;
      return isHeader ? resolveColumns(cells, line, mapping).at : undefined;
    });
    const { reading, records, orders, warnings } = await inspectRows(rows, file.size, mapping, originals);
    for await (const _ of file.bytes());
    const { header, errorColumns } = reading.columns;
    return {
      records,
      orders,
      reading: { ...reading, sheet, decimal },
      isFixFile: errorColumns.length > 0,
      warnings: [...hiddenWarning(workbook.hiddenRows), ...warnings],
      shape: { format: { type: 'xlsx' }, header },
    };
  },

  async *read(file, reading, mapping) {
    const { columns, sheet, decimal } = reading;
    await using workbook = await openWorkbook(file.handle, file.stamp, { sheet, signal: file.signal });
    const pageOf = createRowPages(reading, mapping);
    const isHeader = ({ cells }: SheetRow) =>
      cells.length === columns.names.length && cells.every((cell, index) => cell === columns.names[index]);
    const find = (row: SheetRow) => (isHeader(row) ? columns.at : undefined);
    for await (const rows of tableRows(workbook.pages(), decimal, find)) yield pageOf(rows);
  },
};

function hiddenWarning(rows: number): string[] {
  if (rows === 0) return [];
  return [rows === 1 ? 'One hidden row of the sheet was read.' : `${rows} hidden rows of the sheet were read.`];
}
