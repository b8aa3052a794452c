import type { FileHandle } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import type { Mapping } from '../config/config.ts';
import { codeOf } from '../core/errors.ts';
import { openRegularFile } from '../core/regular-file.ts';

/** Bytes read from each end of a file. */
const EXAMINED = 64 * 1024;
/** Bytes that are read, or inflated, to find out whether JSON or a gzip file is complete; a larger one counts as complete. */
const MOST_READ = 2 ** 30;

/** How the program ends a table, by the mapping of the source. */
export type TableEnd = Partial<Pick<Mapping, 'finalNewline' | 'lastRow'>>;

/**
 * Why a file looks unfinished; undefined if it looks complete. Examines the beginning and the end, and JSON and gzip to
 * their end. The result decides how long to wait for the file, not whether the file is readable. Errors as
 * `openRegularFile`.
 */
export async function whyIncomplete(
  path: string,
  tableEnd: TableEnd = {},
  most = MOST_READ,
): Promise<string | undefined> {
  await using handle = await openRegularFile(path);
  return await examine(handle, tableEnd, most);
}

async function examine(
  handle: FileHandle,
  tableEnd: TableEnd,
  most: number,
): Promise<string | undefined> {
  const { size } = await handle.stat();
  if (size === 0) return 'it is empty';
  const start = await bytesAt(handle, 0, EXAMINED);
  if (start[0] === 0x1f && start[1] === 0x8b) return await endOfGzip(handle, most);
  if (start.subarray(0, 2).toString('latin1') === 'PK')
    return endOfZip(await bytesAt(handle, size - EXAMINED, size));
  const width = unitWidth(start);
  const end = await bytesAt(handle, Math.max(0, size - EXAMINED), size);
  if (end.length >= width && end.subarray(-width).every((byte) => byte === 0))
    return 'it ends in zeros';
  const [head, tail] = [textOf(start, width), textOf(end, width)];
  const isAll = size <= EXAMINED;
  if (/^\s*</.test(head)) return endOfXml(head, tail);
  if (!/^\s*[[{]/.test(head)) return endOfTable(head, tail, isAll, tableEnd);
  const ending = /^\s*\[/.test(head) ? /\]\s*$/ : /\}\s*$/;
  if (!ending.test(tail)) return 'its JSON does not end with the bracket that closes it';
  return width === 1 && size <= most && !(await isBalanced(handle))
    ? 'its JSON has brackets that are not closed'
    : undefined;
}

async function bytesAt(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const start = Math.max(0, from);
  const { buffer, bytesRead } = await handle.read(
    Buffer.alloc(Math.max(1, to - start)),
    0,
    to - start,
    start,
  );
  return buffer.subarray(0, bytesRead);
}

/** Bytes per character: two in UTF-16, recognized by a byte order mark or by zeros. */
function unitWidth(start: Buffer): 1 | 2 {
  const byteOrderMark = start.subarray(0, 2).toString('hex');
  return byteOrderMark === 'fffe' || byteOrderMark === 'feff' || start[0] === 0 || start[1] === 0
    ? 2
    : 1;
}

/** Decodes well enough to find delimiters, quotes and line ends, which are ASCII in every supported encoding. */
function textOf(bytes: Buffer, width: 1 | 2): string {
  const text = bytes.toString('latin1').replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '');
  return width === 1 ? text : text.replaceAll('\0', '');
}

function endOfZip(end: Buffer): string | undefined {
  return end.includes(Buffer.from('PK\x05\x06', 'latin1'))
    ? undefined
    : 'its zip archive is cut off';
}

/** The root may be followed by comments and processing instructions. */
function endOfXml(head: string, tail: string): string | undefined {
  const [, root = ''] = /<([^\s!?/>][^\s/>]*)/.exec(head) ?? [];
  let rest = tail.trimEnd();
  for (const [begin, end] of [...AFTER_ROOT, ...AFTER_ROOT]) {
    while (rest.endsWith(end) && rest.includes(begin))
      rest = rest.slice(0, rest.lastIndexOf(begin)).trimEnd();
  }
  const last = rest.slice(Math.max(0, rest.lastIndexOf('<')));
  const isClosed =
    last.replace(/\s/g, '') === `</${root}>` ||
    (last.startsWith(`<${root}`) && last.endsWith('/>'));
  return isClosed ? undefined : 'it does not end with the tag that closes it';
}

const AFTER_ROOT = [
  ['<!--', '-->'],
  ['<?', '?>'],
] as const;

const [QUOTE, BACKSLASH, ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [34, 92, 91, 93, 123, 125];

/** Whether all brackets outside of strings are closed. */
async function isBalanced(handle: FileHandle): Promise<boolean> {
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  for await (const chunk of handle.createReadStream({ start: 0, autoClose: false })) {
    for (const byte of chunk as Buffer) {
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = isInString;
      else if (byte === QUOTE) isInString = !isInString;
      else if (isInString) continue;
      else if (byte === OBJECT || byte === ARRAY) depth += 1;
      else if (byte === OBJECT_END || byte === ARRAY_END) depth -= 1;
    }
  }
  return depth <= 0 && !isInString;
}

/** Damage of another kind is no reason to wait. */
async function endOfGzip(handle: FileHandle, most: number): Promise<string | undefined> {
  const source = handle.createReadStream({ start: 0, autoClose: false });
  const gunzip = createGunzip();
  source.on('error', (error) => gunzip.destroy(error));
  let inflated = 0;
  try {
    for await (const chunk of source.pipe(gunzip)) {
      inflated += (chunk as Buffer).length;
      if (inflated > most) return undefined;
    }
    return undefined;
  } catch (error) {
    return codeOf(error) === 'Z_BUF_ERROR' ? 'its gzip data is cut off' : undefined;
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

/**
 * Where a line end is optional, a last row without one is complete if it is as wide as the header. `lastRow` says more than both.
 * A pattern beyond ASCII cannot be compared here.
 */
function endOfTable(
  head: string,
  tail: string,
  isAll: boolean,
  tableEnd: TableEnd,
): string | undefined {
  const quotes = tail.split('"').length - 1;
  if (isAll && quotes % 2 === 1) return 'a quote is not closed';
  const header = firstRow(head);
  const { lastRow } = tableEnd;
  if (lastRow !== undefined && /^[ -~]*$/.test(lastRow))
    return endsWith(tail, lastRow) ? undefined : 'its last row is not the one that lastRow names';
  const delimiter = [',', ';', '\t', '|'].reduce((a, b) =>
    count(header, b) > count(header, a) ? b : a,
  );
  if (/[\r\n]\u001a?$/.test(tail)) return undefined;
  const last = tail.slice(Math.max(tail.lastIndexOf('\n'), tail.lastIndexOf('\r')) + 1);
  if (count(last, delimiter) < count(header, delimiter))
    return 'its last row is shorter than its header';
  return tableEnd.finalNewline === 'optional' ? undefined : 'its last line has no line end';
}

/** Whether the last row that is not empty matches the pattern, with any delimiter. */
function endsWith(tail: string, lastRow: string): boolean {
  const text = tail.split(/[\r\n\u001a]+/).findLast((row) => /[^\s,;|"]/.test(row)) ?? '';
  const pattern = new RegExp(lastRow, 'u');
  return [',', ';', '\t', '|'].some((delimiter) => {
    const cells = text.replaceAll('"', '').split(delimiter);
    const values = cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
    return pattern.test(values.join(' '));
  });
}

function firstRow(head: string): string {
  const rows = head.split(/\r\n|\n|\r/);
  return rows.find((row) => row.trim() !== '' && !/^"?sep=/i.test(row)) ?? '';
}

/** Counts delimiters outside quotes. */
function count(row: string, delimiter: string): number {
  const outside = row.split('"').filter((_, index) => index % 2 === 0);
  return outside.join('').split(delimiter).length - 1;
}
