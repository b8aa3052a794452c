import type { Mapping } from '../config/config.ts';
import { openRegularFile } from '../core/regular-file.ts';
import { csvFormat } from './csv/csv-format.ts';
import { readContent } from './decoder.ts';
import type { Format, OpenFile, RecordPage } from './format.ts';
import type { FormatName, Inspection, Reading } from './inspection.ts';
import { jsonFormat } from './json/json-format.ts';
import { unreadable } from './unreadable.ts';
import { xlsxFormat } from './xlsx/xlsx-format.ts';
import { xmlFormat } from './xml/xml-format.ts';

/** Every file format, in the order in which a file is compared with them. The last one takes what is left. */
export const FORMATS: { readonly [Name in FormatName]: Format<Name> } = {
  xlsx: xlsxFormat,
  xml: xmlFormat,
  json: jsonFormat,
  csv: csvFormat,
};

const NAMES = ['xlsx', 'xml', 'json', 'csv'] as const satisfies readonly FormatName[];

/** The format that the mapping names, or that a file with this beginning has. */
export function formatOf(start: string, { format }: Mapping): FormatName {
  const found = NAMES.find((name) => FORMATS[name].sniff(start)) ?? 'csv';
  if (format === 'auto') return found;
  const named = format === 'ndjson' ? 'json' : format;
  const isOther = found !== named && (found === 'xlsx' || named === 'xlsx');
  if (!isOther) return named;
  const remedy = named === 'xlsx' ? 'Drop an .xlsx workbook' : 'Save it as CSV (UTF-8)';
  const message =
    found === 'xlsx'
      ? `The file is an Excel workbook or another zip archive, but the mapping sets format: ${format}.`
      : 'The file is not an Excel workbook.';
  throw unreadable(
    'format',
    message,
    { line: 1 },
    `${remedy}. For your operator: or set format: ${found} in the mapping.`,
  );
}

/**
 * The second pass: the records of an inspected file with their places, page by page, in the file's order.
 * PoSyncError `file-changed` when the file changed since it was inspected.
 */
export async function* readRecords(
  path: string,
  { stamp, bytes, reading, mapping }: Inspection,
  signal: AbortSignal | undefined,
): AsyncGenerator<RecordPage> {
  await using handle = await openRegularFile(path);
  const text = () => readContent(handle, stamp, { ...reading, signal });
  yield* pagesOf(
    { handle, stamp, text, bytes: text, start: '', size: bytes, signal },
    reading,
    mapping,
  );
}

function pagesOf<Name extends FormatName>(
  file: OpenFile,
  reading: Reading<Name>,
  mapping: Inspection['mapping'],
) {
  return FORMATS[reading.format].read(file, reading, mapping);
}
