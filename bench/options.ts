import path from 'node:path';
import { parseArgs } from 'node:util';

export type Options = {
  /** The one-minute run. */
  quick: boolean;
  /** Names of rows; all when absent. */
  only: string[] | undefined;
  /** A stored result to show instead of a new run. */
  from: string | undefined;
  writeDocs: boolean;
  /** Another checkout to compare this one with. */
  against: string | undefined;
  /** The folder for the result; default: the history next to this file. */
  results: string;
};

/** Throws for an unknown option or row, and for `--docs` with only some of the rows. */
export function readOptions(args: readonly string[], rows: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      from: { type: 'string' },
      results: { type: 'string', default: path.join(import.meta.dirname, 'results') },
      'write-docs': { type: 'boolean', default: false },
      against: { type: 'string' },
    },
  });
  const { quick, only, from, results, against, 'write-docs': writeDocs } = values;
  const unknown = only?.find((name) => !rows.includes(name));
  if (unknown !== undefined)
    throw new Error(`row ${unknown} not found; the rows are ${rows.join(', ')}`);
  if (writeDocs && from === undefined && (quick || only))
    throw new Error('--write-docs wants the whole run');
  return { quick, only, from, results, writeDocs, against };
}
