import type { FileFormat } from '../order/record.ts';
import type { Draft } from './draft.ts';
import { type Encoder, encoderFor } from './encode.ts';
import { readText } from './read-text.ts';
import { splitLines } from './split-lines.ts';

/** A fix file on its way to a smaller one; tell it every order it holds, in sequence. */
export type Thinning = {
  /** The next order has so many records; they stay, or go. */
  order(records: number, stays: boolean): Promise<void>;
  /** Whether the file held exactly these orders; if not, the draft is not to be used. */
  finish(): Promise<boolean>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Copies a fix file that we wrote into a draft without the orders that were settled since. It needs nothing of the
 * input: a row ends where a line ends outside of quotes, a JSON record is one line.
 */
export async function openThinning(path: string, format: FileFormat, draft: Draft): Promise<Thinning> {
  const encoding = format.type === 'xlsx' ? 'utf-8' : (format.encoding ?? 'utf-8');
  const isTable = format.type === 'csv' || format.type === 'xlsx';
  const lines = splitLines(readText(path, encoding), isTable);
  const frame = format.type === 'json' ? arrayFrame() : plainFrame();
  const write = writer(draft, encoderFor(encoding));
  let isWhole = true;
  let held = await next();

  async function next(): Promise<string | undefined> {
    const { value, done } = await lines.next();
    return done === true ? undefined : value;
  }

  async function take(): Promise<string | undefined> {
    const record = held === undefined ? undefined : frame.recordOf(held);
    if (record !== undefined) held = await next();
    return record;
  }

  if (held?.startsWith('\ufeff')) {
    await write('\ufeff');
    held = held.slice(1);
  }
  if (held !== undefined && format.type !== 'ndjson') {
    await write(frame.opening(held));
    held = await next();
  }

  return {
    async order(records, stays) {
      for (let index = 0; index < records; index += 1) {
        const record = await take();
        if (record === undefined) isWhole = false;
        else if (stays) await write(frame.framed(record));
      }
    },
    async finish() {
      const isAtEnd = (await take()) === undefined;
      await write(frame.closing());
      return isWhole && isAtEnd;
    },
    [Symbol.asyncDispose]: async () => void (await lines.return(undefined)),
  };
}

type Frame = {
  opening(line: string): string;
  /** The record of a line; undefined when there is none in it. */
  recordOf(line: string): string | undefined;
  framed(record: string): string;
  closing(): string;
};

/** Rows and NDJSON: a record is its line. The first line of a table is its header. */
function plainFrame(): Frame {
  return { opening: (line) => line, recordOf: (line) => line, framed: (record) => record, closing: () => '' };
}

/** An array with each record on a line of its own, between brackets. */
function arrayFrame(): Frame {
  let newline = '\n';
  let isFirst = true;
  return {
    opening(line) {
      newline = line.slice(1);
      return '[';
    },
    recordOf: (line) => (line.startsWith('{') ? line.replace(/,?[\r\n]*$/, '') : undefined),
    framed(record) {
      const separator = isFirst ? newline : `,${newline}`;
      isFirst = false;
      return separator + record;
    },
    closing: () => `${newline}]${newline}`,
  };
}

function writer(draft: Draft, encode: Encoder): (text: string) => Promise<void> {
  return (text) => draft.write(encode(text));
}
