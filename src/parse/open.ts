import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { openRegularFile, type Stamp, stampOf } from '../core/regular-file.ts';
import { isGzip, readBytes, readStart } from './bytes.ts';
import { readCsv, readHead } from './csv/read-csv.ts';
import { createDecoder, decodeStart, EncodingFault, encodingOf, locateFault } from './decoder.ts';
import { refuseForeign } from './foreign.ts';
import { readJson, readNdjson } from './json/read-json.ts';
import { LIMITS } from './limits.ts';
import type { Declared, FormatName, RawRecord, Row, Summary } from './record.ts';
import type { Pass, Source } from './source.ts';
import { unreadable } from './unreadable.ts';
import { type OpenWorkbook, openWorkbook } from './xlsx/workbook.ts';
import { readXml } from './xml/read-xml.ts';

/** An open file, which is read as often as needed, one pass after the other, each from its beginning. */
export type OpenFile = AsyncDisposable & {
  readonly format: FormatName;
  readonly stamp: Stamp;
  /** The first 50 rows of a table of text under this delimiter; none of any other format. Cheap. */
  head(delimiter: string): Promise<readonly Row[]>;
  /**
   * A complete pass, page by page; a file that is cut is only known at its end. PoSyncError `unreadable-…`, or
   * `file-changed` as soon as the file is not what it was when it was opened.
   */
  records(options?: PassOptions): AsyncGenerator<readonly RawRecord[]>;
  /** What the last complete pass found out. */
  summary(): Summary;
};

export type PassOptions = { delimiter?: string; signal?: AbortSignal | undefined };

/** How the content is read, known from its beginning. */
type Content = {
  gzip: boolean;
  encoding: string;
  /** Bytes of the byte order mark. */
  mark: number;
  format: FormatName;
  start: string;
};

/**
 * Opens a file to read it as the mapping declares. PoSyncError `file-missing`, `not-a-file`, `file-not-readable`;
 * `unreadable-empty`, `unreadable-foreign`, `unreadable-incomplete` for what its beginning shows.
 */
export async function openFile(
  path: string,
  declared: Declared,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<OpenFile> {
  const handle = await openRegularFile(path);
  try {
    const stamp = await stampOf(handle);
    const content = await lookAt(handle, stamp, declared);
    return fileOf(handle, stamp, declared, content, signal);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function lookAt(handle: FileHandle, stamp: Stamp, declared: Declared): Promise<Content> {
  const gzip = await isGzip(handle);
  const bytes = await readStart(handle, stamp, gzip, LIMITS.head);
  if (bytes.length === 0) throw unreadable({ code: 'empty' });

  if (bytes.toString('latin1', 0, 4) === 'PK\x03\x04') {
    if (!gzip && (declared.format ?? 'xlsx') === 'xlsx')
      return { gzip, encoding: 'utf-8', mark: 0, format: 'xlsx', start: '' };
    throw unreadable({ code: 'foreign', kind: 'a workbook or another zip archive' });
  }

  const { encoding, mark } = encodingOf(bytes, declared.encoding);
  const start = decodeStart(bytes.subarray(mark), encoding);
  refuseForeign(bytes, start);
  if (!gzip && (await endsInZeros(handle, stamp))) {
    const lacks = 'the text in place of the zeros at its end';
    throw unreadable({ code: 'incomplete', of: 'text', lacks });
  }
  const format = declared.format ?? formatOf(start);
  if (format === 'xlsx') throw unreadable({ code: 'foreign', kind: 'no workbook (.xlsx)' });
  return { gzip, encoding, mark, format, start };
}

/** Whether the file is longer than what was written to it so far: its space was reserved. */
async function endsInZeros(handle: FileHandle, { size }: Stamp): Promise<boolean> {
  const { bytesRead, buffer } = await handle.read(
    Buffer.alloc(2),
    0,
    2,
    Math.max(0, Number(size) - 2),
  );
  return bytesRead === 2 && buffer.readUInt16LE() === 0;
}

/** The format of a text by how it begins. */
function formatOf(start: string): FormatName {
  const text = start.trimStart();
  if (text.startsWith('<')) return 'xml';
  if (text.startsWith('[')) return 'json';
  if (!text.startsWith('{')) return 'csv';
  // One object a line: the first line is one, and another follows.
  const [first = '', ...rest] = text.split('\n', 20);
  return isJson(first) && rest.some((line) => line.trim() !== '') ? 'ndjson' : 'json';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function fileOf(
  handle: FileHandle,
  stamp: Stamp,
  declared: Declared,
  content: Content,
  opened: AbortSignal | undefined,
): OpenFile {
  const { format, gzip, encoding, start } = content;
  const source: Source = {
    declared,
    start,
    content: (pass) => decodedContent(handle, stamp, content, pass),
  };
  let workbook: OpenWorkbook | undefined;
  let last: Summary | undefined;

  async function* sheetRows(pass: Pass): AsyncGenerator<readonly Row[]> {
    const { signal } = pass;
    workbook ??= await openWorkbook(handle, stamp, { sheet: declared.sheet, signal });
    pass.workbook = workbook.facts;
    // The rows are those of an earlier moment: the file must still be what it was then.
    for await (const _ of readBytes(handle, stamp, { ...pass, gzip }));
    for await (const page of workbook.pages()) {
      signal?.throwIfAborted();
      yield page;
    }
  }

  function pagesOf(pass: Pass, delimiter: string): AsyncGenerator<readonly RawRecord[]> {
    switch (format) {
      case 'csv':
        return readCsv(source, pass, delimiter);
      case 'json':
        return readJson(source, pass);
      case 'ndjson':
        return readNdjson(source, pass);
      case 'xml':
        return readXml(source, pass);
      case 'xlsx':
        return sheetRows(pass);
    }
  }

  return {
    format,
    stamp,
    head: async (delimiter) => (format === 'csv' ? await readHead(source, delimiter) : []),
    async *records({ delimiter = declared.delimiter ?? ',', signal = opened } = {}) {
      const hash = createHash('sha256');
      const pass: Pass = { hash, signal, isOpenEnded: false, beside: [] };
      for await (const page of pagesOf(pass, delimiter)) if (page.length > 0) yield page;
      const { isOpenEnded, beside, newline } = pass;
      last = {
        format,
        sha256: hash.digest('hex'),
        bytes: Number(stamp.size),
        encoding,
        gzip,
        isOpenEnded,
        beside,
        ...(newline && { newline }),
        ...(pass.workbook && { workbook: pass.workbook }),
      };
    },
    summary() {
      if (last === undefined) throw new Error('no pass over the file has ended');
      return last;
    },
    async [Symbol.asyncDispose]() {
      await workbook?.[Symbol.asyncDispose]();
      await handle.close();
    },
  };
}

/** The content as UTF-8 without byte order mark. */
async function* decodedContent(
  handle: FileHandle,
  stamp: Stamp,
  { gzip, encoding, mark }: Content,
  pass: Partial<Pass>,
): AsyncGenerator<Buffer> {
  const decoder = createDecoder(encoding, mark);
  let skip = mark;
  try {
    for await (const chunk of readBytes(handle, stamp, { ...pass, gzip })) {
      const text = decoder.write(chunk.subarray(skip));
      skip = Math.max(0, skip - chunk.length);
      if (text.length === 0) continue;
      yield text;
    }
    const rest = decoder.end();
    if (rest.length > 0) yield rest;
  } catch (error) {
    if (!(error instanceof EncodingFault)) throw error;
    const again = readBytes(handle, stamp, { gzip, signal: pass.signal });
    const { isEnd, ...place } = await locateFault(again, encoding, mark, error.byte);
    const { line, column } = place;
    if (!isEnd) throw unreadable({ code: 'encoding', encoding, ...place });
    throw unreadable({
      code: 'incomplete',
      of: 'character',
      lacks: 'the rest of a character',
      line,
      column,
    });
  }
}
