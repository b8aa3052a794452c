import { describe, type PoSyncError } from '../../core/errors.ts';
import { counted } from '../../core/format.ts';
import type { FileFormat, Problem } from '../../order/record.ts';
import { shorten } from '../../order/text.ts';
import { printable, printableJson } from '../terminal/printable.ts';
import type { CheckedFile } from './check-file.ts';

/** What `check` says to a person. */

/** `orders.csv: csv, delimiter ";", windows-1252, decimal ","; 8 rows` and the warnings below it. */
export function formatText(file: string, format: FileFormat, records: number, warnings: readonly string[]): string {
  const facts = [
    format.gzip === true ? `${format.type} in gzip` : format.type,
    format.delimiter === undefined ? undefined : `delimiter ${delimiterName(format.delimiter)}`,
    format.encoding,
    format.decimal === undefined ? undefined : `decimal "${format.decimal}"`,
  ];
  const known = facts.filter((fact) => fact !== undefined).join(', ');
  const isTable = format.type === 'csv' || format.type === 'xlsx';
  const rows = counted(records, isTable ? 'row' : 'object');
  const lines = warnings.map((warning) => `${printable(file)}: warning: ${printable(warning)}\n`);
  return `${printable(file)}: ${known}; ${rows}\n${lines.join('')}`;
}

/** `orders.csv:8: quantity: "1 dozen" is not a number; write digits only, such as 12 (order PO-1)`. */
export function problemText(file: string, problem: Problem, order: string): string {
  const { line, pointer, field, value, message } = problem;
  const place = pointer === undefined || pointer === '' ? '' : ` ${pointer}`;
  const column = field === '' ? '' : `${field}: `;
  const shown =
    value === '' || message.includes(JSON.stringify(value).slice(0, 20)) ? '' : `, found ${JSON.stringify(value)}`;
  const whose = order === '' ? '' : ` (order ${shorten(order, 60)})`;
  return `${printable(`${file}:${line}:${place} ${column}${message}${shown}${whose}`)}\n`;
}

/** The counts, and the first order as it would be sent. */
export function resultText(file: string, { orders, invalid, first }: CheckedFile): string {
  const count = counted(orders, 'order');
  const verdict = invalid === 0 ? 'all valid' : `${invalid} invalid`;
  const example = first === undefined ? '' : `First order as it would be sent:\n${printableJson(first)}\n`;
  return `${printable(file)}: ${count}, ${orders === 0 ? 'nothing to send' : verdict}\n${example}`;
}

/** Why a file cannot be read, with its place. */
export function failureText(file: string, error: PoSyncError): string {
  const { line } = error.facts;
  const place = line === undefined ? '' : `:${line}`;
  return `${printable(`${file}${place}: ${error.code}: `)}${describe(error).split('\n').map(printable).join('\n')}\n`;
}

function delimiterName(delimiter: string): string {
  return delimiter === '\t' ? 'tab' : JSON.stringify(delimiter);
}
