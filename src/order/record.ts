/**
 * A place in the file as it was dropped.
 * `line` is 1-based, a CSV header being line 1; `pointer` is a JSON pointer (RFC 6901) for JSON input.
 */
export type Place = { line: number; pointer?: string };

/** The dead letter that a row of a fix file corrects. */
export type FixTarget = { batch: string; place: string };

/**
 * One row of a table, or one object of a JSON file, with its place. `cells` are the texts of the row in the order of the
 * header; `value` is the parsed JSON value; `fixTarget` is the dead letter that a row of a fix file names;
 * `line` is the line that such a row says it had;
 * `isUnproved`: a spreadsheet may have changed that row, and the original is not known.
 */
export type SourceRecord =
  | { kind: 'row'; place: Place; cells: readonly string[]; line?: number; fixTarget?: FixTarget; isUnproved?: boolean }
  | { kind: 'object'; place: Place; value: unknown; line?: number; fixTarget?: FixTarget; isUnproved?: boolean };

/** The detected format of a file; `format` in its report. */
export type FileFormat = {
  type: 'csv' | 'json' | 'ndjson' | 'xlsx' | 'xml';
  delimiter?: string;
  encoding?: string;
  decimal?: '.' | ',';
  gzip?: boolean;
};

/** One problem of one field. `code` is stable; `message` says what is valid. */
export type Problem = {
  line: number;
  pointer?: string;
  /** The column of the file or the JSON property, as the file names it; empty for the complete row. */
  field: string;
  code: string;
  /** The text found, shortened to 200 characters. */
  value: string;
  message: string;
};

/** A problem in one line, with the field's name. */
export function problemText({ field, message }: Problem): string {
  return field === '' ? message : `${field}: ${message}`;
}

/** The form of the input, which its fix file repeats. `header` is absent for JSON. */
export type FileShape = {
  format: FileFormat;
  header?: readonly string[];
  bom?: boolean;
  newline?: '\n' | '\r\n' | '\r';
};
