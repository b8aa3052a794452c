import type { ENCODINGS } from '../config/mapping-schema.ts';

export type Encoding = (typeof ENCODINGS)[number];

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

const MARKS: [encoding: Encoding, mark: Buffer][] = [
  ['utf-8', Buffer.from([0xef, 0xbb, 0xbf])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
];

/** The byte order mark at the beginning, if there is one. */
export function byteOrderMarkOf(start: Buffer): { encoding: Encoding; bytes: number } | undefined {
  const found = MARKS.find(([, mark]) => start.subarray(0, mark.length).equals(mark));
  return found && { encoding: found[0], bytes: found[1].length };
}

/** Recognizes UTF-16 without a mark by the zero in every second byte of western text. */
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
