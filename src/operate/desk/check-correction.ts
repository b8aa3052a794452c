import { PoSyncError } from '../../core/errors.ts';
import type { CheckedOrder } from '../../order/order.ts';
import { foreignBatch } from '../../validate/how-to-read.ts';
import type { OperatorContext } from '../operator-context.ts';
import { checkFile, type FileToCheck } from '../orders/check-file.ts';
import { createComparison } from '../orders/preview-orders.ts';

/** What is wrong with a cell, or with a row when `field` is empty. `row` counts from 0; `field`: the name of the cell. */
export type CellProblem = { row: number; field: string; message: string };

/** An order that corrected rows form. `verdict`: what would become of it; see docs/contract.md, "What becomes of an order". */
export type CorrectedOrder = {
  number: string;
  verdict: 'new' | 'duplicate' | 'conflict' | 'waiting' | 'invalid';
  problems: CellProblem[];
};

/** `isReady`: none needs a person. `trouble`: why the rows cannot be read at all. */
export type CheckedCorrection = { orders: CorrectedOrder[]; isReady: boolean; trouble?: string };

/** Checks a fix file of one order with the rules of intake, and compares its orders with the ledger. */
export async function checkCorrection(
  file: FileToCheck,
  { config, batches, ledger, stopping: signal }: Pick<OperatorContext, 'config' | 'batches' | 'ledger' | 'stopping'>,
): Promise<CheckedCorrection> {
  const orders: CheckedOrder[] = [];
  const found: CorrectedOrder[] = [];
  const compare = createComparison(ledger, new Map())({ again: true }, ({ number, verdict }) => {
    found.push({ number, verdict, problems: [] });
  });
  let unknown: string | undefined;
  try {
    await checkFile(
      file,
      { config, batches, signal },
      {
        inspected(_, unknownBatch) {
          unknown = unknownBatch;
        },
        async order(order) {
          orders.push(order);
          await compare.add(order);
        },
      },
    );
    if (unknown !== undefined) throw foreignBatch(unknown, config.environment);
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    return { orders: [], isReady: false, trouble: error.message };
  }
  await compare.done();
  const rowOf = rowsIn(orders);
  const checked = found.map((one, i): CorrectedOrder => ({ ...one, problems: problemsOf(orders[i], rowOf) }));
  const isReady = checked.every(({ verdict }) => verdict === 'new' || verdict === 'duplicate');
  return { orders: checked, isReady: isReady && checked.length > 0 };
}

type RowOf = (line: number, pointer: string | undefined) => number;

/** Rows by the line on which they begin; objects by their place in the list. */
function rowsIn(orders: readonly CheckedOrder[]): RowOf {
  const lines = [...new Set(orders.flatMap(({ records }) => records.map(({ place }) => place.line)))].sort(
    (a, b) => a - b,
  );
  return (line, pointer) => {
    const index = /^\/(\d+)(?:\/|$)/.exec(pointer ?? '')?.[1];
    return index === undefined ? Math.max(0, lines.indexOf(line)) : Number(index);
  };
}

function problemsOf(order: CheckedOrder | undefined, rowOf: RowOf): CellProblem[] {
  if (order === undefined || order.valid) return [];
  return order.problems.map(({ line, pointer, field, message }) => ({
    row: rowOf(line, pointer),
    field: pointer === undefined ? field : pointer.replace(/^\/\d+\/?/, ''),
    message,
  }));
}
