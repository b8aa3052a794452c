import type { Hash } from 'node:crypto';
import type { Newline } from './lines.ts';
import type { Declared, WorkbookFacts } from './record.ts';

/** An open file as the readers of the formats see it. */
export type Source = {
  declared: Declared;
  /** The first text of the content, without a byte order mark. */
  start: string;
  /** The content as UTF-8 without byte order mark; its chunks do not end within a character. */
  content(pass: Partial<Pass>): AsyncGenerator<Buffer>;
};

/** One pass over a file: what it needs, and what it finds out besides the records. */
export type Pass = {
  hash?: Hash;
  signal?: AbortSignal | undefined;
  newline?: Newline | undefined;
  isOpenEnded: boolean;
  beside: readonly string[];
  workbook?: WorkbookFacts;
};
