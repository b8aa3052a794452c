import { isUtf8, transcode } from 'node:buffer';
import { firstInvalidUtf8, unfinishedUtf8 } from './utf8.ts';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'iso-8859-1';

/** Bytes that are not the encoding; `byte` counts from the start of the content. */
export class EncodingFault extends Error {
  override readonly name = 'EncodingFault';
  readonly encoding: Encoding;
  readonly byte: number;

  constructor(encoding: Encoding, byte: number) {
    super(`byte ${byte} is not ${encoding}`);
    this.encoding = encoding;
    this.byte = byte;
  }
}

/** Turns content into UTF-8, chunk by chunk; what is not the encoding is thrown as EncodingFault, never replaced. */
export type Decoder = {
  write(chunk: Buffer): Buffer;
  end(): Buffer;
};

const MARKS: [encoding: Encoding, mark: Buffer][] = [
  ['utf-8', Buffer.from([0xef, 0xbb, 0xbf])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
];

/** The byte order mark at the beginning, if there is one. */
export function fingerprintOf(start: Buffer): { encoding: Encoding; bytes: number } | undefined {
  const found = MARKS.find(([, mark]) => start.subarray(0, mark.length).equals(mark));
  return found && { encoding: found[0], bytes: found[1].length };
}

/** UTF-16 without a mark shows by the zeros that every second byte of western text is. */
export function looksLikeUtf16(start: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const pairs = Math.floor(Math.min(start.length, 4096) / 2);
  let first = 0;
  let second = 0;
  for (let pair = 0; pair < pairs; pair++) {
    if (start[2 * pair] === 0) first += 1;
    if (start[2 * pair + 1] === 0) second += 1;
  }
  if (second > pairs / 2 && first < pairs / 8) return 'utf-16le';
  if (first > pairs / 2 && second < pairs / 8) return 'utf-16be';
  return undefined;
}

/** A decoder for content in `encoding`, whose first `skip` bytes are the byte order mark. */
export function createDecoder(encoding: Encoding, skip: number): Decoder {
  switch (encoding) {
    case 'utf-8':
      return utf8Decoder(skip);
    case 'utf-16le':
    case 'utf-16be':
      return utf16Decoder(encoding, skip);
    case 'windows-1252':
    case 'iso-8859-1':
      return byteDecoder(encoding);
  }
}

function utf8Decoder(skip: number): Decoder {
  let offset = 0;
  let rest = Buffer.alloc(0);
  return {
    write(chunk) {
      const own = offset === 0 && rest.length === 0 ? chunk.subarray(skip) : chunk;
      if (own !== chunk) offset = skip;
      const all = rest.length === 0 ? own : Buffer.concat([rest, own]);
      const whole = all.subarray(0, all.length - unfinishedUtf8(all));
      if (!isUtf8(whole)) throw new EncodingFault('utf-8', offset + firstInvalidUtf8(whole));
      offset += whole.length;
      rest = Buffer.from(all.subarray(whole.length));
      return whole;
    },
    end() {
      if (rest.length > 0) throw new EncodingFault('utf-8', offset);
      return rest;
    },
  };
}

const WINDOWS_UNDEFINED = /[\x81\x8d\x8f\x90\x9d]/;

function byteDecoder(encoding: 'windows-1252' | 'iso-8859-1'): Decoder {
  const windows = new TextDecoder('windows-1252');
  let offset = 0;
  return {
    write(chunk) {
      if (encoding === 'iso-8859-1') return transcode(chunk, 'latin1', 'utf8');
      const undefinedAt = chunk.toString('latin1').search(WINDOWS_UNDEFINED);
      if (undefinedAt >= 0) throw new EncodingFault(encoding, offset + undefinedAt);
      offset += chunk.length;
      return Buffer.from(windows.decode(chunk));
    },
    end: () => Buffer.alloc(0),
  };
}

function utf16Decoder(encoding: 'utf-16le' | 'utf-16be', skip: number): Decoder {
  let offset = 0;
  let rest = Buffer.alloc(0);
  return {
    write(chunk) {
      const own = offset === 0 && rest.length === 0 ? chunk.subarray(skip) : chunk;
      if (own !== chunk) offset = skip;
      const all = Buffer.concat([rest, own]);
      const whole = all.subarray(0, all.length - unfinishedUtf16(all, encoding));
      const text = textOf(whole, encoding);
      if (!text.isWellFormed()) throw new EncodingFault(encoding, offset + 2 * firstLoneSurrogate(text));
      offset += whole.length;
      rest = Buffer.from(all.subarray(whole.length));
      return Buffer.from(text);
    },
    end() {
      if (rest.length > 0) throw new EncodingFault(encoding, offset);
      return rest;
    },
  };
}

function textOf(bytes: Buffer, encoding: 'utf-16le' | 'utf-16be'): string {
  return (encoding === 'utf-16le' ? bytes : Buffer.from(bytes).swap16()).toString('utf16le');
}

/** Bytes at the end that are half a unit, or the first half of a surrogate pair. */
function unfinishedUtf16(bytes: Buffer, encoding: 'utf-16le' | 'utf-16be'): number {
  const odd = bytes.length % 2;
  if (bytes.length < 2 + odd) return odd;
  const at = bytes.length - odd - 2;
  const unit = encoding === 'utf-16le' ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);
  return unit >= 0xd800 && unit < 0xdc00 ? odd + 2 : odd;
}

function firstLoneSurrogate(text: string): number {
  return text.search(/(?<![\ud800-\udbff])[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])/);
}
