import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { makeTempFolder } from '../support/temp-folder.ts';
import { programOf } from './programs.ts';

const run = promisify(execFile);

/** The values in the boxes of LibreOffice's dialogs for text files. */
export type TextForm = {
  delimiter: ',' | ';' | '\t';
  encoding: 'utf-8' | 'utf-16le' | 'windows-1252';
  /** "Format quoted field as text", which docs/reports.md asks for. */
  quotedIsText?: boolean;
};

/** What a person types into one cell, by the title of its column. */
export type Typed = { column: string; row: number; text: string };

export type Editing = {
  /** A text file, or a workbook next to a text file of the same name and columns. */
  open: string;
  /** The form of text files that are opened and saved. */
  as: TextForm;
  /** Typed in this sequence; rows are counted from 1, the titles being row 0. */
  type: readonly Typed[];
  /** Done after that. */
  after?: readonly Operation[];
  /** Where it is saved: in the same form, or as a workbook where the name ends in `.xlsx`, `.xls` or `.ods`. */
  save: string;
};

/**
 * What a person does to the sheet after typing; rows and columns are counted from 0, row 0 has the titles. `sort`: all
 * rows by a column, descending; `sort-alone`: only the cells of that column. `merge`: cells of a column, as a person
 * merges them, which empties all but the first. `type` takes a formula too.
 */
export type Operation =
  | { do: 'type'; column: number; row: number; text: string }
  | { do: 'copy-row'; row: number; to: number }
  | { do: 'delete-row' | 'hide-row'; row: number }
  | { do: 'sort' | 'sort-alone' | 'insert-column' | 'delete-column'; column: number }
  | { do: 'merge'; column: number; row: number; to: number }
  | { do: 'fill-down'; column: number; row: number; to: number };

/** A person at LibreOffice Calc, in a separate profile. */
export type Spreadsheet = AsyncDisposable & {
  edit(editing: Editing): Promise<void>;
  /** Edits several files in one sitting. */
  editAll(editings: readonly Editing[]): Promise<void>;
};

/** The numbers by which LibreOffice's filter options name encodings (its `rtl_TextEncoding`). */
const CHARSETS = { 'windows-1252': 1, 'utf-8': 76, 'utf-16le': 65_535 } as const;

const TEXT = 'Text - txt - csv (StarCalc)';
const WORKBOOKS: Readonly<Record<string, string>> = {
  '.xlsx': 'Calc MS Excel 2007 XML',
  '.xls': 'MS Excel 97',
  '.ods': 'calc8',
};

/** Opens LibreOffice for a person of this language and country; `de-DE` and `fr-FR` write decimal commas. */
export async function openSpreadsheet(locale: 'en-US' | 'de-DE' | 'fr-FR'): Promise<Spreadsheet> {
  const program = programOf('soffice');
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await makeTempFolder());
  const profile = path.join(folder, 'profile');
  const office = async (env: Record<string, string>, ...args: string[]) => {
    const flags = [
      `-env:UserInstallation=${pathToFileURL(profile).href}`,
      '--headless',
      '--norestore',
      ...args,
    ];
    await run(program, flags, { env: { ...process.env, ...env }, timeout: 60_000 });
  };
  await mkdir(path.join(profile, 'user'), { recursive: true });
  await writeFile(path.join(profile, 'user/registrymodifications.xcu'), settings(locale));
  // It makes the rest of its profile first, and would write over a macro that was there before.
  await office({}, '--terminate_after_init');
  await addMacro(path.join(profile, 'user/basic/Standard'));
  const kept = stack.move();
  async function editAll(editings: readonly Editing[]): Promise<void> {
    const jobs = await Promise.all(editings.map(jobOf));
    const job = path.join(folder, 'job.txt');
    await writeFile(job, jobs.map((lines) => `${lines.join('\n')}\n\n`).join(''));
    await office({ MEND_JOB: job }, 'macro:///Standard.Mend.Main');
  }
  return {
    edit: (editing) => editAll([editing]),
    editAll,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function jobOf({ open, as, type, after = [], save }: Editing): Promise<string[]> {
  const titles = await titlesOf(open.replace(/\.xlsx$/, '.csv'), as);
  const filterOf = (file: string, options: string) => {
    const workbook = WORKBOOKS[path.extname(file)];
    return workbook === undefined ? [TEXT, options] : [workbook, ''];
  };
  return [
    pathToFileURL(open).href,
    ...filterOf(open, readOptions(as)),
    pathToFileURL(save).href,
    ...filterOf(save, writeOptions(as)),
    ...type.map(({ column, row, text }) => `type\t${columnOf(titles, column)}\t${row}\t${text}`),
    ...after.map(lineOf),
  ];
}

/** The operation, two or three numbers, and a text. */
function lineOf(operation: Operation): string {
  switch (operation.do) {
    case 'type':
      return ['type', operation.column, operation.row, operation.text].join('\t');
    case 'copy-row':
      return ['copy-row', operation.row, operation.to].join('\t');
    case 'delete-row':
    case 'hide-row':
      return [operation.do, operation.row, 0].join('\t');
    case 'merge':
    case 'fill-down':
      return [operation.do, operation.column, operation.row, operation.to].join('\t');
    default:
      return [operation.do, operation.column, 0].join('\t');
  }
}

/** Separator, quote, encoding, first line, columns, language, "quoted field as text", "detect special numbers". */
function readOptions({ delimiter, encoding, quotedIsText = true }: TextForm): string {
  return `${delimiter.charCodeAt(0)},34,${CHARSETS[encoding]},1,,0,${quotedIsText},false`;
}

/** Separator, quote, encoding, first line, columns, language, "quote all text cells", "as shown", formulas. */
function writeOptions({ delimiter, encoding }: TextForm): string {
  return `${delimiter.charCodeAt(0)},34,${CHARSETS[encoding]},1,,0,false,true,false`;
}

async function titlesOf(file: string, { delimiter, encoding }: TextForm): Promise<string[]> {
  const text = new TextDecoder(encoding).decode(await readFile(file));
  return (text.split(/\r\n|\n|\r/)[0] ?? '').split(delimiter);
}

function columnOf(titles: readonly string[], column: string): number {
  const at = titles.indexOf(column);
  if (at < 0) throw new Error(`The file has no column ${column}: ${titles.join(', ')}`);
  return at;
}

function settings(locale: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>${locale}</value></prop></item>
</oor:items>
`;
}

async function addMacro(folder: string): Promise<void> {
  const opening = (kind: string) =>
    `<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE ${kind} PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "${kind.replace(/^.*:/, '')}.dtd">\n`;
  await writeFile(
    path.join(folder, 'script.xlb'),
    `${opening('library:library')}<library:library xmlns:library="http://openoffice.org/2000/library" library:name="Standard" library:readonly="false" library:passwordprotected="false"><library:element library:name="Mend"/></library:library>\n`,
  );
  await writeFile(
    path.join(folder, 'Mend.xba'),
    `${opening('script:module')}<script:module xmlns:script="http://openoffice.org/2000/script" script:name="Mend" script:language="StarBasic">${MACRO}</script:module>\n`,
  );
}

/** Opens, types as at the keyboard, sorts, copies, saves: what a person does, in LibreOffice's own language. */
const MACRO = `
Function Told(name, value)
  Dim one As New com.sun.star.beans.PropertyValue
  one.Name = name
  one.Value = value
  Told = one
End Function

Function Form(filter, options)
  Form = Array(Told("Hidden", True), Told("FilterName", filter), Told("FilterOptions", options))
End Function

Sub Sort(range, column, hasTitles)
  Dim fields(0) As New com.sun.star.table.TableSortField
  fields(0).Field = column
  fields(0).IsAscending = False
  range.sort(Array(Told("SortFields", fields()), Told("ContainsHeader", hasTitles)))
End Sub

Sub Apply(sheet, part)
  a = CLng(part(1))
  b = CLng(part(2))
  cursor = sheet.createCursor()
  cursor.gotoEndOfUsedArea(False)
  lastRow = cursor.RangeAddress.EndRow
  lastColumn = cursor.RangeAddress.EndColumn
  Select Case part(0)
  Case "type"
    sheet.getCellByPosition(a, b).FormulaLocal = part(3)
  Case "copy-row"
    sheet.copyRange(sheet.getCellByPosition(0, b).CellAddress, sheet.getCellRangeByPosition(0, a, lastColumn, a).RangeAddress)
  Case "delete-row"
    sheet.Rows.removeByIndex(a, 1)
  Case "hide-row"
    sheet.Rows.getByIndex(a).IsVisible = False
  Case "insert-column"
    sheet.Columns.insertByIndex(a, 1)
  Case "delete-column"
    sheet.Columns.removeByIndex(a, 1)
  Case "sort"
    Sort(sheet.getCellRangeByPosition(0, 0, lastColumn, lastRow), a, True)
  Case "sort-alone"
    Sort(sheet.getCellRangeByPosition(a, 1, a, lastRow), 0, False)
  Case "merge"
    For row = b + 1 To CLng(part(3))
      sheet.getCellByPosition(a, row).String = ""
    Next row
    sheet.getCellRangeByPosition(a, b, a, CLng(part(3))).merge(True)
  Case "fill-down"
    sheet.getCellRangeByPosition(a, b, a, CLng(part(3))).fillAuto(com.sun.star.sheet.FillDirection.TO_BOTTOM, 1)
  End Select
End Sub

Sub Main
  job = FreeFile
  Open Environ("MEND_JOB") For Input As #job
  Do While Not Eof(job)
    Line Input #job, source
    If source = "" Then Exit Do
    Line Input #job, readBy
    Line Input #job, readWith
    Line Input #job, target
    Line Input #job, writeBy
    Line Input #job, writeWith
    book = StarDesktop.loadComponentFromURL(source, "_blank", 0, Form(readBy, readWith))
    sheet = book.Sheets.getByIndex(0)
    Do While Not Eof(job)
      Line Input #job, typed
      If typed = "" Then Exit Do
      Apply(sheet, Split(typed, Chr(9)))
    Loop
    book.storeToURL(target, Form(writeBy, writeWith))
    book.close(True)
  Loop
  Close #job
End Sub
`;
