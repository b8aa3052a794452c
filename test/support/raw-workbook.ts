import { storeZip } from './zip.ts';

export type RawSheet = { name?: string; state?: string; xml: string };

const REL = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

const FILLS =
  '<fills><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FF000080"/></patternFill></fill></fills>';

/** A workbook of these sheets as their XML, with cell styles 1, 2, … for these number formats, and three more: struck through, white, white on blue. */
export function rawWorkbook(sheets: readonly RawSheet[], formats: readonly string[] = []): Buffer {
  const sheetTags = sheets.map(
    ({ name = 'Sheet', state }, i) =>
      `<sheet name="${name}" sheetId="${i + 1}"${state === undefined ? '' : ` state="${state}"`} r:id="r${i + 1}"/>`,
  );
  const links = sheets.map(
    (_, i) =>
      `<Relationship Id="r${i + 1}" Type="${REL}/worksheet" Target="worksheets/sheet${i + 1}.xml"/>`,
  );
  const codes = formats.map(
    (code, i) => `<numFmt numFmtId="${200 + i}" formatCode="${escaped(code)}"/>`,
  );
  const styles = [
    '<xf numFmtId="0"/>',
    ...formats.map((_, i) => `<xf numFmtId="${200 + i}"/>`),
    '<xf numFmtId="0" fontId="1"/>',
    '<xf numFmtId="0" fontId="2"/>',
    '<xf numFmtId="0" fontId="2" fillId="1"/>',
  ];
  const parts = new Map([
    [
      '_rels/.rels',
      `<Relationships><Relationship Id="r" Type="${REL}/officeDocument" Target="/xl/workbook.xml"/></Relationships>`,
    ],
    [
      'xl/workbook.xml',
      `<workbook xmlns:r="${REL}"><sheets>${sheetTags.join('')}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `<Relationships>${links.join('')}<Relationship Id="s" Type="${REL}/styles" Target="styles.xml"/></Relationships>`,
    ],
    [
      'xl/styles.xml',
      `<styleSheet><numFmts>${codes.join('')}</numFmts><fonts><font/><font><b/><strike/></font><font><color rgb="FFFFFFFF"/></font></fonts>${FILLS}<cellXfs>${styles.join('')}</cellXfs></styleSheet>`,
    ],
    ...sheets.map(({ xml }, i) => [`xl/worksheets/sheet${i + 1}.xml`, xml] as const),
  ]);
  return storeZip(new Map([...parts].map(([part, xml]) => [part, Buffer.from(xml)])));
}

export function textCell(text: string): string {
  return `<c t="inlineStr"><is><t>${escaped(text)}</t></is></c>`;
}

export function row(cells: string, attributes = ''): string {
  return `<row${attributes}>${cells}</row>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
