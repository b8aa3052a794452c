import { type ErrorFacts, PoSyncError } from '../core/errors.ts';

export type Place = { line: number; column: number };

/** What of a file did not end. */
type Part = 'quote' | 'gzip' | 'zip' | 'json' | 'xml' | 'text' | 'character';

/** Why a file cannot be read. `incomplete`: it ends too early, and may still be written. */
export type Fault =
  | { code: 'empty' }
  | { code: 'incomplete'; of: Part; lacks: string; line?: number; column?: number }
  | { code: 'foreign'; kind: string }
  | ({ code: 'encoding'; encoding: string; byte: number } & Place)
  | { code: 'damaged'; what: 'gzip' | 'zip' | 'workbook'; reason: string }
  | ({ code: 'json' | 'xml'; reason: string } & Place)
  | { code: 'too-large'; what: string; limit: number; unit: string; line?: number }
  | { code: 'records'; path: string; at: string; names: string }
  | { code: 'several-lists'; names: string }
  | { code: 'sheet'; sheet: string; names: string };

/** The error for a file of which nothing is read: code `unreadable-…`, the rest of the fault as its facts. */
export function unreadable(fault: Fault): PoSyncError {
  const { message, remedy } = wordingOf(fault);
  const { code, ...rest } = fault;
  const facts: ErrorFacts = rest;
  return new PoSyncError(`unreadable-${code}`, message, { remedy, facts });
}

/** The error for what exceeds a limit; `line`: of a part of the file, where it is. */
export function tooLarge(what: string, limit: number, unit: string, line?: number): PoSyncError {
  const place = line === undefined ? {} : { line };
  return unreadable({ code: 'too-large', what, limit, unit, ...place });
}

const AGAIN = 'Drop the complete file again.';
const UNQUOTED = 'If its fields are never in quotes, set `quote: none` in the mapping.';
const SMALLER = 'Split the file, or save it as CSV or NDJSON, which may have any size.';

function wordingOf(fault: Fault): { message: string; remedy: string } {
  switch (fault.code) {
    case 'empty':
      return { message: 'The file is empty.', remedy: AGAIN };
    case 'incomplete':
      return {
        message: `The file ends too early: ${fault.lacks} is missing.`,
        remedy: fault.of === 'quote' ? `${AGAIN} ${UNQUOTED}` : AGAIN,
      };
    case 'foreign':
      return {
        message: `The file is ${fault.kind}.`,
        remedy: 'Save the orders as .xlsx, CSV (UTF-8), JSON or XML.',
      };
    case 'encoding':
      return {
        message: `${placed(fault)} (byte ${fault.byte}) is not ${fault.encoding}.`,
        remedy: 'Set `encoding` in the mapping, or save the file as UTF-8.',
      };
    case 'damaged':
      return { message: `The ${fault.what} is damaged: ${fault.reason}.`, remedy: AGAIN };
    case 'json':
    case 'xml':
      return {
        message: `${placed(fault)}: ${fault.reason}.`,
        remedy: 'Correct the file there, or drop it again.',
      };
    case 'too-large':
      return {
        message: `${fault.what} exceeds ${fault.limit} ${fault.unit}.`,
        remedy: fault.line === undefined ? SMALLER : `Check what is there. ${UNQUOTED}`,
      };
    case 'records':
      return {
        message: `\`records: ${fault.path}\` leads to no list; ${fault.at} has ${fault.names}.`,
        remedy: 'Correct `records` in the mapping.',
      };
    case 'several-lists':
      return {
        message: `The document has several lists: ${fault.names}.`,
        remedy: 'Set `records` in the mapping.',
      };
    case 'sheet':
      return {
        message: `The workbook has no sheet ${fault.sheet}; it has ${fault.names}.`,
        remedy: 'Correct `sheet` in the mapping.',
      };
  }
}

function placed({ line, column }: Place): string {
  return `Line ${line}, column ${column}`;
}

const SHOWN = 10;
const LONGEST = 60;

/** Names in a row for a fact: bounded in number and length. */
export function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const shown = names.slice(0, SHOWN).map((name) => JSON.stringify(cut(name)));
  return shown.join(', ') + (names.length > SHOWN ? ' and more' : '');
}

/** A text of a file for a fact: its beginning. */
export function cut(text: string, length = LONGEST): string {
  return text.length <= length
    ? text
    : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
