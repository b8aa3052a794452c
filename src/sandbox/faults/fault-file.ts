import { validateHeaderName, validateHeaderValue } from 'node:http';
import * as z from 'zod';
import { LIST_MODES, listModeOf } from '../list-mode.ts';
import { duration, durationWithUnit, ordinals, share, span, textOrNumber } from './values.ts';

/** Selects the calls that a fault affects; without selectors, every call of its operation. */
const selectors = {
  /** The share of calls affected: 0.3 or 30%. Depends only on seed, order number and attempt. */
  share: share.default(1),
  /** The share selects orders, not attempts; a call without an order number stays affected once it was. */
  sticky: z.boolean().optional(),
  /** Only between these times since startup. */
  from: duration.default(0),
  until: duration.optional(),
  /** Only these calls of the operation, counted from 1: 3, 1-5, 10- . */
  calls: ordinals.optional(),
  /** Only these attempts of one order number, counted from 1. */
  attempts: ordinals.optional(),
  /** Only these order numbers; a trailing * matches any rest. */
  orders: z.array(z.string()).min(1).optional(),
  /** Only creations of orders that contain one of these articles. */
  articles: z.array(z.string()).min(1).optional(),
};
const on = z.enum(['create', 'list', 'token', 'any']).default('create');
const when = z.enum(['before', 'after']).default('before');

/** YAML reads `10` as a number. */
const headerValue = textOrNumber('must be a header value')
  .transform(String)
  .refine((value) => isValid(() => validateHeaderValue('x', value)), {
    error: 'must be a header value',
  });
const headerName = z.string().refine((name) => isValid(() => validateHeaderName(name)), {
  error: 'must be the name of a header',
});
const headers = z.record(headerName, headerValue);

const fault = z.discriminatedUnion('kind', [
  /** Delays the call; `by` is a duration, or a range like 50ms..2s. */
  z.strictObject({ kind: z.literal('delay'), on, when, by: span, ...selectors }),
  /** Replaces the answer, before or after the work is done. */
  z.strictObject({
    kind: z.literal('answer'),
    on,
    when,
    status: z.int().min(200).max(999),
    /** error.code of the envelope; default: the status if 400 or above, else 400. */
    code: z.int().optional(),
    message: z.string().optional(),
    /** `error` of the token endpoint's format; the default depends on the status. */
    error: z.string().optional(),
    /** Default: the format of the endpoint, which is `oauth` for `token`. */
    body: z.enum(['envelope', 'oauth', 'html', 'empty']).optional(),
    /** Any body instead, and headers that are added or replaced; the type of a free body is text/plain without one. */
    text: z.string().optional(),
    headers: headers.optional(),
    retryAfter: durationWithUnit.optional(),
    retryAfterForm: z.enum(['seconds', 'date']).default('seconds'),
    ...selectors,
  }),
  /** Ends the connection without an answer, by FIN or RST. */
  z.strictObject({
    kind: z.literal('drop'),
    on,
    when,
    how: z.enum(['close', 'reset']).default('close'),
    ...selectors,
  }),
  /** Ends the connection without an answer and does the work `by` later. */
  z.strictObject({
    kind: z.literal('late'),
    on,
    by: span,
    how: z.enum(['close', 'reset']).default('close'),
    ...selectors,
  }),
  /** Cuts the answer off in the middle. */
  z.strictObject({ kind: z.literal('cut'), on, ...selectors }),
  /** Revokes the call's token and refuses the call with 401; on `token` refuses the secret. */
  z.strictObject({
    kind: z.literal('revoke'),
    on: z.enum(['create', 'list', 'token', 'any']).default('create'),
    ...selectors,
  }),
  /** Simulates a bug in the service, which must still answer with an envelope. */
  z.strictObject({ kind: z.literal('crash'), on, when, ...selectors }),
  /** Changes what the list shows: a list mode, such as newest:15. */
  z.strictObject({
    kind: z.literal('list'),
    on: z.literal('list').default('list'),
    show: z
      .string()
      .refine((text) => listModeOf(text) !== undefined, { error: `must be ${LIST_MODES}` }),
    ...selectors,
  }),
  /** Stops listening: refuses connections and closes open ones. */
  z.strictObject({
    kind: z.literal('outage'),
    address: z.enum(['all', 'api', 'auth']).default('all'),
    from: duration,
    until: duration,
  }),
]);

/** The selectors that only calls with an order number can match. */
const OF_ORDERS = ['attempts', 'orders', 'articles'] as const;

/** A fault that could never affect a call is a mistake. */
const effectiveFault = fault.superRefine((one, { issues }) => {
  const refuse = (key: string, message: string) =>
    issues.push({ code: 'custom', input: one, path: [key], message });
  if (one.until !== undefined && one.until <= one.from) refuse('until', 'must be later than from');
  if (one.kind === 'outage' || one.on === 'create' || one.on === 'any') return;
  for (const key of OF_ORDERS)
    if (one[key] !== undefined) refuse(key, 'only `create` calls have an order number');
});

/** What an environment demands beyond the specification; a call without it is refused. */
const demand = z.strictObject({
  /** Headers of every API call, with their values: 403. */
  headers: headers.optional(),
  /** Where the token endpoint accepts credentials; without it in the form (API part 5) and in a Basic header (RFC 6749). */
  clientAuth: z.enum(['form', 'basic']).optional(),
  /** Parameters of the token request: 400 `invalid_target`. */
  audience: z.string().min(1).optional(),
  resource: z.string().min(1).optional(),
  /** A header of every creation: 400. A key has one answer for so long. */
  idempotencyKey: z
    .strictObject({ header: headerName.default('Idempotency-Key'), valid: duration })
    .optional(),
});
export type Demand = z.infer<typeof demand>;

/** The schema of fault files; config/rehearsals/ contains examples. */
export const faultFile = z.strictObject({
  /** The same seed affects the same attempts of the same orders. */
  seed: z.int().default(1),
  tokenLifetime: z.int().min(1).optional(),
  listShape: z.enum(['array', 'object']).optional(),
  listItems: z.boolean().optional(),
  demand: demand.optional(),
  faults: z.array(effectiveFault).default([]),
});

export type FaultFile = z.infer<typeof faultFile>;
/** A fault file before defaults are applied. */
export type FaultFileInput = z.input<typeof faultFile>;
export type Fault = FaultFile['faults'][number];
export type FaultKind = Fault['kind'];

function isValid(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}
