import * as z from 'zod';
import { type SandboxSettings, SCOPES, TEXT_LIMIT } from './sandbox-options.ts';

/** What an environment may decide about the fields of an order; see docs/decisions/. */
export type OrderRules = Pick<
  SandboxSettings,
  'textLimit' | 'blankText' | 'unknownFields' | 'quantity'
>;

/** Well-formed text without control characters: Cs is a surrogate that is not half of a pair. */
const PLAIN = '[^\\p{Cc}\\p{Cs}]*$';

function text(name: string, { textLimit, blankText }: OrderRules) {
  // Counts code points, as JSON Schema does.
  const atMost = new RegExp(`^.{0,${textLimit}}$`, 'su');
  return (
    z
      .string({ error: (issue) => saying(issue.input, 'must be a string') })
      .min(1, { error: 'must not be empty' })
      .refine((value) => !/\p{Cc}/u.test(value), { error: 'must not contain control characters' })
      .refine((value) => value.isWellFormed(), { error: 'must be well-formed Unicode' })
      .refine((value) => atMost.test(value), {
        error: `must not be longer than ${textLimit} characters`,
      })
      .refine((value) => blankText === 'accept' || /\S/.test(value), { error: 'must not be blank' })
      // One pattern: generated types become unreadable with several.
      .meta({
        description: name,
        maxLength: textLimit,
        pattern: blankText === 'accept' ? `^${PLAIN}` : `^(?=[^]*\\S)${PLAIN}`,
      })
  );
}

function amount(kind: OrderRules['quantity']) {
  const any = z
    .number({ error: (issue) => saying(issue.input, 'must be a number') })
    .positive({ error: (issue) => saying(issue.input, 'must be greater than zero') })
    .max(Number.MAX_SAFE_INTEGER, { error: `must not be greater than ${Number.MAX_SAFE_INTEGER}` });
  const checked =
    kind === 'number'
      ? any
      : any.int({ error: (issue) => saying(issue.input, 'must be an integer') });
  return checked.meta({ description: 'Quantity ordered; usually an integer.', examples: [12] });
}

/** One line of a purchase order (API part 2). */
function itemWith(rules: OrderRules) {
  const made = z.object(
    { articleCode: text('Code of the article ordered.', rules), quantity: amount(rules.quantity) },
    { error: (issue) => unknownOr(issue, 'must be an object with articleCode and quantity') },
  );
  return (rules.unknownFields === 'refuse' ? made.strict() : made).meta({
    description: 'One line of a purchase order.',
  });
}

/** The body of POST /purchase-orders (API part 4), and one of its items. */
export function orderSchemas(rules: OrderRules) {
  const item = itemWith(rules);
  const made = z.object(
    {
      purchaseOrderNumber: text('Order number, chosen by the client.', rules),
      orderState: z
        .literal('NEW', { error: (issue) => saying(issue.input, 'must be "NEW"') })
        .meta({ description: 'State of the order; NEW is the only specified state.' }),
      items: z
        .array(item, { error: (issue) => saying(issue.input, 'must be an array of items') })
        .min(1, { error: 'must contain at least one item' })
        .meta({ description: 'Lines of the order.' }),
    },
    { error: (issue) => unknownOr(issue, 'must be a JSON object') },
  );
  const order = (rules.unknownFields === 'refuse' ? made.strict() : made).meta({
    description: 'The body of a creation.',
  });
  return { item, order };
}

/** The schemas with the default rules. */
export const { item: itemSchema, order: purchaseOrderSchema } = orderSchemas({
  textLimit: TEXT_LIMIT,
  blankText: 'accept',
  unknownFields: 'ignore',
  quantity: 'number',
});

function unknownOr(
  issue: { code?: string | undefined; input?: unknown; keys?: unknown },
  wanted: string,
): string {
  if (issue.code !== 'unrecognized_keys' || !Array.isArray(issue.keys))
    return saying(issue.input, wanted);
  return `must not contain the unknown field ${issue.keys.map((key) => JSON.stringify(String(key).slice(0, 60))).join(', ')}`;
}

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
export function listedOrder({
  listItems,
  listedState,
}: Pick<SandboxSettings, 'listItems' | 'listedState'>) {
  const order = listItems ? purchaseOrderSchema : createdOrder;
  const shown =
    listedState === 'NEW' ? order : order.extend({ orderState: z.literal(listedState) });
  return shown.meta({ description: 'A purchase order.' });
}

/** The answer to POST /purchase-orders (API part 4). */
export const createdEnvelope = success(createdOrder);

/** The answer to GET /purchase-orders in one of its shapes. */
export function listEnvelope(
  order: z.ZodType,
  { listShape, listKey }: Pick<SandboxSettings, 'listShape' | 'listKey'>,
) {
  const orders = z.array(order);
  return success(listShape === 'array' ? orders : z.object({ [listKey]: orders }));
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
export function tokenRequest(clientAuth: SandboxSettings['clientAuth']) {
  const required = z.string().min(1);
  // With `both`, the document keeps what the specification requires.
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
    'server_error',
    'temporarily_unavailable',
  ]),
  error_description: z.string().optional(),
});

function success(data: z.ZodType) {
  return z.object({ status: z.literal('success'), data, error: z.null() });
}
