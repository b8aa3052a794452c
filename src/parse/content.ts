import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Stamp } from '../core/regular-file.ts';
import { readBytes } from './bytes.ts';
import { createDecoder, type DecoderOptions } from './decoder.ts';

export type ContentOptions = DecoderOptions & {
  gzip: boolean;
  hash?: Hash;
  signal?: AbortSignal | undefined;
};

/** The content of an open file as UTF-8 without byte order mark. Throws EncodingFault for bytes of another encoding. */
export async function* readContent(handle: FileHandle, stamp: Stamp, options: ContentOptions): AsyncGenerator<Buffer> {
  const decoder = createDecoder(options);
  for await (const chunk of readBytes(handle, stamp, options)) yield decoder.write(chunk);
  yield decoder.end();
}
