import { PoSyncError } from '../../core/errors.ts';
import { cellAt, columnNames } from '../../correct/letter-rows.ts';
import type { Correction, FileOf } from '../../correct/read-as.ts';
import type { CheckedOrder } from '../../order/order.ts';
import type { Problem, ProblemCode } from '../../order/problem.ts';
import type { Sentence } from '../../order/sentence.ts';
import { problemText } from '../../wording/problem.ts';
import type { OperatorContext } from '../operator-context.ts';
import { checkFile } from '../orders/check-file.ts';
import { createComparison } from '../orders/preview-orders.ts';

/** What is wrong with a cell, or with a row when `field` is empty. `row` counts from 0; `field`: the name of the cell. */
export type CellProblem = { row: number; field: string; code: ProblemCode; message: Sentence };

/**
 * An order that corrected rows form. `verdict`: what would become of it; see docs/how-it-works.md, "What becomes of an order".
 */
export type CorrectedOrder = {
  number: string;
  verdict: 'new' | 'duplicate' | 'conflict' | 'waiting' | 'invalid';
  problems: CellProblem[];
};

/** `isReady`: none needs a person. `trouble`: why the rows cannot be read at all. */
export type CheckedCorrection = { orders: CorrectedOrder[]; isReady: boolean; trouble?: string };

type CheckContext = Pick<OperatorContext, 'config' | 'batches' | 'ledger' | 'store' | 'stopping'>;

/** Checks a correction with the rules of intake, and compares its orders with the ledger. `lines`: those of its rows. */
export async function checkCorrection(
  file: FileOf,
  lines: readonly number[],
  context: CheckContext,
): Promise<CheckedCorrection> {
  const { config, batches, stopping: signal } = context;
  const orders: CheckedOrder[] = [];
  const found: (Pick<CorrectedOrder, 'number' | 'verdict'> & { held: readonly Problem[] })[] = [];
  let compare: ReturnType<ReturnType<typeof createComparison>> | undefined;
  let correction: Correction | undefined;
  try {
    await checkFile(
      file,
      { config, batches, signal },
      {
        inspected(read) {
          correction = read.correction;
          const facts = { again: true };
          compare = createComparison(
            context,
            new Map(),
            true,
          )(facts, ({ number, verdict, problems = [] }) => {
            found.push({ number, verdict, held: problems });
          });
        },
        async order(order) {
          orders.push(order);
          await compare?.add(order);
        },
      },
    );
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    return { orders: [], isReady: false, trouble: error.message };
  }
  await compare?.done();
  const [trouble] = correction?.warnings ?? [];
  if (orders.length === 0 || correction === undefined)
    return { orders: [], isReady: false, trouble: trouble ?? 'Nothing was changed.' };
  const corrected = correction;
  const checked = found.map(({ number, verdict, held }, i): CorrectedOrder => {
    const order = orders[i];
    const problems = order?.valid === false ? order.problems : held;
    return {
      number,
      verdict: order?.valid === false ? 'invalid' : verdict,
      problems: inRows(problems, lines, corrected),
    };
  });
  const isReady = checked.every(({ verdict }) => verdict === 'new' || verdict === 'duplicate');
  return { orders: checked, isReady: isReady && checked.length > 0 };
}

function inRows(
  problems: readonly Problem[],
  lines: readonly number[],
  { shape: { header, items = [] }, records }: Correction,
): CellProblem[] {
  return problems.map((problem) => {
    const { line, pointer, field, code } = problem;
    const row = Math.max(0, lines.indexOf(line));
    const message = problemText({ ...problem, field: '' });
    if (header !== undefined)
      return { row, field: columnNames(header)[header.indexOf(field)] ?? field, code, message };
    const record = records.find(({ place }) => place.line === line);
    const value = record?.kind === 'object' ? record.value : undefined;
    const { index, name } = cellAt(value, items, pointer ?? '');
    return { row: row + index, field: name, code, message };
  });
}
