import * as z from 'zod';

/** Longest order number and article code; see docs/decisions/purchase-order-fields.md. */
const LONGEST = 256;
// Counts as JSON Schema does: a character outside the basic plane is one.
const AT_MOST = new RegExp(`^.{0,${LONGEST}}$`, 'su');

const text = (name: string) =>
  z
    .string({ error: (issue) => saying(issue.input, 'must be a string') })
    .min(1, { error: 'must not be empty' })
    .regex(/^\P{Cc}*$/u, { error: 'must not contain control characters' })
    .refine((value) => AT_MOST.test(value), { error: `must not be longer than ${LONGEST} characters` })
    .refine((value) => value.isWellFormed(), { error: 'must be well-formed Unicode' })
    .meta({ description: name, maxLength: LONGEST });

/** One line of a purchase order (spec part 2). */
export const itemSchema = z
  .object(
    {
      articleCode: text('Code of the article ordered.'),
      quantity: z
        .number({ error: (issue) => saying(issue.input, 'must be a number') })
        .positive({ error: (issue) => saying(issue.input, 'must be above zero') })
        .max(Number.MAX_SAFE_INTEGER, { error: `must not be above ${Number.MAX_SAFE_INTEGER}` })
        .meta({ description: 'Quantity ordered; integers in use.' }),
    },
    { error: (issue) => saying(issue.input, 'must be an object with articleCode and quantity') },
  )
  .meta({ description: 'One line of a purchase order.' });

/** The body of POST /purchase-orders (spec part 4). */
export const purchaseOrderSchema = z
  .object(
    {
      purchaseOrderNumber: text('Order number, given by the client.'),
      orderState: z
        .literal('NEW', { error: (issue) => saying(issue.input, 'must be "NEW"') })
        .meta({ description: 'State of the order; NEW is the only one specified.' }),
      items: z
        .array(itemSchema, { error: (issue) => saying(issue.input, 'must be an array of items') })
        .min(1, { error: 'must hold at least one item' })
        .meta({ description: 'Lines of the order.' }),
    },
    { error: (issue) => saying(issue.input, 'must be a JSON object') },
  )
  .meta({ description: 'A purchase order as it is created.' });

function saying(input: unknown, wanted: string): string {
  return input === undefined ? `is missing and ${wanted}` : `${wanted}, not ${shown(input)}`;
}

/** A value of any depth in a few words. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
