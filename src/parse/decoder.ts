import { isUtf8 } from 'node:buffer';
import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Stamp } from '../core/regular-file.ts';
import { readBytes } from './bytes.ts';
import { createMultiByteDecoder, createSingleByteDecoder, isMultiByte } from './code-pages.ts';
import { type Encoding, EncodingFault, firstInvalidUtf8, unfinishedUtf8 } from './encoding.ts';

/** Turns content into UTF-8, chunk by chunk; throws EncodingFault for bytes of another encoding. */
export type Decoder = {
  write(chunk: Buffer): Buffer;
  end(): Buffer;
};

type DecoderOptions = {
  encoding: Encoding;
  /** Bytes of the byte order mark, which are skipped. */
  mark: number;
  /** The encoding is only a guess: every byte becomes a character, and can be recovered from it. */
  isGuess: boolean;
};

/** A decoder for the content of one file. */
function createDecoder({ encoding, mark, isGuess }: DecoderOptions): Decoder {
  if (encoding === 'utf-8') return utf8Decoder(mark);
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return utf16Decoder(encoding, mark);
  return isMultiByte(encoding)
    ? createMultiByteDecoder(encoding)
    : createSingleByteDecoder(encoding, isGuess);
}

function utf8Decoder(skip: number): Decoder {
  let offset = 0;
  let rest = Buffer.alloc(0);
  return {
    write(chunk) {
      const own = offset === 0 && rest.length === 0 ? chunk.subarray(skip) : chunk;
      if (own !== chunk) offset = skip;
      const all = rest.length === 0 ? own : Buffer.concat([rest, own]);
      const complete = all.subarray(0, all.length - unfinishedUtf8(all));
      if (!isUtf8(complete)) throw new EncodingFault('utf-8', offset + firstInvalidUtf8(complete));
      offset += complete.length;
      rest = Buffer.from(all.subarray(complete.length));
      return complete;
    },
    end() {
      if (rest.length > 0) throw new EncodingFault('utf-8', offset);
      return rest;
    },
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
      const complete = all.subarray(0, all.length - unfinishedUtf16(all, encoding));
      const text = textOf(complete, encoding);
      if (!text.isWellFormed())
        throw new EncodingFault(encoding, offset + 2 * firstLoneSurrogate(text));
      offset += complete.length;
      rest = Buffer.from(all.subarray(complete.length));
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

type ContentOptions = DecoderOptions & {
  gzip: boolean;
  hash?: Hash;
  signal?: AbortSignal | undefined;
};

/** The content of an open file as UTF-8 without byte order mark. Throws EncodingFault for bytes of another encoding. */
export async function* readContent(
  handle: FileHandle,
  stamp: Stamp,
  options: ContentOptions,
): AsyncGenerator<Buffer> {
  const decoder = createDecoder(options);
  for await (const chunk of readBytes(handle, stamp, options)) yield decoder.write(chunk);
  yield decoder.end();
}
