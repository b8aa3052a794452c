/** 1-based; the column counts bytes of UTF-8. */
export type JsonPlace = { line: number; column: number };

/** Where a text begins within a file. */
export type Origin = { place: JsonPlace; pointer: string };

/** Counts lines up to bytes that come in rising order; a chunk without line ends costs one search. */
export type LineCount = {
  /** The next chunk of the content, which begins at byte `start`. */
  add(chunk: Buffer, start: number): void;
  /** The place of a byte at or after the last one asked for. */
  placeOf(byte: number): JsonPlace;
};

const LF = 10;

/** Counts from the place where the content begins. */
export function createLineCount(begin: JsonPlace): LineCount {
  let { line } = begin;
  let lineStart = 1 - begin.column;
  let chunk: Buffer = Buffer.alloc(0);
  let chunkStart = 0;
  let next = -1;

  function passTo(byte: number): void {
    while (next >= 0 && chunkStart + next < byte) {
      line += 1;
      lineStart = chunkStart + next + 1;
      next = chunk.indexOf(LF, next + 1);
    }
  }

  return {
    add(following, start) {
      passTo(Number.POSITIVE_INFINITY);
      chunk = following;
      chunkStart = start;
      next = chunk.indexOf(LF);
    },
    placeOf(byte) {
      if (next >= 0) passTo(byte);
      return { line, column: byte - lineStart + 1 };
    },
  };
}
