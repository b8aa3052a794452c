import type { FileFormat, FileShape } from '../../order/record.ts';
import type { FixForm } from './form.ts';
import { fixObjects } from './objects.ts';
import { fixRows } from './rows.ts';

/** The rows of `dead-letters.csv` as a workbook. */
export const FIX_WORKBOOK = 'dead-letters.xlsx';

/** Every name that a fix file may have in a report's folder; one of the first three is always there. */
export const FIX_FILE_NAMES = [
  'dead-letters.csv',
  'dead-letters.fix.json',
  'dead-letters.ndjson',
  FIX_WORKBOOK,
] as const;

export type FixFileName = (typeof FIX_FILE_NAMES)[number];

/** The fix file of a batch, in the form of its input; a workbook comes back as CSV. */
export function fixFile(shape: FileShape, batch: string): FixForm {
  switch (shape.format.type) {
    case 'csv':
    case 'xlsx':
      return fixRows(shape, batch);
    case 'json':
    case 'ndjson':
      return fixObjects(shape, batch);
  }
}

/** The name of the fix file for an input format. */
export function fixFileName(format: FileFormat): FixFileName {
  switch (format.type) {
    case 'csv':
    case 'xlsx':
      return 'dead-letters.csv';
    case 'json':
      // `dead-letters.json` is the list of entries.
      return 'dead-letters.fix.json';
    case 'ndjson':
      return 'dead-letters.ndjson';
  }
}
