import type { FileFormat, FileShape } from '../order/record.ts';
import type { FixForm } from './fix-form.ts';
import { fixObjects } from './fix-objects.ts';
import { fixRows } from './fix-rows.ts';

/**
 * The records of every order that needs a person, in the input's own form, so that they can be mended and dropped in
 * again. Never compressed.
 */
export type FixFile = FixForm & { name: FixFileName };

/** Every name that a fix file may have within a report's folder. */
export const FIX_FILE_NAMES = ['dead-letters.csv', 'dead-letters.fix.json', 'dead-letters.ndjson'] as const;

export type FixFileName = (typeof FIX_FILE_NAMES)[number];

/** The fix file of a batch in the form of the file it came from; XLSX comes back as CSV. */
export function fixFile(shape: FileShape, batch: string): FixFile {
  const name = fixFileName(shape.format);
  switch (shape.format.type) {
    case 'csv':
    case 'xlsx':
      return { name, ...fixRows(shape, batch) };
    case 'json':
    case 'ndjson':
      return { name, ...fixObjects(shape, batch) };
  }
}

/** `dead-letters.json` is the list of entries, so a JSON input's fix file has `.fix` in its name. */
export function fixFileName(format: FileFormat): FixFileName {
  switch (format.type) {
    case 'csv':
    case 'xlsx':
      return 'dead-letters.csv';
    case 'json':
      return 'dead-letters.fix.json';
    case 'ndjson':
      return 'dead-letters.ndjson';
  }
}
