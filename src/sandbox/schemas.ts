import * as z from 'zod';

/** Longest order number and article code, in characters (code points). */
const TEXT_LIMIT = 256;
/** Counts code points, as JSON Schema does. */
const AT_MOST = new RegExp(`^.{0,${TEXT_LIMIT}}$`, 'su');
const text = z
  .string({ error: (issue) => saying(issue.input, 'must be a string') })
  .min(1, { error: 'must not be empty' })
  .refine((value) => !/\p{Cc}/u.test(value), { error: 'must not contain control characters' })
  .refine((value) => value.isWellFormed(), { error: 'must be well-formed Unicode' })
  .refine((value) => AT_MOST.test(value), {
    error: `must not be longer than ${TEXT_LIMIT} characters`,
  });

const item = z.object(
  {
    articleCode: text,
    quantity: z
      .number({ error: (issue) => saying(issue.input, 'must be a number') })
      .positive({ error: (issue) => saying(issue.input, 'must be greater than zero') })
      .max(Number.MAX_SAFE_INTEGER, {
        error: `must not be greater than ${Number.MAX_SAFE_INTEGER}`,
      }),
  },
  { error: (issue) => saying(issue.input, 'must be an object with articleCode and quantity') },
);

/** The body of POST /purchase-orders (API part 4), as docs/openapi.yaml describes it. */
export const purchaseOrderSchema = z.object(
  {
    purchaseOrderNumber: text,
    orderState: z.literal('NEW', { error: (issue) => saying(issue.input, 'must be "NEW"') }),
    items: z
      .array(item, { error: (issue) => saying(issue.input, 'must be an array of items') })
      .min(1, { error: 'must contain at least one item' }),
  },
  { error: (issue) => saying(issue.input, 'must be a JSON object') },
);

function saying(input: unknown, wanted: string): string {
  return input === undefined ? `is missing and ${wanted}` : `${wanted}, not ${shown(input)}`;
}

/** A short description of any value. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
