import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { makeTempFolder } from '../support/temp-folder.ts';
import { programOf } from './programs.ts';

const run = promisify(execFile);

/** What stands in the boxes of LibreOffice's dialogs for text files. */
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
  /** Where it is saved: in the same form, or as a workbook where the name ends in `.xlsx`. */
  save: string;
};

/** A person at LibreOffice Calc, in a profile of their own. */
export type Spreadsheet = AsyncDisposable & { edit(editing: Editing): Promise<void> };

/** The numbers by which LibreOffice's filter options name encodings (its `rtl_TextEncoding`). */
const CHARSETS = { 'windows-1252': 1, 'utf-8': 76, 'utf-16le': 65_535 } as const;

const TEXT = 'Text - txt - csv (StarCalc)';
const WORKBOOK = 'Calc MS Excel 2007 XML';

/** Opens LibreOffice for a person of this language and country; `de-DE` writes decimal commas. */
export async function openSpreadsheet(locale: 'en-US' | 'de-DE'): Promise<Spreadsheet> {
  const program = programOf('soffice');
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await makeTempFolder());
  const profile = path.join(folder, 'profile');
  const office = async (env: Record<string, string>, ...args: string[]) => {
    const flags = [`-env:UserInstallation=${pathToFileURL(profile).href}`, '--headless', '--norestore', ...args];
    await run(program, flags, { env: { ...process.env, ...env }, timeout: 60_000 });
  };
  await mkdir(path.join(profile, 'user'), { recursive: true });
  await writeFile(path.join(profile, 'user/registrymodifications.xcu'), settings(locale));
  // It makes the rest of its profile first, and would write over a macro that was there before.
  await office({}, '--terminate_after_init');
  await addMacro(path.join(profile, 'user/basic/Standard'));
  const kept = stack.move();
  return {
    async edit({ open, as, type, save }) {
      const isWorkbook = open.endsWith('.xlsx');
      const titles = await titlesOf(open.replace(/\.xlsx$/, '.csv'), as);
      const job = path.join(folder, 'job.txt');
      const lines = [
        pathToFileURL(open).href,
        ...(isWorkbook ? [WORKBOOK, ''] : [TEXT, readOptions(as)]),
        pathToFileURL(save).href,
        ...(save.endsWith('.xlsx') ? [WORKBOOK, ''] : [TEXT, writeOptions(as)]),
        ...type.map(({ column, row, text }) => `${columnOf(titles, column)}\t${row}\t${text}`),
      ];
      await writeFile(job, `${lines.join('\n')}\n`);
      await office({ MEND_JOB: job }, 'macro:///Standard.Mend.Main');
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
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

/** Opens, types as at the keyboard, saves: what a person does, in LibreOffice's own language. */
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

Sub Main
  job = FreeFile
  Open Environ("MEND_JOB") For Input As #job
  Line Input #job, source
  Line Input #job, readBy
  Line Input #job, readWith
  Line Input #job, target
  Line Input #job, writeBy
  Line Input #job, writeWith
  book = StarDesktop.loadComponentFromURL(source, "_blank", 0, Form(readBy, readWith))
  sheet = book.Sheets.getByIndex(0)
  Do While Not Eof(job)
    Line Input #job, typed
    part = Split(typed, Chr(9))
    sheet.getCellByPosition(CInt(part(0)), CInt(part(1))).FormulaLocal = part(2)
  Loop
  Close #job
  book.storeToURL(target, Form(writeBy, writeWith))
  book.close(True)
End Sub
`;
