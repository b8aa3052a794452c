import { type ErrorFacts, PoSyncError } from '../core/errors.ts';

/** What makes a readable file unreadable with a mapping, each code with its facts. */
export type LayoutFault =
  /** No row among the first ones has the columns that are needed. `isOpenEnded`: the last one has no line end. */
  | { code: 'unreadable-header'; needed: string; rows: number; isOpenEnded: boolean }
  /** A declared name matches two columns. */
  | { code: 'unreadable-two-columns'; column: string; line: number }
  /** Objects never have a key that is needed. `names`: keys that they have and nobody declared. */
  | { code: 'unreadable-column-missing'; needed: string; names: string }
  /** A row after the last row. */
  | { code: 'unreadable-after-last-row'; line: number }
  /** The row that ends each file is not there. */
  | { code: 'unreadable-no-last-row' }
  /** More damaged rows than can be kept apart. */
  | { code: 'unreadable-too-many-damaged'; line: number; limit: number };

/** The error for a file that cannot be read with its mapping. Its sentence is made from code and facts elsewhere. */
export function unreadable({ code, ...facts }: LayoutFault): PoSyncError {
  const all: ErrorFacts = { ...facts };
  return new PoSyncError(code, `${code} ${JSON.stringify(all)}`, { facts: all });
}
