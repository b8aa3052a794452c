import { orders } from '../core/format.ts';
import { type OrderResult, OUTCOMES } from '../order/outcome.ts';
import { asText, sentence } from '../order/sentence.ts';
import { escapeFormula, restore } from '../order/spreadsheet.ts';
import { csvLine, PLAIN_DIALECT, readText, splitCells, splitLines } from './lines.ts';

/** The columns of `results.csv`. */
const RESULT_COLUMNS = [
  'line',
  'purchaseOrderNumber',
  'outcome',
  'attempts',
  'at',
  'code',
  'message',
] as const;

/** The header of `results.csv`. The file is UTF-8 with commas and line feeds, independent of the input. */
export const RESULTS_HEADER = csvLine(RESULT_COLUMNS, PLAIN_DIALECT);

/** The line of one order in `results.csv`; texts that a spreadsheet would run as a formula are neutralized. */
export function resultLine(result: OrderResult): string {
  return csvLine(resultCells(result).map(escapeFormula), PLAIN_DIALECT);
}

/** The texts of one order in the order of the columns. */
function resultCells(result: OrderResult): string[] {
  const shown = { ...result, message: asText(result.message) };
  return RESULT_COLUMNS.map((name) => String(shown[name]));
}

/** Reads the results of a `results.csv` one at a time; skips lines that `resultLine` did not write. */
export async function* readResults(path: string): AsyncGenerator<OrderResult> {
  for await (const { result } of readResultLines(path, 0)) yield result;
}

/** The same from the byte `start`; `end`: the byte at which the next line begins. `text` selects lines that contain it. */
export async function* readResultLines(
  path: string,
  start: number,
  text = '',
): AsyncGenerator<{ result: OrderResult; end: number }> {
  let end = start;
  for await (const line of splitLines(readText(path, 'utf-8', start), true)) {
    end += Buffer.byteLength(line);
    if (!line.includes(text)) continue;
    const result = resultOf(splitCells(line, ',').map(restore));
    if (result !== undefined) yield { result, end };
  }
}

function resultOf([line, number = '', word, attempts, at = '', code = '', message = '']: string[]) {
  const outcome = OUTCOMES.find((one) => one === word);
  if (outcome === undefined) return undefined;
  return {
    line: Number(line),
    purchaseOrderNumber: number,
    outcome,
    attempts: Number(attempts),
    at,
    code,
    message: sentence(message),
  };
}

/** What a person has to know of orders that stay with their open dead letter: "duplicate" does not say that they were never sent. */
export function waitingTexts(waiting: number): string[] {
  if (waiting === 0) return [];
  const [was, they] = waiting === 1 ? ['was', 'it'] : ['were', 'they'];
  return [
    `${orders(waiting)} ${was} not sent: when this file was read, ${they} waited for a person. The file in which ${they} waited is in results.csv.`,
  ];
}
