/** The sheet's name within the package of a workbook. */
export const SHEET_PART = 'xl/worksheets/sheet1.xml';

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** Number format 49 is `@`: text (ECMA-376 part 1, 18.8.30). Style 1 has it, style 2 is the same in bold. */
const STYLES = `${XML}<styleSheet xmlns="${MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/><xf numFmtId="49" applyNumberFormat="1"/><xf numFmtId="49" fontId="1" applyNumberFormat="1" applyFont="1"/></cellXfs></styleSheet>`;

/** The parts of a workbook with one sheet, without the sheet. */
export function fixedParts(): { name: string; xml: string }[] {
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  return [
    {
      name: '[Content_Types].xml',
      xml: `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/><Override PartName="/${SHEET_PART}" ContentType="${type}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${type}.styles+xml"/></Types>`,
    },
    {
      name: '_rels/.rels',
      xml: `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    },
    {
      name: 'xl/workbook.xml',
      xml: `${XML}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="Dead letters" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      xml: `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
    },
    { name: 'xl/styles.xml', xml: STYLES },
  ];
}

/** The sheet up to its header row. All columns are text, so that new cells are text too; the header row stays visible. */
export function sheetStart(header: readonly string[]): string {
  const columns = header.map((name, index) => {
    const width = name === '_error_message' ? 80 : Math.min(Math.max(name.length + 2, 14), 40);
    return `<col min="${index + 1}" max="${index + 1}" width="${width}" style="1" customWidth="1"/>`;
  });
  const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  const views = `<sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews>`;
  return `${XML}<worksheet xmlns="${MAIN}">${views}<cols>${columns.join('')}</cols><sheetData>${rowXml(header, 1, 2)}`;
}

export const SHEET_END = '</sheetData></worksheet>';

/** A row of text cells. `row` is 1-based; `style` is an index of the style sheet. */
export function rowXml(cells: readonly string[], row: number, style = 1): string {
  const xml = cells.map((cell, index) => {
    return `<c r="${columnName(index)}${row}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escaped(cell)}</t></is></c>`;
  });
  return `<row r="${row}">${xml.join('')}</row>`;
}

/** `A`, `B` … `Z`, `AA` for a 0-based index. */
function columnName(index: number): string {
  const rest = Math.floor(index / 26);
  return (rest === 0 ? '' : columnName(rest - 1)) + String.fromCharCode(65 + (index % 26));
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Characters that XML cannot have or would change, and texts that look like their escape (ECMA-376 part 1, 22.9.2.19). */
const ESCAPED = /[[\p{Cc}--[\t\n]]\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)/gv;

function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(ESCAPED, (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .replace(/[&<>]/g, (character) => ENTITIES[character] ?? character);
}
