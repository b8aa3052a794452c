/** The text of one JSON value. `colons` counts its keys; `hasFraction`: a number in it may have a fraction or exponent. */
export type Piece = { text: string; colons: number; hasFraction: boolean };

const QUOTE = 34;
const BACKSLASH = 92;

/** What a byte outside of strings means for where a value ends; 0: nothing. `e` is a letter of `true`, too. */
const [OPEN, CLOSE, STRING, COLON, FRACTION, EXPONENT] = [1, 2, 3, 4, 5, 6];

const MEANING = meanings([
  ['{[', OPEN],
  ['}]', CLOSE],
  ['"', STRING],
  [':', COLON],
  ['.E', FRACTION],
  ['e', EXPONENT],
]);
const ENDS_LITERAL = meanings([[' \t\r\n,:[]{}"', 1]]);

function meanings(entries: [bytes: string, meaning: number][]): Uint8Array {
  const table = new Uint8Array(256);
  for (const [bytes, meaning] of entries)
    for (const byte of Buffer.from(bytes)) table[byte] = meaning;
  return table;
}

/** How a scan ended: the value continues in the next chunk, or nests too deep. */
export const CONTINUES = -1;
export const TOO_DEEP = -2;

/** Finds the end of one value after the other, over any number of chunks, without parsing it. */
export class PieceScanner {
  /** The value is a number or a word, which ends where something else begins. */
  isLiteral = false;
  #earlier: Buffer[] = [];
  #depth = 0;
  #mostDepth = 0;
  #colons = 0;
  #hasFraction = false;
  #isInString = false;
  #isEscaped = false;

  /** A value begins with the next byte that is scanned; it may nest `mostDepth` levels. */
  begin(isLiteral: boolean, mostDepth: number): void {
    this.isLiteral = isLiteral;
    this.#depth = 0;
    this.#mostDepth = mostDepth;
    this.#colons = 0;
    this.#hasFraction = isLiteral;
    this.#isInString = false;
    this.#isEscaped = false;
  }

  /** The index behind the value; CONTINUES or TOO_DEEP otherwise. */
  scan(chunk: Buffer, from: number): number {
    const end = this.isLiteral ? endOfLiteral(chunk, from) : this.#endOfNested(chunk, from);
    if (end !== CONTINUES) return end;
    this.#earlier.push(Buffer.from(chunk.subarray(from)));
    return end;
  }

  /** The value, whose last bytes are `from` to `to` of the chunk. */
  take(chunk: Buffer, from: number, to: number): Piece {
    const [colons, hasFraction] = [this.#colons, this.#hasFraction];
    if (this.#earlier.length === 0)
      return { text: chunk.toString('utf8', from, to), colons, hasFraction };
    const all = Buffer.concat([...this.#earlier, chunk.subarray(from, to)]);
    this.#earlier = [];
    return { text: all.toString('utf8'), colons, hasFraction };
  }

  /** A string, an object or an array: ends with the quote or the bracket that closes it. */
  #endOfNested(chunk: Buffer, from: number): number {
    let at = from;
    while (at < chunk.length) {
      if (this.#isInString) {
        at = this.#endOfString(chunk, at);
        if (this.#isInString) return CONTINUES;
        if (this.#depth === 0) return at;
        continue;
      }
      const meaning = MEANING[chunk[at] ?? 0];
      at += 1;
      if (meaning === 0) continue;
      if (meaning === STRING) this.#isInString = true;
      else if (meaning === COLON) this.#colons += 1;
      else if (meaning === OPEN) {
        this.#depth += 1;
        if (this.#depth > this.#mostDepth) return TOO_DEEP;
      } else if (meaning === CLOSE) {
        this.#depth -= 1;
        if (this.#depth === 0) return at;
      } else if (meaning === FRACTION || at < 2 || isDigit(chunk[at - 2])) this.#hasFraction = true;
    }
    return CONTINUES;
  }

  /** The index behind the quote that closes a string, or the chunk's end. */
  #endOfString(chunk: Buffer, from: number): number {
    let at = this.#isEscaped ? from + 1 : from;
    for (; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) {
        this.#isInString = false;
        this.#isEscaped = false;
        return at + 1;
      }
    }
    this.#isEscaped = at > chunk.length;
    return chunk.length;
  }
}

export const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Files that were joined begin with a byte order mark each. */
export function isByteOrderMark(chunk: Buffer, at: number): boolean {
  return (
    chunk[at] === BYTE_ORDER_MARK[0] &&
    chunk.subarray(at, at + BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
  );
}

function endOfLiteral(chunk: Buffer, from: number): number {
  for (let at = from; at < chunk.length; at++) if (ENDS_LITERAL[chunk[at] ?? 0] === 1) return at;
  return CONTINUES;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}
