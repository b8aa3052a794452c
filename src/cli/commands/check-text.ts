import { describe, type PoSyncError } from '../../core/errors.ts';
import { count, counted, orders as orderCount } from '../../core/format.ts';
import type { FileFormat, Problem } from '../../order/record.ts';
import { shorten } from '../../order/text.ts';
import type { Shell } from '../shell.ts';
import { printable, printableJson } from '../terminal/print.ts';
import type { CheckedFile, CheckPrinter } from './check-json.ts';

/** Prints what `check` finds, for people. */
export function createTextPrinter(shell: Pick<Shell, 'out' | 'err'>): CheckPrinter {
  return {
    begin: () => undefined,
    file: (file) => ({
      onFormat: (format, records, warnings) => shell.out(formatText(file, format, records, warnings)),
      onProblem: (problem, order) => shell.out(problemText(file, problem, order)),
      done: (checked) => shell.out(resultText(file, checked)),
      failed: (error) => shell.err(failureText(file, error)),
    }),
    end: () => undefined,
  };
}

/** `orders.csv: csv, delimiter ";", windows-1252, decimal ","; 8 rows`, and the warnings below it. */
function formatText(file: string, format: FileFormat, records: number, warnings: readonly string[]): string {
  const facts = [
    format.gzip === true ? `${format.type} in gzip` : format.type,
    format.delimiter === undefined ? undefined : `delimiter ${delimiterName(format.delimiter)}`,
    format.encoding,
    format.decimal === undefined ? undefined : `decimal "${format.decimal}"`,
  ];
  const known = facts.filter((fact) => fact !== undefined).join(', ');
  const isTable = format.type === 'csv' || format.type === 'xlsx';
  const lines = warnings.map((warning) => `${printable(file)}: warning: ${printable(warning)}\n`);
  return `${printable(file)}: ${known}; ${counted(records, isTable ? 'row' : 'object')}\n${lines.join('')}`;
}

/** `orders.csv:8: quantity: "1 dozen" is not a number; write digits only, such as 12 (order PO-1)`. */
function problemText(file: string, problem: Problem, order: string): string {
  const { line, pointer, field, value, message } = problem;
  const place = pointer === undefined || pointer === '' ? '' : ` ${pointer}`;
  const column = field === '' ? '' : `${field}: `;
  const isQuoted = value === '' || message.includes(JSON.stringify(value).slice(0, 20));
  const found = isQuoted ? '' : `, found ${JSON.stringify(value)}`;
  const whose = order === '' ? '' : ` (order ${shorten(order, 60)})`;
  return `${printable(`${file}:${line}:${place} ${column}${message}${found}${whose}`)}\n`;
}

/** The counts, and the first order as it would be sent. */
function resultText(file: string, { orders, invalid, first }: CheckedFile): string {
  const verdict = orders === 0 ? 'nothing to send' : invalid === 0 ? 'all valid' : `${count(invalid)} invalid`;
  const example = first === undefined ? '' : `First order as it would be sent:\n${printableJson(first)}\n`;
  return `${printable(file)}: ${orderCount(orders)}, ${verdict}\n${example}`;
}

/** Why a file cannot be read, and where. */
function failureText(file: string, error: PoSyncError): string {
  const { line } = error.facts;
  const place = line === undefined ? '' : `:${line}`;
  return `${printable(`${file}${place}: ${error.code}: `)}${describe(error).split('\n').map(printable).join('\n')}\n`;
}

function delimiterName(delimiter: string): string {
  return delimiter === '\t' ? 'tab' : JSON.stringify(delimiter);
}
