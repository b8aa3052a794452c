import { type ErrorFacts, PoSyncError } from '../core/errors.ts';

/** The error for a file that corrects nothing, or cannot: code `unreadable-…`. */
export function unreadable(
  code: string,
  message: string,
  facts: ErrorFacts,
  remedy: string,
): PoSyncError {
  return new PoSyncError(`unreadable-${code}`, message, { remedy, facts });
}

/** It corrects a batch that is not of this environment. */
export function foreignBatch(batch: string, environment: string): PoSyncError {
  return unreadable(
    'fix-batch',
    `The file corrects batch ${batch}, which the environment ${environment} does not know.`,
    { batch },
    `Drop it into an inbox of the environment that wrote it. If its orders are meant for ${environment}, drop your own file there.`,
  );
}

/** Its rows cannot be read in one way. */
export function ofTwoLayouts(layouts: readonly { source: string }[]): PoSyncError {
  const sources = [...new Set(layouts.map(({ source }) => source))].join(', ');
  return unreadable(
    'fix-batch',
    'The workbook corrects rows of files with different columns, which are on different sheets.',
    { sources },
    'Correct one sheet of a copy, and drop that; then the next sheet, in another copy.',
  );
}
