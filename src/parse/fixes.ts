import { type Mends, readNote } from '../order/fixing.ts';

/** What the error columns of a fix file's row say of the letter it mends, where they do. */
export function mendsOf(cells: readonly string[], errorColumns: readonly number[]): Mends | undefined {
  for (const column of errorColumns) {
    const mends = readNote(cells[column] ?? '');
    if (mends) return mends;
  }
  return undefined;
}

/** As `mendsOf`, for an object. */
export function mendsIn(value: unknown): Mends | undefined {
  if (typeof value !== 'object' || value === null || !('_error_message' in value)) return undefined;
  return typeof value._error_message === 'string' ? readNote(value._error_message) : undefined;
}
