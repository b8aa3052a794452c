import type { FixTarget } from './fixing.ts';
import type { Place } from './place.ts';

/**
 * One row of a table, or one object of a JSON file, with its place.
 * `cells` are the row's texts in the order of the header; `value` is the JSON value as it was parsed; `mends` is what a
 * fix file that came back says of itself.
 */
export type SourceRecord =
  | { kind: 'row'; place: Place; cells: readonly string[]; fixTarget?: FixTarget }
  | { kind: 'object'; place: Place; value: unknown; fixTarget?: FixTarget };

/** How a file turned out to be written; goes into its report as `format`. */
export type FileFormat = {
  type: 'csv' | 'json' | 'ndjson' | 'xlsx';
  delimiter?: string;
  encoding?: string;
  decimal?: '.' | ',';
  gzip?: boolean;
};

/** One thing wrong with one field. `code` is stable; `message` says what would be right. */
export type Problem = {
  line: number;
  pointer?: string;
  /** The column of the file or the JSON property, as the file names it; empty when the whole row is meant. */
  field: string;
  code: string;
  /** The text found, shortened to 200 characters. */
  value: string;
  message: string;
};

/** What a fix file must repeat to come back in the input's own form. `header` is absent for JSON. */
export type FileShape = {
  format: FileFormat;
  header?: readonly string[];
  bom?: boolean;
  newline?: '\n' | '\r\n' | '\r';
};
