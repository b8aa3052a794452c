import * as z from 'zod';
import { purchaseOrderSchema } from './contract.ts';
import { SCOPES } from './sandbox-options.ts';

/** What a creation returns of an order (spec part 2). */
export const createdOrder = purchaseOrderSchema
  .pick({ purchaseOrderNumber: true, orderState: true })
  .meta({ description: 'What a creation returns of the order.' });

/** A purchase order as the list shows it, with its items or without. */
export const listedOrder = (withItems: boolean) =>
  (withItems ? purchaseOrderSchema : createdOrder).meta({ description: 'A purchase order as it was created.' });

/** The answer to POST /purchase-orders (spec part 4). */
export const createdEnvelope = success(createdOrder);

/** The answer to GET /purchase-orders in the shape that a sandbox was set to. */
export function listEnvelope(order: z.ZodType, shape: 'array' | 'object') {
  const orders = z.array(order);
  return success(shape === 'array' ? orders : z.object({ purchaseOrders: orders }));
}

/** Every failure of the API (spec part 7). */
export const errorEnvelope = z.object({
  status: z.literal('error'),
  error: z.object({
    code: z.int().meta({ description: 'Equal to the HTTP status; 400 for invalid request parameters.' }),
    message: z.string().min(1).meta({ description: 'Human-readable text; says which parameter is invalid and why.' }),
  }),
});

/** The form of the token request (spec part 5). */
export const tokenRequest = z.object({
  grant_type: z.literal('client_credentials'),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  scope: z
    .string()
    .optional()
    .meta({ description: `Space-separated scope names: ${SCOPES.join(', ')}.` }),
});

/** The token response (spec part 5). */
export const tokenAnswer = z.object({
  access_token: z.string().min(1),
  expires_in: z.int().positive().meta({ description: 'Seconds of validity.' }),
  token_type: z.literal('Bearer'),
});

/** A refusal of the token endpoint (RFC 6749 part 5.2). */
export const tokenError = z.object({
  error: z.enum(['invalid_request', 'invalid_client', 'unsupported_grant_type', 'invalid_scope']),
  error_description: z.string().optional(),
});

function success(data: z.ZodType) {
  return z.object({ status: z.literal('success'), data, error: z.null() });
}
