import path from 'node:path';
import { parseArgs } from 'node:util';

export type Options = {
  /** The one-minute form. */
  quick: boolean;
  /** Names of rows; all when absent. */
  only: string[] | undefined;
  /** A kept result to show instead of a new run. */
  from: string | undefined;
  writeDocs: boolean;
  /** Another checkout to compare this one with. */
  against: string | undefined;
  /** The folder that keeps the result; the history beside this file unless told otherwise. */
  results: string;
};

/** Throws when an option or a row is not known, or when documents are to be written from a part of the rows. */
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
  if (unknown !== undefined) throw new Error(`there is no row ${unknown}; there are ${rows.join(', ')}`);
  if (writeDocs && from === undefined && (quick || only)) throw new Error('--write-docs wants the whole run');
  return { quick, only, from, results, writeDocs, against };
}
