import writeExcelFile, { type SheetData } from 'write-excel-file/node';

/** An .xlsx file of one sheet. */
export async function writeWorkbook(rows: SheetData, sheet = 'Sheet1'): Promise<Buffer> {
  return await writeExcelFile(rows, { sheet }).toBuffer();
}

/** Rows of texts. */
export function textRows(rows: readonly (readonly string[])[]): SheetData {
  return rows.map((cells) => cells.map((value) => (value === '' ? null : { type: String, value })));
}
