/**
 * A place in the file as it was dropped.
 * `line` is 1-based, a CSV header being line 1; `pointer` is a JSON pointer (RFC 6901) for JSON input.
 */
export type Place = { line: number; pointer?: string };

/** The place in a batch that a record of a fix file was written for: that of its dead letter, or its own. */
export type FixTarget = { batch: string; place: string };

/**
 * A value of a fix file with two readings: a person's, and what a program made of another value. `readings` says both.
 * `field` is "" for the complete record.
 */
export type Doubt = { field: string; value: string; readings: string; pointer?: string };

/**
 * What a record of a fix file says about itself: the dead letter or record that its note names, and the line that it
 * had. `isConfirmed`: a person says that its values are right; without that, none of the `doubts` is sent. `isAdded`: it
 * names nothing, but a person added it as the record of `fixTarget`.
 */
export type FixFacts = {
  fixTarget?: FixTarget;
  line?: number;
  isConfirmed?: boolean;
  isAdded?: true;
  doubts?: readonly Doubt[];
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
  /** The mapping sets it, so that it also decides about quantities that can be read in two ways. */
  decimalSet?: true;
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
  /** Of an order that may lack a row which the fix file does not have: that row, in the batch that it corrects. */
  row?: FixTarget;
};

/** A problem in one line: `quantity: "x" is not a number`, `quantity is empty`. */
export function problemText({ field, message }: Pick<Problem, 'field' | 'message'>): string {
  if (field === '') return message;
  return NEEDS_SUBJECT.test(message) ? `${field} ${message}` : `${field}: ${message}`;
}

/** A message that begins with its verb: the field is its subject. */
const NEEDS_SUBJECT = /^(?:is|has|contains|occurs|can) /;

/** The form of the input, which its fix file repeats. `header` is absent for JSON. */
export type FileShape = {
  format: FileFormat;
  header?: readonly string[];
  bom?: boolean;
  newline?: '\n' | '\r\n' | '\r';
};

/** Whether a person added a record, without the columns that po-sync added. */
export function isAdded({ fixTarget, line }: SourceRecord): boolean {
  return fixTarget === undefined && line === undefined;
}

/** Whether a record of a fix file is the row at `target`. */
export function isRowAt(target: FixTarget | undefined, { fixTarget }: SourceRecord): boolean {
  return (
    target !== undefined && fixTarget?.batch === target.batch && fixTarget.place === target.place
  );
}

/** The sequence of two places in their file. */
export function comparePlaces(one: string, other: string): number {
  const [a, b] = [one, other].map((place) => /^line (\d{1,15})$/.exec(place)?.[1]);
  return a === undefined || b === undefined ? POINTERS.compare(one, other) : Number(a) - Number(b);
}

const POINTERS = new Intl.Collator('en', { numeric: true });
