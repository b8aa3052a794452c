import { LIMITS } from '../../order/limits.ts';
import { shorten } from '../../order/text.ts';
import { unreadable } from '../unreadable.ts';
import { createXmlReader, type XmlEvents } from '../xml/read-xml.ts';
import { formatOf } from './shown-number.ts';
import type { ZipArchive } from './zip-archive.ts';

/** What a workbook says about its sheets (ECMA-376 part 1, 18). `part` is the name in the archive. */
export type Sheet = { name: string; isHidden: boolean; part: string };

export type Workbook = {
  sheets: Sheet[];
  /** Days are counted from 1904 instead of 1900. */
  is1904: boolean;
  /** The number format of each cell style, by the style's index. */
  formats: readonly string[];
  /** The cell styles whose text is struck through, and those whose text has the color of its background. */
  struck: ReadonlySet<number>;
  pale: ReadonlySet<number>;
  /** Texts that cells refer to by number, and which of them are struck through in part. */
  strings: readonly string[];
  struckStrings: ReadonlySet<number>;
};

/** Reads all parts of a workbook but its sheets. PoSyncError `unreadable-format` for another kind of archive. */
export async function readWorkbookParts(archive: ZipArchive): Promise<Workbook> {
  const root = (await relationsOf(archive, '_rels/.rels', '')).find(
    ({ type }) => type === 'officeDocument',
  )?.target;
  const part = root ?? 'xl/workbook.xml';
  if (!archive.has(part) || !/^(?!word\/|ppt\/).*(?<!\.bin)$/.test(part))
    throw notAWorkbook(archive.names());
  const folder = part.slice(0, part.lastIndexOf('/') + 1);
  const relations = await relationsOf(
    archive,
    `${folder}_rels/${part.slice(folder.length)}.rels`,
    folder,
  );
  const partOf = (type: string) => relations.find((relation) => relation.type === type)?.target;
  const { sheets, is1904 } = await sheetsOf(archive, part);
  const known = sheets.flatMap(({ id, ...sheet }) => {
    const relation = relations.find((one) => one.id === id);
    return relation?.type === 'worksheet' ? [{ ...sheet, part: relation.target }] : [];
  });
  const [styles, strings] = [partOf('styles'), partOf('sharedStrings')];
  return {
    sheets: known,
    is1904,
    ...(await stylesOf(archive, styles)),
    ...(await stringsOf(archive, strings)),
  };
}

/** Reads one part to its end. */
export async function readPart(
  archive: ZipArchive,
  part: string,
  events: XmlEvents,
): Promise<void> {
  const reader = createXmlReader(events);
  for await (const text of archive.textOf(part)) reader.write(text);
  reader.end();
}

type Relation = { id: string; type: string; target: string };

async function relationsOf(archive: ZipArchive, part: string, folder: string): Promise<Relation[]> {
  const relations: Relation[] = [];
  if (!archive.has(part)) return relations;
  await readPart(archive, part, {
    onOpen(name, attributes) {
      const target = attributes.get('Target') ?? '';
      if (name !== 'Relationship' || attributes.get('TargetMode') === 'External') return;
      const type = (attributes.get('Type') ?? '').split('/').at(-1) ?? '';
      relations.push({ id: attributes.get('Id') ?? '', type, target: resolve(folder, target) });
    },
    onClose() {},
  });
  return relations;
}

/** `/xl/a.xml` is absolute, `../a.xml` and `a.xml` are relative to the folder. */
function resolve(folder: string, target: string): string {
  return new URL(target, `zip://parts/${folder}`).pathname.slice(1);
}

async function sheetsOf(archive: ZipArchive, part: string) {
  const sheets: { id: string; name: string; isHidden: boolean }[] = [];
  let is1904 = false;
  await readPart(archive, part, {
    onOpen(name, attributes) {
      if (name === 'workbookPr') is1904 = /^(?:1|true)$/.test(attributes.get('date1904') ?? '');
      if (name !== 'sheet') return;
      const isHidden = (attributes.get('state') ?? 'visible') !== 'visible';
      sheets.push({ id: attributes.get('id') ?? '', name: attributes.get('name') ?? '', isHidden });
    },
    onClose() {},
  });
  return { sheets, is1904 };
}

type Styles = Pick<Workbook, 'formats' | 'struck' | 'pale'>;
type Attributes = ReadonlyMap<string, string>;
type Font = { isStruck: boolean; color: string | undefined };

const WHITE = 'white';

/** Reads what the styles of cells say about their values (ECMA-376 part 1, 18.8). */
async function stylesOf(archive: ZipArchive, part: string | undefined): Promise<Styles> {
  const codes = new Map<number, string>();
  const fonts: Font[] = [];
  const fills: (string | undefined)[] = [];
  const formats: string[] = [];
  const [struck, pale] = [new Set<number>(), new Set<number>()];
  let within = '';
  if (part === undefined || !archive.has(part)) return { formats, struck, pale };

  function addStyle(attributes: Attributes): void {
    const style = formats.length;
    const font = fonts[Number(attributes.get('fontId') ?? 0)];
    const fill = fills[Number(attributes.get('fillId') ?? 0)] ?? WHITE;
    if (font?.isStruck) struck.add(style);
    if (font?.color === fill) pale.add(style);
    formats.push(formatOf(Number(attributes.get('numFmtId') ?? 0), codes));
  }

  await readPart(archive, part, {
    onOpen(name, attributes) {
      const [font] = fonts.slice(-1);
      if (name === 'numFmt')
        codes.set(Number(attributes.get('numFmtId') ?? 0), attributes.get('formatCode') ?? '');
      else if (SECTIONS.has(name)) within = name;
      else if (within === 'fonts' && name === 'font')
        fonts.push({ isStruck: false, color: undefined });
      else if (within === 'fonts' && name === 'strike' && font)
        font.isStruck = isOn(attributes.get('val'));
      else if (within === 'fonts' && name === 'color' && font) font.color = colorOf(attributes);
      else if (within === 'fills' && name === 'fill') fills.push(undefined);
      else if (within === 'fills' && name === 'fgColor')
        fills[fills.length - 1] = colorOf(attributes);
      else if (within === 'cellXfs' && name === 'xf') addStyle(attributes);
    },
    onClose(name) {
      if (name === within) within = '';
    },
  });
  return { formats, struck, pale };
}

const SECTIONS = new Set(['fonts', 'fills', 'cellXfs', 'cellStyleXfs', 'borders', 'dxfs']);

/** A color for comparison. The first color of a theme is its background, nearly always white. */
function colorOf(attributes: Attributes): string | undefined {
  const [rgb, theme, indexed] = ['rgb', 'theme', 'indexed'].map((name) => attributes.get(name));
  const tint = attributes.get('tint') ?? '0';
  if (rgb !== undefined)
    return /^(?:ff)?ffffff$/i.test(rgb) ? WHITE : `rgb ${rgb.slice(-6).toUpperCase()}`;
  if (theme !== undefined)
    return theme === '0' && Number(tint) === 0 ? WHITE : `theme ${theme} ${tint}`;
  if (indexed === undefined) return undefined;
  return indexed === '1' || indexed === '9' ? WHITE : `indexed ${indexed}`;
}

/** Whether a switch of a style is on. */
function isOn(value = '1'): boolean {
  return value !== '0' && value !== 'false';
}

async function stringsOf(
  archive: ZipArchive,
  part: string | undefined,
): Promise<Pick<Workbook, 'strings' | 'struckStrings'>> {
  const strings: string[] = [];
  const struckStrings = new Set<number>();
  if (part === undefined || !archive.has(part)) return { strings, struckStrings };
  const text = createRichText();
  let left = LIMITS.workbookHeap / 4;
  await readPart(archive, part, {
    onOpen(name, attributes) {
      if (name === 'si') text.start();
      else text.open(name, attributes);
    },
    onText: (piece) => text.add(piece),
    onClose(name) {
      text.close(name);
      if (name !== 'si') return;
      if (text.isStruck()) struckStrings.add(strings.length);
      const string = text.take();
      left -= string.length;
      if (left < 0) throw tooMuchText();
      strings.push(string);
    },
  });
  return { strings, struckStrings };
}

/** Collects the text of a cell: all its runs, without the phonetic hints of Japanese. */
export function createRichText() {
  let text = '';
  let isText = false;
  let isPhonetic = false;
  let isStruckRun = false;
  let isStruck = false;
  return {
    start(): void {
      text = '';
      isStruckRun = false;
      isStruck = false;
    },
    open(name: string, attributes: ReadonlyMap<string, string>): void {
      if (name === 'r') isStruckRun = false;
      if (name === 'strike') isStruckRun = isOn(attributes.get('val'));
      if (name === 't') isText = true;
      if (name === 'rPh') isPhonetic = true;
    },
    add(piece: string): void {
      if (!isText || isPhonetic) return;
      text += piece;
      if (isStruckRun && piece.trim() !== '') isStruck = true;
    },
    close(name: string): void {
      if (name === 't') isText = false;
      if (name === 'rPh') isPhonetic = false;
    },
    /** Whether a part of it is struck through. */
    isStruck: () => isStruck,
    /** Characters that XML lacks are written as `_x0009_`. */
    take: (): string =>
      text.includes('_x')
        ? text.replace(/_x([0-9a-f]{4})_/gi, (_, hex: string) =>
            String.fromCharCode(Number.parseInt(hex, 16)),
          )
        : text,
  };
}

/** Other files that are zip archives, by the names of their parts. */
const OTHERS: readonly [what: string, part: RegExp][] = [
  ['a binary workbook (.xlsb)', /^xl\/workbook\.bin$/],
  ['an OpenDocument file (.ods)', /^(?:mimetype|content\.xml)$/],
  ['a Numbers file', /^index(?:\/.*\.iwa|\.zip)$/],
  ['a Word document', /^word\//],
  ['a presentation', /^ppt\//],
];

function notAWorkbook(names: readonly string[]) {
  const other = OTHERS.find(([, part]) => names.some((name) => part.test(name)))?.[0];
  if (other !== undefined)
    return unreadable('format', `The file is ${other}.`, {}, 'Save it as .xlsx or as CSV (UTF-8).');
  const shown = shorten(names.map((name) => JSON.stringify(name)).join(', '));
  const message = `The file is a zip archive of ${shown}, but not an Excel workbook (.xlsx).`;
  return unreadable(
    'format',
    message,
    {},
    'Unpack it and drop the files in it, or pack each as gzip.',
  );
}

function tooMuchText() {
  const limit = LIMITS.workbookHeap / 4;
  const message = `The workbook contains more than ${limit} characters of text.`;
  return unreadable(
    'too-large',
    message,
    { limit },
    'Save the sheet as CSV (UTF-8), which may have any size.',
  );
}

/** The sheet to read: the one with this name. PoSyncError `unreadable-sheet` when there is none. */
export function sheetNamed({ sheets }: Workbook, name: string): Sheet {
  const found = sheets.find((sheet) => sheet.name === name);
  if (found) return found;
  const names = sheets.map((sheet) => JSON.stringify(sheet.name)).join(', ');
  const message = `The workbook has no sheet ${JSON.stringify(shorten(name, 60))}; it has ${shorten(names)}.`;
  const remedy =
    'Give the sheet with the orders this name. For your operator: or correct sheet in the mapping.';
  throw unreadable('sheet', message, { value: shorten(name) }, remedy);
}
