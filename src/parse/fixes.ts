import { type FixTarget, readFixNote } from '../order/fixing.ts';

/** What the error columns of a fix file's row say of the letter it mends, where they do. */
export function fixTargetOf(cells: readonly string[], errorColumns: readonly number[]): FixTarget | undefined {
  for (const column of errorColumns) {
    const fixTarget = readFixNote(cells[column] ?? '');
    if (fixTarget) return fixTarget;
  }
  return undefined;
}

/** As `mendsOf`, for an object. */
export function fixTargetIn(value: unknown): FixTarget | undefined {
  if (typeof value !== 'object' || value === null || !('_error_message' in value)) return undefined;
  return typeof value._error_message === 'string' ? readFixNote(value._error_message) : undefined;
}
