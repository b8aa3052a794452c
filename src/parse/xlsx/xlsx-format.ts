import { shorten } from '../../order/text.ts';
import { type Columns, hasNeededColumns, resolveColumns } from '../columns.ts';
import { createRowPages } from '../csv/csv-format.ts';
import { inspectRows } from '../csv/inspect-table.ts';
import type { Format } from '../format.ts';
import {
  type Lines,
  type SheetRow,
  tableRows,
  type Unseen,
  watchMixedQuantities,
} from './sheet-row.ts';
import { openWorkbook } from './workbook.ts';

/** Excel workbooks: their only visible sheet with data, or the one that the mapping names. */
export const xlsxFormat: Format<'xlsx'> = {
  sniff: (start) => start.startsWith('PK\x03\x04'),

  async inspect(file, mapping, originals) {
    const { sheet, decimal, headerRow } = mapping;
    await using workbook = await openWorkbook(file.handle, file.stamp, {
      sheet,
      signal: file.signal,
    });
    const find = ({ cells, line }: SheetRow) => {
      const isHeader = headerRow === 'auto' ? hasNeededColumns(cells, mapping) : line === headerRow;
      return isHeader ? resolveColumns(cells, line, mapping).at : undefined;
    };
    const mixed = watchMixedQuantities();
    const rows = tableRows(workbook.pages(), decimal, find, { look: mixed.look });
    const { reading, records, orders, warnings } = await inspectRows(
      rows,
      file.size,
      mapping,
      originals,
    );
    for await (const _ of file.bytes());
    const { header, errorColumns } = reading.columns;
    const textQuantityAt = mixed.at();
    return {
      records,
      orders,
      reading: {
        ...reading,
        sheet,
        decimal,
        ...(textQuantityAt !== undefined && { textQuantityAt }),
      },
      isFixFile: errorColumns.length > 0,
      warnings: [
        ...notReadWarning(sheet, workbook.unseen),
        ...unseenWarnings(workbook.unseen, reading.columns),
        ...warnings,
      ],
      shape: { format: { type: 'xlsx', ...(decimal === ',' && { decimal }) }, header },
    };
  },

  async *read(file, reading, mapping) {
    const { columns, sheet, decimal } = reading;
    const isMixed = reading.textQuantityAt !== undefined;
    await using workbook = await openWorkbook(file.handle, file.stamp, {
      sheet,
      signal: file.signal,
    });
    const pageOf = createRowPages(reading, mapping);
    const isHeader = ({ cells }: SheetRow) =>
      cells.length === columns.names.length &&
      cells.every((cell, index) => cell === columns.names[index]);
    const find = (row: SheetRow) => (isHeader(row) ? columns.at : undefined);
    for await (const rows of tableRows(workbook.pages(), decimal, find, { isMixed }))
      yield pageOf(rows);
  },
};

function notReadWarning(sheet: string | undefined, { notRead = [] }: Unseen): string[] {
  if (sheet === undefined || notRead.length === 0) return [];
  const names = shorten(notRead.map((name) => JSON.stringify(name)).join(', '));
  const [others, were] = notRead.length === 1 ? ['sheet', 'was'] : ['sheets', 'were'];
  return [
    `Only the sheet ${JSON.stringify(sheet)} was read, as the mapping says. The ${others} ${names} ${were} not.`,
  ];
}

/** People may not have meant to send what they did not see (docs/decisions/hidden-cells.md). */
function unseenWarnings(
  { rows, columns, pale, isFiltered }: Unseen,
  { header, at }: Columns,
): string[] {
  const sent = Object.values(at).toSorted((a, b) => a - b);
  const name = (column: number) => JSON.stringify(shorten(header[column]?.trim() ?? '', 60));
  const hidden = sent.filter((column) =>
    columns.some(([from, to]) => column >= from && column <= to),
  );
  const byFilter = isFiltered ? ' A filter is set.' : '';
  const what =
    rows.count === 1
      ? 'One hidden row of the sheet was read'
      : `${rows.count} hidden rows of the sheet were read`;
  return [
    ...(rows.count === 0
      ? []
      : [`${what}: ${lines(rows)}.${byFilter} Remove them if they are not meant.`]),
    ...hidden.map((column) => `The column ${name(column)} is hidden. It was read.`),
    ...sent.flatMap((column) => {
      const cells = pale[column];
      return cells
        ? [
            `Values of the column ${name(column)} have the color of their background: ${lines(cells)}. They were read.`,
          ]
        : [];
    }),
  ];
}

function lines({ count, lines }: Lines): string {
  const more = count > lines.length ? ` and ${count - lines.length} more` : '';
  return `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}${more}`;
}
