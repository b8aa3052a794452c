import * as z from 'zod';
import type { Demand } from './faults/fault-file.ts';
import { type SandboxSettings, SCOPES } from './sandbox-options.ts';

/** Longest order number and article code, in characters (code points). */
const TEXT_LIMIT = 256;
/** Counts code points, as JSON Schema does. */
const AT_MOST = new RegExp(`^.{0,${TEXT_LIMIT}}$`, 'su');
/** Well-formed text without control characters: Cs is a surrogate that is not half of a pair. */
const PLAIN = '^[^\\p{Cc}\\p{Cs}]*$';

function text(description: string) {
  return (
    z
      .string({ error: (issue) => saying(issue.input, 'must be a string') })
      .min(1, { error: 'must not be empty' })
      .refine((value) => !/\p{Cc}/u.test(value), { error: 'must not contain control characters' })
      .refine((value) => value.isWellFormed(), { error: 'must be well-formed Unicode' })
      .refine((value) => AT_MOST.test(value), {
        error: `must not be longer than ${TEXT_LIMIT} characters`,
      })
      // One pattern: generated types become unreadable with several.
      .meta({ description, maxLength: TEXT_LIMIT, pattern: PLAIN })
  );
}

/** One line of a purchase order (API part 2). */
export const itemSchema = z
  .object(
    {
      articleCode: text('Code of the article ordered.'),
      quantity: z
        .number({ error: (issue) => saying(issue.input, 'must be a number') })
        .positive({ error: (issue) => saying(issue.input, 'must be greater than zero') })
        .max(Number.MAX_SAFE_INTEGER, {
          error: `must not be greater than ${Number.MAX_SAFE_INTEGER}`,
        })
        .meta({ description: 'Quantity ordered; usually an integer.', examples: [12] }),
    },
    { error: (issue) => saying(issue.input, 'must be an object with articleCode and quantity') },
  )
  .meta({ description: 'One line of a purchase order.' });

/** The body of POST /purchase-orders (API part 4). */
export const purchaseOrderSchema = z
  .object(
    {
      purchaseOrderNumber: text('Order number, chosen by the client.'),
      orderState: z
        .literal('NEW', { error: (issue) => saying(issue.input, 'must be "NEW"') })
        .meta({ description: 'State of the order; NEW is the only specified state.' }),
      items: z
        .array(itemSchema, { error: (issue) => saying(issue.input, 'must be an array of items') })
        .min(1, { error: 'must contain at least one item' })
        .meta({ description: 'Lines of the order.' }),
    },
    { error: (issue) => saying(issue.input, 'must be a JSON object') },
  )
  .meta({ description: 'The body of a creation.' });

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

/** The order in the answer to a creation (API part 2). */
export const createdOrder = purchaseOrderSchema
  .pick({ purchaseOrderNumber: true, orderState: true })
  .meta({ description: 'The created order.' });

/** A purchase order in the list. */
export function listedOrder({ listItems }: Pick<SandboxSettings, 'listItems'>) {
  return (listItems ? purchaseOrderSchema : createdOrder).meta({
    description: 'A purchase order.',
  });
}

/** The answer to POST /purchase-orders (API part 4). */
export const createdEnvelope = success(createdOrder);

/** The field of the list's wrapper object. */
export const LIST_KEY = 'purchaseOrders';

/** The answer to GET /purchase-orders in one of its shapes. */
export function listEnvelope(order: z.ZodType, { listShape }: Pick<SandboxSettings, 'listShape'>) {
  const orders = z.array(order);
  return success(listShape === 'array' ? orders : z.object({ [LIST_KEY]: orders }));
}

/** The answer to every failed API call (API part 7). */
export const errorEnvelope = z.object({
  status: z.literal('error'),
  error: z.object({
    code: z
      .int()
      .meta({ description: 'Equal to the HTTP status; 400 for invalid request parameters.' }),
    message: z.string().min(1).meta({
      description: 'Human-readable text that names each invalid parameter and the reason.',
    }),
  }),
});

/** The form of the token request (API part 5). */
export function tokenRequest(clientAuth: Demand['clientAuth']) {
  const required = z.string().min(1);
  // Where both are accepted, the document keeps what the specification requires.
  const credential = clientAuth === 'basic' ? required.optional() : required;
  return z.object({
    grant_type: z.literal('client_credentials'),
    client_id: credential,
    client_secret: credential,
    scope: z
      .string()
      .optional()
      .meta({ description: `Space-separated scope names: ${SCOPES.join(', ')}.` }),
  });
}

/** The token response (API part 5). */
export const tokenAnswer = z.object({
  access_token: z.string().min(1),
  expires_in: z.int().positive().meta({ description: 'Seconds of validity.' }),
  token_type: z.literal('Bearer'),
});

/** A refusal of the token endpoint (RFC 6749 section 5.2). */
export const tokenError = z.object({
  error: z.enum([
    'invalid_request',
    'invalid_client',
    'unsupported_grant_type',
    'invalid_scope',
    'invalid_target',
    'server_error',
    'temporarily_unavailable',
  ]),
  error_description: z.string().optional(),
});

function success(data: z.ZodType) {
  return z.object({ status: z.literal('success'), data, error: z.null() });
}
