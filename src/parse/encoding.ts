import { isAscii } from 'node:buffer';
import { ENCODINGS } from '../config/mapping-schema.ts';

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

/** The encoding with this name, or one of its usual other names; undefined when it is not supported. */
export function encodingNamed(name: string): Encoding | undefined {
  const plain = name.trim().toLowerCase();
  if (plain === 'us-ascii' || plain === 'ascii') return 'utf-8';
  const dos = /^(?:ibm|cp|dos)-?(437|850|852|858)$/.exec(plain)?.[1];
  const exact = dos === undefined ? plain : `cp${dos}`;
  return (
    ENCODINGS.find((one) => one === exact) ?? ENCODINGS.find((one) => one === standardName(plain))
  );
}

/** The name in the WHATWG Encoding Standard. */
function standardName(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
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

/** How many bytes at the end begin an incomplete character (0 to 3). */
export function unfinishedUtf8(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return lengthOf(byte) > back ? back : 0;
  }
  return 0;
}

/** The index of the first byte that is not UTF-8; the length if all are. */
export function firstInvalidUtf8(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const length = validAt(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return at;
}

/** Whether any character beyond ASCII is valid UTF-8. */
export function hasUtf8Letters(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; ) {
    const length = validAt(bytes, at);
    if (length > 1) return true;
    at += Math.max(length, 1);
  }
  return false;
}

/** What proves that content is UTF-8: three letters beyond ASCII, or one of more than two bytes. */
export type Utf8Evidence = {
  /** Looks at a piece of valid UTF-8 that does not end within a character. */
  look(piece: Buffer): void;
  /** The letters found and the value with the first one, if they prove little: two bytes can be another encoding. */
  weak(): { letters: number; value: Buffer } | undefined;
};

const PROOF = 3;

export function watchUtf8(): Utf8Evidence {
  let letters = 0;
  let first: Buffer | undefined;
  return {
    look(piece) {
      if (letters >= PROOF || isAscii(piece)) return;
      for (let at = 0; at < piece.length && letters < PROOF; ) {
        const length = Math.max(1, validAt(piece, at));
        if (length > 1) {
          first ??= Buffer.from(valueAround(piece, at));
          letters = length > 2 ? PROOF : letters + 1;
        }
        at += length;
      }
    },
    weak: () => (first === undefined || letters >= PROOF ? undefined : { letters, value: first }),
  };
}

const BOUNDARIES = new Set(Buffer.from('\r\n\t,;|"'));
const LONGEST_VALUE = 40;

/** The bytes of the value that contains the byte at `at`, in a table of any common delimiter. */
export function valueAround(bytes: Buffer, at: number): Buffer {
  let [from, to] = [at, at + 1];
  while (from > 0 && at - from < LONGEST_VALUE && !BOUNDARIES.has(bytes[from - 1] ?? 0)) from -= 1;
  while (to < bytes.length && to - at < LONGEST_VALUE && !BOUNDARIES.has(bytes[to] ?? 0)) to += 1;
  return bytes.subarray(from, to);
}

/** Bytes of the character at `at`, 0 when there is none (Unicode 15, table 3-7). */
function validAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = lengthOf(first);
  const second = bytes[at + 1] ?? 0;
  if (length === 1 || second < lowestSecond(first) || second > highestSecond(first)) return 0;
  for (let i = 2; i < length; i++) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}

function lengthOf(first: number): number {
  if (first < 0xc2 || first > 0xf4) return 1;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

function lowestSecond(first: number): number {
  return first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
}

function highestSecond(first: number): number {
  return first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
}
