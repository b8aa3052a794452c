import { LIMITS } from '../limits.ts';
import { cut, listed, tooLarge, unreadable } from '../unreadable.ts';
import { type Attribute, createXmlReader, type XmlEvents } from '../xml/xml-reader.ts';
import { formatOf } from './number-text.ts';
import type { ZipArchive } from './zip-archive.ts';

/** What a workbook says about its sheets (ECMA-376 part 1, 18). `part` is the name in the archive. */
export type Sheet = { name: string; isHidden: boolean; part: string };

export type Workbook = {
  sheets: Sheet[];
  /** Days are counted from 1904 instead of 1900. */
  is1904: boolean;
  /** The number format of each cell style, by the style's index. */
  formats: readonly string[];
  /** The cell styles whose text is struck through. */
  struck: ReadonlySet<number>;
  /** Texts that cells refer to by number, and which of them are struck through in part. */
  strings: readonly string[];
  struckStrings: ReadonlySet<number>;
};

/** Reads all parts of a workbook but its sheets. PoSyncError `unreadable-foreign` for another kind of archive. */
export async function readWorkbookParts(archive: ZipArchive): Promise<Workbook> {
  const root = (await relationsOf(archive, '_rels/.rels', '')).find(
    ({ type }) => type === 'officeDocument',
  )?.target;
  const part = root ?? 'xl/workbook.xml';
  if (!archive.has(part) || !/^(?!word\/|ppt\/).*(?<!\.bin)$/i.test(part))
    throw unreadable({ code: 'foreign', kind: 'a zip archive, and no workbook (.xlsx)' });
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
    if (relation === undefined) throw withoutPart(sheet.name);
    return relation.type === 'worksheet' ? [{ ...sheet, part: relation.target }] : [];
  });
  return {
    sheets: known,
    is1904,
    ...(await stylesOf(archive, partOf('styles'))),
    ...(await stringsOf(archive, partOf('sharedStrings'))),
  };
}

/** Reads one part to its end. */
async function readPart(archive: ZipArchive, part: string, events: XmlEvents): Promise<void> {
  const reader = createXmlReader(events);
  for await (const text of archive.textOf(part)) reader.write(text);
  reader.end();
}

/** The value of an attribute. */
export function attributeOf(attributes: readonly Attribute[], name: string): string | undefined {
  return attributes.find((one) => one.name === name)?.value;
}

/** Whether a switch is on: it may be there without a value. */
export function isOn(value: string | undefined): boolean {
  return value !== '0' && value !== 'false';
}

type Relation = { id: string; type: string; target: string };

async function relationsOf(archive: ZipArchive, part: string, folder: string): Promise<Relation[]> {
  const relations: Relation[] = [];
  if (!archive.has(part)) return relations;
  await readPart(archive, part, {
    onOpen(name, attributes) {
      const of = (key: string) => attributeOf(attributes, key) ?? '';
      if (name !== 'Relationship' || of('TargetMode') === 'External') return;
      const type = of('Type').split('/').at(-1) ?? '';
      relations.push({ id: of('Id'), type, target: resolve(folder, of('Target')) });
    },
    onClose() {},
  });
  return relations;
}

/** `/xl/a.xml` is absolute, `../a.xml` and `a.xml` are relative to the folder. */
function resolve(folder: string, target: string): string {
  const url = URL.parse(target.replaceAll('\\', '/'), `zip://parts/${folder}`);
  return decodeURI(url?.pathname.slice(1) ?? '');
}

async function sheetsOf(archive: ZipArchive, part: string) {
  const sheets: { id: string; name: string; isHidden: boolean }[] = [];
  let is1904 = false;
  await readPart(archive, part, {
    onOpen(name, attributes) {
      const of = (key: string) => attributeOf(attributes, key);
      if (name === 'workbookPr') is1904 = isOn(of('date1904') ?? '0');
      if (name !== 'sheet') return;
      const isHidden = (of('state') ?? 'visible') !== 'visible';
      sheets.push({ id: of('id') ?? '', name: of('name') ?? '', isHidden });
    },
    onClose() {},
  });
  return { sheets, is1904 };
}

const SECTIONS = new Set(['fonts', 'cellXfs', 'cellStyleXfs', 'dxfs']);

/** Reads what the styles of cells say about their values (ECMA-376 part 1, 18.8). */
async function stylesOf(
  archive: ZipArchive,
  part: string | undefined,
): Promise<Pick<Workbook, 'formats' | 'struck'>> {
  const codes = new Map<number, string>();
  const struckFonts = new Set<number>();
  const formats: string[] = [];
  const struck = new Set<number>();
  let font = -1;
  let within = '';
  if (part === undefined) return { formats, struck };

  await readPart(archive, part, {
    onOpen(name, attributes) {
      const numberOf = (key: string) => Number(attributeOf(attributes, key) ?? 0);
      if (name === 'numFmt')
        codes.set(numberOf('numFmtId'), attributeOf(attributes, 'formatCode') ?? '');
      else if (SECTIONS.has(name)) within = name;
      else if (within === 'fonts' && name === 'font') font += 1;
      else if (within === 'fonts' && name === 'strike' && isOn(attributeOf(attributes, 'val')))
        struckFonts.add(font);
      else if (within === 'cellXfs' && name === 'xf') {
        if (struckFonts.has(numberOf('fontId'))) struck.add(formats.length);
        formats.push(formatOf(numberOf('numFmtId'), codes));
      }
    },
    onClose(name) {
      if (name === within) within = '';
    },
  });
  return { formats, struck };
}

async function stringsOf(
  archive: ZipArchive,
  part: string | undefined,
): Promise<Pick<Workbook, 'strings' | 'struckStrings'>> {
  const strings: string[] = [];
  const struckStrings = new Set<number>();
  if (part === undefined) return { strings, struckStrings };
  const text = createRichText();
  let left: number = LIMITS.sharedText;
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
      if (left < 0) throw tooLarge('The text of the workbook', LIMITS.sharedText, 'characters');
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
    open(name: string, attributes: readonly Attribute[]): void {
      if (name === 'r') isStruckRun = false;
      if (name === 'strike') isStruckRun = isOn(attributeOf(attributes, 'val'));
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

function withoutPart(name: string) {
  const reason = `the sheet ${JSON.stringify(cut(name))} has no part`;
  return unreadable({ code: 'damaged', what: 'workbook', reason });
}

/** The sheet with this name. PoSyncError `unreadable-sheet` when there is none. */
export function sheetNamed({ sheets }: Workbook, name: string): Sheet {
  const found = sheets.find((sheet) => sheet.name === name);
  if (found) return found;
  const names = listed(sheets.map((sheet) => sheet.name));
  throw unreadable({ code: 'sheet', sheet: JSON.stringify(cut(name)), names });
}
