import { PoSyncError } from '../../core/errors.ts';

/** One part of a form. Read its content to the end before asking for the next part. */
export type Part = { name: string; fileName: string | undefined; content: AsyncGenerator<Buffer> };

/** Bytes of the headers of a part. */
const MOST_HEADERS = 4 * 1024;
const HEADERS_END = Buffer.from('\r\n\r\n');

/**
 * Splits a `multipart/form-data` body (RFC 7578) into its parts while it arrives: a file is never in memory.
 * PoSyncError `body-not-multipart`.
 */
export async function* partsOf(
  body: AsyncIterable<Buffer>,
  boundary: string,
): AsyncGenerator<Part> {
  const reader = createReader(body);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  for await (const _preamble of reader.until(delimiter)) {
    // Anything before the first part is ignored.
  }
  for (;;) {
    const mark = await reader.take(2);
    if (mark === '--') return;
    if (mark !== '\r\n') throw broken();
    let headers = '';
    for await (const piece of reader.until(HEADERS_END)) {
      headers += piece.toString('utf8');
      if (headers.length > MOST_HEADERS) throw broken();
    }
    const content = reader.until(delimiter);
    yield { name: valueIn(headers, 'name') ?? '', fileName: valueIn(headers, 'filename'), content };
    // A caller that leaves content behind does not need it.
    for await (const _rest of content);
  }
}

/** The content type without its parameters, and the boundary of a form; undefined for anything else. */
export function boundaryIn(contentType: string | undefined): string | undefined {
  const found = /^multipart\/form-data;.*\bboundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/i.exec(
    contentType ?? '',
  );
  return found?.[1] ?? found?.[2];
}

function valueIn(headers: string, name: string): string | undefined {
  const line = /^content-disposition:(.*)$/im.exec(headers)?.[1] ?? '';
  const value = new RegExp(`[;\\s]${name}="([^"]*)"`, 'i').exec(line)?.[1];
  return value?.replaceAll('%22', '"').replaceAll('%0D', '').replaceAll('%0A', '');
}

function broken(): PoSyncError {
  return new PoSyncError('body-not-multipart', 'The body is not a complete form.', {
    remedy: 'Send the file again.',
  });
}

function createReader(body: AsyncIterable<Buffer>) {
  const chunks = body[Symbol.asyncIterator]();
  // The first delimiter has no line end before it.
  let buffer: Buffer = Buffer.from('\r\n');

  async function more(): Promise<void> {
    const { value, done } = await chunks.next();
    if (done === true) throw broken();
    buffer = Buffer.concat([buffer, value]);
  }

  /** The bytes before a mark; the mark is skipped. */
  async function* until(mark: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = buffer.indexOf(mark);
      // A mark may begin at the end of a chunk.
      const safe = at >= 0 ? at : Math.max(0, buffer.length - mark.length + 1);
      const piece = buffer.subarray(0, safe);
      buffer = buffer.subarray(at >= 0 ? at + mark.length : safe);
      if (piece.length > 0) yield piece;
      if (at >= 0) return;
      await more();
    }
  }

  async function take(bytes: number): Promise<string> {
    while (buffer.length < bytes) await more();
    const text = buffer.toString('latin1', 0, bytes);
    buffer = buffer.subarray(bytes);
    return text;
  }

  return { until, take };
}
