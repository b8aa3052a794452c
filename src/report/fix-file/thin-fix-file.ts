import type { FileFormat } from '../../order/record.ts';
import type { Draft } from '../draft.ts';
import { type Encoder, encoderFor, fixEncodingOf } from '../encode.ts';
import { readText, splitLines } from '../lines.ts';

/** Copies a fix file order by order; expects every order of the file, in sequence. */
export type Thinning = {
  /** Copies or skips the records of the next order. */
  order(records: number, stays: boolean): Promise<void>;
  /** Whether the file had exactly these orders. If not, do not use the draft. */
  finish(): Promise<boolean>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Copies a fix file of ours into a draft, without the orders that were settled since. It does not need the input: a row
 * ends where a line ends outside of quotes, and a JSON record is one line.
 */
export async function openThinning(
  path: string,
  format: FileFormat,
  draft: Draft,
): Promise<Thinning> {
  const { encoding } = fixEncodingOf(format);
  const isTable = format.type === 'csv' || format.type === 'xlsx';
  const lines = splitLines(readText(path, encoding), isTable);
  const frame = format.type === 'json' || format.type === 'xml' ? arrayFrame() : plainFrame();
  const write = writer(draft, encoderFor(encoding));
  let isComplete = true;
  let pending = await next();

  async function next(): Promise<string | undefined> {
    const { value, done } = await lines.next();
    return done === true ? undefined : value;
  }

  async function take(): Promise<string | undefined> {
    const record = pending === undefined ? undefined : frame.recordOf(pending);
    if (record !== undefined) pending = await next();
    return record;
  }

  if (pending?.startsWith('\ufeff')) {
    await write('\ufeff');
    pending = pending.slice(1);
  }
  if (pending !== undefined && format.type !== 'ndjson') {
    await write(frame.opening(pending));
    pending = await next();
  }

  return {
    async order(records, stays) {
      for (let index = 0; index < records; index += 1) {
        const record = await take();
        if (record === undefined) isComplete = false;
        else if (stays) await write(frame.framed(record));
      }
    },
    async finish() {
      const isAtEnd = (await take()) === undefined;
      await write(frame.closing());
      return isComplete && isAtEnd;
    },
    [Symbol.asyncDispose]: async () => void (await lines.return(undefined)),
  };
}

type Frame = {
  opening(line: string): string;
  /** The record in a line; undefined when there is none. */
  recordOf(line: string): string | undefined;
  framed(record: string): string;
  closing(): string;
};

/** Rows and NDJSON: a line is a record. The first line of a table is its header. */
function plainFrame(): Frame {
  return {
    opening: (line) => line,
    recordOf: (line) => line,
    framed: (record) => record,
    closing: () => '',
  };
}

/** An array: one record a line, between brackets. */
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
