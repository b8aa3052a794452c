import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { makeTempFolder } from '../support/temp-folder.ts';
import { programOf } from './programs.ts';

const run = promisify(execFile);

/** What a person types into a cell; rows and columns are counted from 0, row 0 has the titles. */
export type Typed = { column: number; row: number; text: string };

/** A person at LibreOffice Calc, in a separate profile. */
type Spreadsheet = AsyncDisposable & {
  /** Opens a workbook, types, and saves it under another name. */
  edit(file: { open: string; type: readonly Typed[]; save: string }): Promise<void>;
};

/** Opens LibreOffice for a person of this language and country; `de-DE` writes decimal commas. */
export async function openSpreadsheet(locale: 'en-US' | 'de-DE'): Promise<Spreadsheet> {
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
  return {
    async edit({ open, type, save }) {
      const job = path.join(folder, 'job.txt');
      const typed = type.map(({ column, row, text }) => `${column}\t${row}\t${text}`);
      const places = [open, save].map((file) => pathToFileURL(file).href);
      await writeFile(job, [...places, ...typed, ''].join('\n'));
      await office({ MEND_JOB: job }, 'macro:///Standard.Mend.Main');
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
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

Sub Main
  job = FreeFile
  Open Environ("MEND_JOB") For Input As #job
  Line Input #job, source
  Line Input #job, target
  form = Array(Told("Hidden", True), Told("FilterName", "Calc MS Excel 2007 XML"))
  book = StarDesktop.loadComponentFromURL(source, "_blank", 0, form)
  Do While Not Eof(job)
    Line Input #job, typed
    part = Split(typed, Chr(9))
    If UBound(part) = 2 Then book.Sheets.getByIndex(0).getCellByPosition(CLng(part(0)), CLng(part(1))).FormulaLocal = part(2)
  Loop
  book.storeToURL(target, form)
  book.close(True)
  Close #job
End Sub
`;
