import { Tokenizer, TokenType } from '@streamparser/json';
import { PoSyncError, toError } from '../../core/errors.ts';
import { LIMITS } from '../../order/limits.ts';
import { jsonNumber, type RawNumber } from '../../order/quantity.ts';
import { shorten } from '../../order/text.ts';
import { unreadable } from '../unreadable.ts';

/** One JSON token; numbers keep their source text. `byte` counts from the start of the UTF-8 content. */
export type JsonToken =
  | { kind: '{' | '}' | '[' | ']' | ':' | ','; byte: number }
  | { kind: 'value'; byte: number; value: string | boolean | null | number | RawNumber };

export type JsonTokens = {
  /** The next complete characters of the content. */
  write(chunk: Buffer): void;
  /** PoSyncError `unreadable-json` when the content ends within a token. */
  end(): void;
  /** Line and column (in bytes), 1-based, of a byte at or after the last token. */
  placeOf(byte: number): { line: number; column: number };
  lineOf(byte: number): number;
};

/**
 * Splits UTF-8 into JSON tokens (RFC 8259) and hands each to `onToken`. PoSyncError `unreadable-json` for what is
 * none, `unreadable-too-large` for a token beyond the limit of a record.
 */
export function createJsonTokens(onToken: (token: JsonToken) => void): JsonTokens {
  const tokenizer = new SourceTokenizer();
  const lines = openLineCount();
  let lastToken = 0;
  let written = 0;
  tokenizer.onToken = ({ token, value, offset }) => {
    lastToken = offset;
    onToken(toToken(token, token === TokenType.NUMBER ? jsonNumber(tokenizer.source) : value, offset));
  };
  // Its default rethrows inside; write and end below report the error once.
  tokenizer.onError = (error) => {
    throw error;
  };

  function asUnreadable(thrown: unknown): unknown {
    if (thrown instanceof PoSyncError) return thrown;
    const { message } = toError(thrown);
    const [, byte] = /absolute position "(\d+)"/.exec(message) ?? [];
    if (byte === undefined) return endsWithin(lines.placeOf(lastToken));
    const place = lines.placeOf(Number(byte));
    const [, found = ''] = /^Unexpected "(.*?)" at chunk/su.exec(message) ?? [];
    const text = `Line ${place.line}, column ${place.column}: ${JSON.stringify(shorten(found, 20))} is not expected there.`;
    return unreadable('json', text, place);
  }

  return {
    write(chunk) {
      lines.add(chunk, written);
      written += chunk.length;
      try {
        tokenizer.write(chunk);
      } catch (error) {
        throw asUnreadable(error);
      }
      if (written - lastToken > LIMITS.recordBytes + chunk.length) throw tooLarge(lines.placeOf(lastToken).line);
    },
    end() {
      try {
        tokenizer.end();
      } catch (error) {
        throw asUnreadable(error);
      }
    },
    placeOf: (byte) => lines.placeOf(byte),
    lineOf: (byte) => lines.lineOf(byte),
  };
}

/** A record, or a single text, beyond the limit. */
export function tooLarge(line: number): PoSyncError {
  const message = `What begins on line ${line} is longer than ${LIMITS.recordBytes} bytes.`;
  return unreadable('too-large', message, { line, limit: LIMITS.recordBytes });
}

function endsWithin(place: { line: number; column: number }): PoSyncError {
  const message = `The file ends in the middle of what begins on line ${place.line}, column ${place.column}.`;
  return unreadable('json', message, place, 'Drop the complete file again.');
}

class SourceTokenizer extends Tokenizer {
  /** Text of the number whose token comes next. */
  source = '';

  constructor() {
    super();
    // Its own decoder takes U+FEFF at the beginning of a text for a byte order mark and drops it.
    const text: unknown = Reflect.get(this, 'bufferedString');
    if (!(text instanceof Object) || !Reflect.has(text, 'decoder')) throw new Error('unknown tokenizer');
    Reflect.set(text, 'decoder', new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }));
  }

  protected override parseNumber(text: string): number {
    this.source = text;
    return 0;
  }
}

type Punctuation = Exclude<JsonToken['kind'], 'value'>;

const PUNCTUATION: Partial<Record<TokenType, Punctuation>> = {
  [TokenType.LEFT_BRACE]: '{',
  [TokenType.RIGHT_BRACE]: '}',
  [TokenType.LEFT_BRACKET]: '[',
  [TokenType.RIGHT_BRACKET]: ']',
  [TokenType.COLON]: ':',
  [TokenType.COMMA]: ',',
};

function toToken(token: TokenType, value: string | boolean | null | number | RawNumber, byte: number): JsonToken {
  const kind = PUNCTUATION[token];
  return kind === undefined ? { kind: 'value', byte, value } : { kind, byte };
}

/** Counts lines up to bytes that come in rising order; a chunk without line ends costs one search. */
function openLineCount() {
  let line = 1;
  let lineStart = 0;
  let chunk: Buffer = Buffer.alloc(0);
  let chunkStart = 0;
  let next = -1;

  function passTo(byte: number): void {
    while (next >= 0 && chunkStart + next < byte) {
      line += 1;
      lineStart = chunkStart + next + 1;
      next = chunk.indexOf(10, next + 1);
    }
  }

  return {
    add(following: Buffer, start: number): void {
      passTo(Number.POSITIVE_INFINITY);
      chunk = following;
      chunkStart = start;
      next = chunk.indexOf(10);
    },
    placeOf(byte: number): { line: number; column: number } {
      passTo(byte);
      return { line, column: Math.max(1, byte - lineStart + 1) };
    },
    lineOf(byte: number): number {
      if (next >= 0) passTo(byte);
      return line;
    },
  };
}
