import { neutralise } from '../order/formula.ts';
import type { OrderResult } from '../order/order-result.ts';
import { csvLine, PLAIN_DIALECT } from './csv-line.ts';

/** The header of `results.csv`: UTF-8, commas, line feeds, whatever the input was. */
export const RESULTS_HEADER = csvLine(
  ['line', 'purchaseOrderNumber', 'outcome', 'attempts', 'at', 'code', 'message'],
  PLAIN_DIALECT,
);

/** One order's line of `results.csv`; texts that a spreadsheet would run are neutralised. */
export function resultLine(result: OrderResult): string {
  const { line, purchaseOrderNumber, outcome, attempts, at, code, message } = result;
  const cells = [line, purchaseOrderNumber, outcome, attempts, at, code, message];
  return csvLine(
    cells.map((cell) => neutralise(String(cell))),
    PLAIN_DIALECT,
  );
}
