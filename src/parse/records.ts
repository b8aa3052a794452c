import { openRegularFile } from '../core/regular-file.ts';
import { readContent } from './decoder.ts';
import type { OpenFile, RecordPage } from './format.ts';
import { FORMATS } from './formats.ts';
import type { FormatName, Inspection, Reading } from './inspection.ts';

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
  yield* pagesOf({ handle, stamp, text, bytes: text, start: '', size: bytes, signal }, reading, mapping);
}

function pagesOf<Name extends FormatName>(file: OpenFile, reading: Reading<Name>, mapping: Inspection['mapping']) {
  return FORMATS[reading.format].read(file, reading, mapping);
}
