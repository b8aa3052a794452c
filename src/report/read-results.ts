import { restore } from '../order/formula.ts';
import type { OrderResult } from '../order/order-result.ts';
import { OUTCOMES } from '../order/outcome.ts';
import { readText } from './read-text.ts';
import { splitLines } from './split-lines.ts';

/** A cell of a row that `csvLine` wrote: quoted with doubled quotes, or plain. */
const CELL = /(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/gy;

/** The lines of a `results.csv` that we wrote, one at a time; those that are none of ours are left out. */
export async function* readResults(path: string): AsyncGenerator<OrderResult> {
  for await (const line of splitLines(readText(path, 'utf-8'), true)) {
    const result = resultOf(cellsOf(line.replace(/\n$/, '')));
    if (result !== undefined) yield result;
  }
}

function cellsOf(line: string): string[] {
  return [...line.matchAll(CELL)].map(([, quoted, plain = '']) => restore(quoted?.replaceAll('""', '"') ?? plain));
}

function resultOf([line, number = '', word, attempts, at = '', code = '', message = '']: string[]) {
  const outcome = OUTCOMES.find((one) => one === word);
  if (outcome === undefined) return undefined;
  return { line: Number(line), purchaseOrderNumber: number, outcome, attempts: Number(attempts), at, code, message };
}
