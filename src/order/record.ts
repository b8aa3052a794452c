import type { LetterRef } from './letter-id.ts';
import type { Problem } from './problem.ts';

/**
 * A place in the file as it was dropped.
 * `line` is 1-based, a CSV header being line 1; `pointer` is a JSON pointer (RFC 6901) for JSON input.
 */
export type Place = { line: number; pointer?: string };

/**
 * What a person says about a record. `from`: the dead letter that it corrects. `isConfirmed`: it is right as it is. `held`: what was wrong with it, where nobody changed what these problems name.
 */
export type FixFacts = {
  from?: LetterRef;
  isConfirmed?: boolean;
  held?: readonly Problem[];
};

/**
 * One row of a table, or one object of a JSON file, with its place. `cells` are the texts of the row in the order of the
 * header; `value` is the parsed JSON value. `inherits`: the number is that of the row above.
 */
export type SourceRecord =
  | ({ kind: 'row'; place: Place; cells: readonly string[]; inherits?: true } & FixFacts)
  | ({ kind: 'object'; place: Place; value: unknown } & FixFacts);

/** The detected format of a file; `format` in its report. */
export type FileFormat = {
  type: 'csv' | 'json' | 'ndjson' | 'xlsx' | 'xml';
  delimiter?: string;
  encoding?: string;
  decimal?: '.' | ',';
  gzip?: boolean;
};

/** The form of the input. `header` is absent for objects; `items`: the names of their list of items. */
export type FileShape = {
  format: FileFormat;
  header?: readonly string[];
  items?: readonly string[];
  bom?: boolean;
  newline?: '\n' | '\r\n' | '\r';
};
