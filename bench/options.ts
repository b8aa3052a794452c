import path from 'node:path';
import { parseArgs } from 'node:util';

export type Options = {
  /** The one-minute run. */
  quick: boolean;
  /** Names of rows; all when absent. */
  only: string[] | undefined;
  /** Another checkout to compare this one with. */
  against: string | undefined;
  /** The folder for the result; default: the history next to this file. */
  results: string;
};

/** Throws for an unknown option or row. */
export function readOptions(args: readonly string[], rows: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      results: { type: 'string', default: path.join(import.meta.dirname, 'results') },
      against: { type: 'string' },
    },
  });
  const { quick, only, results, against } = values;
  const unknown = only?.find((name) => !rows.includes(name));
  if (unknown !== undefined)
    throw new Error(`row ${unknown} not found; the rows are ${rows.join(', ')}`);
  return { quick, only, results, against };
}
