import { type ErrorFacts, PoSyncError } from '../core/errors.ts';

const DECLARE = 'Compare its header with the columns of the mapping.';

/** What a file that its mapping cannot read lacks, by code; undefined for any other fault. */
function textOf(code: string, facts: ErrorFacts): { message: string; remedy: string } | undefined {
  switch (code) {
    case 'unreadable-header':
      return {
        message: `None of the first ${facts['rows']} rows has the columns ${facts['needed']}.`,
        remedy: `${DECLARE} po-sync map proposes one.`,
      };
    case 'unreadable-two-columns':
      return {
        message: `Line ${facts['line']}: two columns have a name of ${facts['column']}.`,
        remedy: 'Rename one of them, or declare other names.',
      };
    case 'unreadable-column-missing':
      return {
        message: `No object has ${facts['needed']}. Keys that are not declared: ${facts['names']}.`,
        remedy: 'Say in the mapping where the orders are (`records`), and name their keys.',
      };
    case 'unreadable-after-last-row':
      return {
        message: `Line ${facts['line']} is below the row that ends the table.`,
        remedy: 'Correct lastRow in the mapping, or drop the files one by one.',
      };
    case 'unreadable-no-last-row':
      return {
        message: 'The file is not complete: the row that lastRow names is not there.',
        remedy: 'Drop the complete file again.',
      };
    case 'unreadable-too-many-damaged':
      return {
        message: `More than ${facts['limit']} rows cannot be read, the last one on line ${facts['line']}.`,
        remedy: DECLARE,
      };
    default:
      return undefined;
  }
}

/** An error of the mapping in words; any other one as it is. */
export function layoutFault(error: unknown): unknown {
  if (!(error instanceof PoSyncError)) return error;
  if (error.code === 'file-changed')
    return new PoSyncError('file-changed', 'The file was written to while it was read.', {
      remedy: 'Nothing to do: it is read again.',
    });
  const text = textOf(error.code, error.facts);
  if (text === undefined) return error;
  const { message, remedy } = text;
  return new PoSyncError(error.code, message, { remedy, facts: error.facts });
}
