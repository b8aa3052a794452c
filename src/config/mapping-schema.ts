import { z } from 'zod';
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

const SEPARATOR = 'expected auto, or one character such as "," ";" "|" or "\\t"';

const delimiter = z
  .string({ error: SEPARATOR })
  .regex(/^(auto|tab|[^\p{L}\p{N}"'\\\r\n])$/u, { error: SEPARATOR })
  .transform((text) => (text === 'tab' ? '\t' : text));

const fields = z.strictObject({
  purchaseOrderNumber: oneOrMore.prefault('purchaseOrderNumber'),
  orderState: oneOrMore.prefault('orderState'),
  articleCode: oneOrMore.prefault('articleCode'),
  quantity: oneOrMore.prefault('quantity'),
  items: oneOrMore.prefault('items').describe('JSON only: the list of lines within an order.'),
});

const NO_QUANTITY = { error: 'expected a number above zero' };

const defaults = z.strictObject({
  orderState: z
    .literal('NEW', { error: 'must be NEW, the only state in which an order can be created (spec part 3)' })
    .prefault('NEW'),
  articleCode: line.exactOptional(),
  quantity: z
    .union(
      [line.regex(/^[0-9]+([.,][0-9]+)?$/, NO_QUANTITY), z.number(NO_QUANTITY).positive(NO_QUANTITY).transform(String)],
      NO_QUANTITY,
    )
    .exactOptional(),
});

/** How the columns of a file become the fields of an order; `{}` is the specification's own names (spec part 2). */
export const mappingSchema = z.strictObject({
  format: z.enum(['csv', 'json', 'ndjson', 'xlsx', 'auto']).prefault('auto').describe('csv stands for TSV too.'),
  delimiter: delimiter.prefault('auto').describe('One character, tab, or auto.'),
  encoding: z
    .enum(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-1', 'auto'])
    .prefault('auto')
    .describe('How the letters are written as bytes.'),
  decimal: z
    .enum(['.', ',', 'auto'])
    .prefault('auto')
    .describe('auto tells 1,000 and 1.234 as ambiguous instead of guessing.'),
  sheet: line.exactOptional().describe('XLSX only: the name of the sheet; without it the first is read.'),
  fields: fields.prefault({}).describe('The column of each field: one name, or several accepted names.'),
  defaults: defaults.prefault({}).describe('Used where the file has no such column or the cell is empty.'),
  quantity: z
    .enum(['integer', 'number'])
    .prefault('integer')
    .describe('integer refuses fractions; number allows them.'),
});
