import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';

/** Turns content into UTF-8, chunk by chunk, never within a character; throws EncodingFault for other bytes. */
export type Decoder = { write(chunk: Buffer): Buffer; end(): Buffer };

/** A piece of content that is not the encoding; `byte` is where the piece begins, at most a few before the fault. */
export class EncodingFault extends Error {
  override readonly name = 'EncodingFault';
  readonly byte: number;

  constructor(byte: number) {
    super(`after byte ${byte}`);
    this.byte = byte;
  }
}

const MARKS: readonly [encoding: string, mark: Buffer][] = [
  ['utf-8', Buffer.from([0xef, 0xbb, 0xbf])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
];

/** The encoding of content: what its byte order mark says, else what is declared, else UTF-8. `mark`: bytes to skip. */
export function encodingOf(
  start: Buffer,
  declared: string | undefined,
): { encoding: string; mark: number } {
  const found = MARKS.find(([, mark]) => start.subarray(0, mark.length).equals(mark));
  if (found) return { encoding: found[0], mark: found[1].length };
  return { encoding: declared ?? 'utf-8', mark: 0 };
}

/** A decoder for content without its byte order mark, which begins at byte `start`. */
export function createDecoder(encoding: string, start: number): Decoder {
  if (encoding === 'utf-8') return utf8Decoder(start);
  return isDos(encoding) ? dosDecoder(encoding) : textDecoder(encoding, start);
}

/** The code pages of DOS, which TextDecoder lacks. */
function isDos(encoding: string): boolean {
  return encoding.startsWith('cp');
}

/** Every byte has a character. */
function dosDecoder(encoding: string): Decoder {
  const write = (chunk: Buffer) => Buffer.from(iconv.decode(chunk, encoding));
  return { write, end: () => Buffer.alloc(0) };
}

/** UTF-8 stays as it is. */
function utf8Decoder(start: number): Decoder {
  let offset = start;
  let rest = Buffer.alloc(0);
  return {
    write(chunk) {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const complete = all.subarray(0, all.length - unfinished(all));
      if (!isUtf8(complete)) throw new EncodingFault(offset);
      offset += complete.length;
      rest = Buffer.from(all.subarray(complete.length));
      return complete;
    },
    end() {
      if (rest.length > 0) throw new EncodingFault(offset);
      return rest;
    },
  };
}

/** How many bytes at the end begin an incomplete character (0 to 3). */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (byte >= 0xc0) return length > back ? back : 0;
  }
  return 0;
}

function textDecoder(encoding: string, start: number): Decoder {
  const decoder = strict(encoding);
  let offset = start;
  const decode = (chunk?: Buffer) => {
    try {
      return Buffer.from(decoder.decode(chunk, { stream: chunk !== undefined }));
    } catch {
      throw new EncodingFault(offset);
    } finally {
      offset += chunk?.length ?? 0;
    }
  };
  return { write: decode, end: () => decode() };
}

function strict(encoding: string) {
  return new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
}

/** The beginning of content as text, wherever it is cut. */
export function decodeStart(bytes: Buffer, encoding: string): string {
  if (isDos(encoding)) return iconv.decode(bytes, encoding);
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes, { stream: true });
}

/**
 * The exact place of a fault: decodes content again up to the piece with it, and that one byte by byte. `lacks`: the
 * content just ends within a character.
 */
export async function locateFault(
  content: AsyncIterable<Buffer>,
  encoding: string,
  mark: number,
  piece: number,
): Promise<{ line: number; column: number; byte: number; isEnd: boolean }> {
  const decoder = strict(encoding);
  const place = { line: 1, column: 1, byte: mark, isEnd: false };
  let offset = 0;

  /** Whether these bytes, the next ones, are right. */
  function pass(bytes: Buffer): boolean {
    try {
      const text = decoder.decode(bytes, { stream: true });
      offset += bytes.length;
      if (text === '') return true;
      const lines = text.split('\n');
      place.line += lines.length - 1;
      const last = Array.from(lines.at(-1) ?? '').length;
      place.column = lines.length > 1 ? last + 1 : place.column + last;
      place.byte = offset;
      return true;
    } catch {
      return false;
    }
  }

  for await (const chunk of content) {
    const skipped = Math.max(0, Math.min(chunk.length, mark - offset));
    offset += skipped;
    const whole = Math.max(skipped, Math.min(chunk.length, piece - offset + skipped));
    if (whole > skipped) pass(chunk.subarray(skipped, whole));
    for (let at = whole; at < chunk.length; at++)
      if (!pass(chunk.subarray(at, at + 1))) return place;
  }
  return { ...place, isEnd: true };
}
