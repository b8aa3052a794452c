import { z } from 'zod';
import { toError } from '../core/errors.ts';
import { PURCHASE_ORDER, type RecordKind } from '../order/record-kind.ts';
import { plainName } from '../order/text.ts';
import { line, written } from './fields.ts';

const oneOrMore = written(
  z
    .union([line, z.array(line)], {
      error: 'expected a column name, or a list of column names (in quotes where they are numbers)',
    })
    .refine((names) => names.length > 0, { error: 'must name at least one column' })
    .transform((names) => (typeof names === 'string' ? [names] : names)),
  (names) => (names.length === 1 ? names[0] : names),
);

const SKIPPED_VALUE = 'expected a value, or a list of values, such as DRAFT or [DRAFT, "on hold"]';

const HEADER_LINE = { error: 'expected auto, or the number of a line, which is 1 or more' };

/** A value of a file as text; an empty one would leave out every row without a value. */
const skippedValue = z
  .union([line, z.number(), z.boolean()], { error: SKIPPED_VALUE })
  .transform((value) => String(value).trim())
  .refine((text) => text !== '', { error: 'must not be empty' });

const skippedValues = written(
  z
    .union([skippedValue, z.array(skippedValue)], { error: SKIPPED_VALUE })
    .refine((values) => values.length > 0, { error: 'must name at least one value' })
    .transform((values) => (typeof values === 'string' ? [values] : values)),
  (values) => (values.length === 1 ? values[0] : values),
);

/** The encodings that a file may have: those of the platform's decoder, and the DOS code pages of western Europe. */
export const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'iso-8859-1',
  'iso-8859-15',
  'macintosh',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'windows-1258',
  'iso-8859-2',
  'iso-8859-5',
  'iso-8859-7',
  'iso-8859-13',
  'cp437',
  'cp850',
  'cp852',
  'cp858',
  'ibm866',
  'koi8-r',
  'koi8-u',
  'x-mac-cyrillic',
  'shift_jis',
  'euc-jp',
  'gbk',
  'gb18030',
  'big5',
  'euc-kr',
] as const;

/** A regular expression; `like` is one as an example. */
function pattern(like: string) {
  return line.superRefine((text, context) => {
    const fault = patternFault(text);
    if (fault !== undefined)
      context.addIssue(
        `expected a regular expression, such as "${like}"; "${text}" is none: ${fault}`,
      );
  });
}

function patternFault(text: string): string | undefined {
  try {
    new RegExp(text, 'u');
    return undefined;
  } catch (error) {
    // "Invalid regular expression: /^(Total/u: Unterminated group"
    return toError(error).message.split(': ').at(-1)?.toLowerCase();
  }
}

const SEPARATOR = 'expected auto, or one character such as "," ";" "|" or "\\t"';

const delimiter = z
  .string({ error: SEPARATOR })
  .regex(/^(auto|tab|[^\p{L}\p{N}"'\\\r\n])$/u, { error: SEPARATOR })
  .transform((text) => (text === 'tab' ? '\t' : text));

function fieldsOf({ fields }: RecordKind) {
  return z.strictObject({
    purchaseOrderNumber: oneOrMore.prefault(fields.number),
    orderState: oneOrMore.prefault(fields.state),
    articleCode: oneOrMore.prefault(fields.article),
    quantity: oneOrMore.prefault(fields.quantity),
    items: oneOrMore.prefault(fields.items).describe('JSON and XML: the items of an order.'),
  });
}

const NO_QUANTITY = { error: 'expected a number above zero' };

function defaultsOf({ state }: RecordKind) {
  return z.strictObject({
    orderState: z
      .literal(state, {
        error: `must be ${state}, the only state in which an order can be created (API part 3)`,
      })
      .prefault(state),
    articleCode: line.exactOptional(),
    quantity: z
      .union(
        [
          line.regex(/^[0-9]+([.,][0-9]+)?$/, NO_QUANTITY),
          z.number(NO_QUANTITY).positive(NO_QUANTITY).transform(String),
        ],
        NO_QUANTITY,
      )
      .exactOptional(),
  });
}

/** How the columns of a file become the fields of a record; `{}` means the names of the API (API part 2). */
export const mappingSchema = mappingSchemaOf(PURCHASE_ORDER);

function holdOrAllow(description: string) {
  return z.enum(['hold', 'allow']).prefault('hold').describe(description);
}

function byValue(description: string) {
  return z.record(line, skippedValues).prefault({}).describe(description);
}

/** Keys that say how a file is written. */
function formatKeys() {
  return {
    format: z
      .enum(['csv', 'json', 'ndjson', 'xlsx', 'xml', 'auto'])
      .prefault('auto')
      .describe('csv includes TSV.'),
    delimiter: delimiter.prefault('auto').describe('One character, tab, or auto.'),
    encoding: z
      .enum([...ENCODINGS, 'auto'])
      .prefault('auto')
      .describe('auto holds orders whose text depends on a guess.'),
    decimal: z
      .enum(['.', ',', 'auto'])
      .prefault('auto')
      .describe('auto reports 1,000 and 1.234 as ambiguous instead of guessing.'),
    quote: z
      .enum(['auto', '"', 'none'])
      .prefault('auto')
      .describe(
        'none: quotes are ordinary characters. " reads quoted fields without looking for stray quotes.',
      ),
    headerRow: z
      .union([z.literal('auto'), z.number().int(HEADER_LINE).min(1, HEADER_LINE)], HEADER_LINE)
      .prefault('auto')
      .describe('Tables only: the line of the header. Rows above it are skipped.'),
  };
}

/** Keys that name rows of a table by their text. */
function rowPatterns() {
  return {
    skipRows: z
      .array(pattern('^Total'))
      .prefault([])
      .describe(
        'Tables only: rows to leave out. Each pattern is applied to the values of a row, joined by a space.',
      ),
    lastRow: pattern('^END')
      .exactOptional()
      .describe(
        'Tables only: the row that ends each file; a file without it is unreadable. A pattern as in skipRows.',
      ),
  };
}

/** Keys that name columns and their values. */
function rulesByValue() {
  return {
    skipWhere: byValue(
      'Rows and orders to leave out: a column or key, and its values, compared exactly after trimming.',
    ),
    onlyWhere: byValue(
      'The opposite of skipWhere: rows and orders with any other value in the column or key are left out.',
    ),
    calledOff: byValue(
      'Columns or keys that say that a row or order is canceled, and the values that say so; any: every value except a no, never: none.',
    ),
  };
}

/** The mapping of files with records of a kind. */
export function mappingSchemaOf(kind: RecordKind) {
  return z.strictObject({
    ...formatKeys(),
    ...rowPatterns(),
    ...rulesByValue(),
    fillDown: z
      .boolean()
      .prefault(false)
      .describe(
        'Rows only: a blank order number repeats the one above (merged cells, grouped lists).',
      ),
    finalNewline: z
      .enum(['required', 'optional'])
      .prefault('required')
      .describe('optional: the program that writes the file leaves out the last line end.'),
    repeatedRows: holdOrAllow(
      'Rows only: allow sends rows of an order that are equal in every column as separate items.',
    ),
    totalRows: holdOrAllow(
      'Rows only: allow sends numbers and articles that read like a total, such as "Total" or "Summe".',
    ),
    otherReadings: holdOrAllow(
      'allow sends numbers and articles as they are written although they can be read otherwise, such as "A–1".',
    ),
    records: line
      .regex(/^[^.]+(?:\.[^.]+)*$/, {
        error: 'expected a path such as data.orders or data.*.orders',
      })
      .exactOptional()
      .describe(
        'JSON and XML: the path to the list of orders, such as data.orders; * for each element of an array.',
      ),
    sheet: line
      .exactOptional()
      .describe(
        'XLSX only: the name of the sheet; without it, the only visible sheet with data is read.',
      ),
    fields: fieldsOf(kind)
      .prefault({})
      .describe('The column of each field: one name, or several accepted names.'),
    defaults: defaultsOf(kind)
      .prefault({})
      .describe('Used where the file has no such column or the cell is empty.'),
    quantity: z
      .enum(['integer', 'number'])
      .prefault('integer')
      .describe('integer refuses fractions; number allows them.'),
  });
}

/** Keys that name other things in an item, such as its position. */
const GENERAL = new Set(['id', 'no', 'nr', 'number', 'name', 'key', 'code', 'state', 'status']);

const specific = new WeakMap<readonly string[], readonly string[]>();

/** The names of a field that an item has for nothing else. */
export function specificNames(names: readonly string[]): readonly string[] {
  const known = specific.get(names) ?? names.filter((name) => !GENERAL.has(name.toLowerCase()));
  specific.set(names, known);
  return known;
}

const readAs = new WeakMap<object, boolean>();

/** Whether a mapping reads the standard name of the order number, as whatever field. */
export function readsStandardNumber(fields: Readonly<Record<string, readonly string[]>>): boolean {
  const known = readAs.get(fields) ?? Object.values(fields).flat().some(isStandardNumber);
  readAs.set(fields, known);
  return known;
}

function isStandardNumber(name: string): boolean {
  return plainName(name) === plainName(PURCHASE_ORDER.fields.number);
}
