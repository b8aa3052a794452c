import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { LIMITS } from '../../order/limits.ts';
import type { FileFormat } from '../../order/record.ts';
import { type Draft, openDraft } from '../draft.ts';
import { fixEncodingOf } from '../encode.ts';
import { readText, splitCells, splitLines } from '../lines.ts';
import { FIX_WORKBOOK } from './fix-file.ts';
import { fixedParts, rowXml, SHEET_END, SHEET_PART, sheetStart } from './workbook-xml.ts';

/** What Excel can open: rows of a sheet, characters of a cell. */
const MOST_ROWS = 1_048_576;
const LONGEST_CELL = 32_767;

/** All entries have the same time, so equal rows give equal bytes. */
const MODIFIED = new Date('2000-01-01T00:00:00Z');

/** A CSV fix file that is on the disk, and the format of its input. */
type FixTable = { path: string; format: FileFormat };

/**
 * Writes the rows of a CSV fix file as a workbook whose cells are all text, so that a spreadsheet changes none of them.
 * Returns the sealed draft, or undefined when Excel or po-sync could not read so large a workbook.
 * Throws `report-not-written`.
 */
export async function openFixWorkbook(folder: string, csv: FixTable): Promise<Draft | undefined> {
  const draft = await openDraft(join(folder, FIX_WORKBOOK));
  const size = { rows: 0, bytes: 0, isTooLarge: false };
  const zip = new ZipFile();
  for (const { name, xml } of fixedParts()) zip.addBuffer(Buffer.from(xml), name, { mtime: MODIFIED });
  const sheet = Readable.from(sheetXml(csv, size), { objectMode: false });
  zip.addReadStream(sheet, SHEET_PART, { mtime: MODIFIED });
  zip.end();
  try {
    await Promise.race([writeAll(zip.outputStream, draft), failureOf(zip, sheet)]);
    await draft.seal();
  } catch (error) {
    await draft[Symbol.asyncDispose]();
    if (size.isTooLarge) return undefined;
    throw error;
  }
  return draft;
}

/** Rejects when the rows cannot be read; yazl does not end its output then. */
function failureOf(zip: ZipFile, sheet: Readable): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  sheet.once('error', reject);
  zip.once('error', reject);
  return promise;
}

async function writeAll(chunks: NodeJS.ReadableStream, draft: Draft): Promise<void> {
  for await (const chunk of chunks) await draft.write(chunk as Buffer);
}

type Size = { rows: number; bytes: number; isTooLarge: boolean };

/** The sheet piece by piece. Ends with an error when it gets too large, with `isTooLarge` set. */
async function* sheetXml({ path, format }: FixTable, size: Size): AsyncGenerator<string> {
  const delimiter = format.type === 'xlsx' ? ',' : (format.delimiter ?? ',');
  for await (const line of splitLines(readText(path, fixEncodingOf(format).encoding), true)) {
    const cells = splitCells(size.rows === 0 ? line.replace(/^\ufeff/, '') : line, delimiter);
    const xml = size.rows === 0 ? sheetStart(cells) : rowXml(cells, size.rows + 1);
    size.rows += 1;
    size.bytes += Buffer.byteLength(xml);
    size.isTooLarge ||= size.rows > MOST_ROWS || size.bytes > LIMITS.workbookInflatedBytes;
    size.isTooLarge ||= cells.some((cell) => cell.length > LONGEST_CELL);
    if (size.isTooLarge) throw new Error('too large for a workbook');
    yield xml;
  }
  yield SHEET_END;
}
