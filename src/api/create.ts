import type { ApiHeaders } from '../config/secrets.ts';
import type { Clock } from '../core/clock.ts';
import type { Http } from '../core/http.ts';
import { ORDERS_PATH, type Order, payloadOf } from '../order/order.ts';
import { classify, type Reading, type Seen } from './classify.ts';
import type { BearerToken } from './token.ts';
import { hiderOf } from './token-secrecy.ts';

/** The address of one environment's API. Environment and address bind tokens to it; `timeout` in milliseconds. */
export type Endpoint = {
  environment: string;
  baseUrl: string;
  timeout: number;
  /** What the partner knows and nobody else may: answers are searched for it, and for the token. */
  secrets?: readonly string[];
  headers?: ApiHeaders;
} & Omit<Reading, 'hide'>;

/** POST of one order; see `createOrders`. `more`: headers of this attempt. */
export type CreateOrder = (
  token: BearerToken,
  order: Order,
  prepare: () => Promise<boolean>,
  more?: Readonly<Record<string, string>>,
) => Promise<Seen>;

/**
 * POST of orders (docs/purchase-order-api.md part 4) with the headers of part 5; what it showed. `prepare` decides, with
 * the connection open, whether the first byte is written. Throws only when the token belongs to another environment;
 * nothing is sent then.
 */
export function createOrders(
  http: Http,
  endpoint: Endpoint,
  clock: Pick<Clock, 'now'>,
): CreateOrder {
  const { timeout } = endpoint;
  const url = new URL(`${endpoint.baseUrl}${ORDERS_PATH}`);
  let last: { token: BearerToken; headers: Record<string, string>; reading: Reading } | undefined;

  /** Built once for each token. */
  function partsFor(token: BearerToken): NonNullable<typeof last> {
    if (last === undefined || !isSame(last.token, token)) {
      const reading = { ...endpoint, hide: hiderFor(endpoint, token) };
      last = { token, headers: apiHeaders(endpoint, token), reading };
    }
    return last;
  }

  return async (token, order, prepare, more) => {
    const { headers, reading } = partsFor(token);
    const body = payloadOf(order);
    const call = { method: 'POST', url, body, timeout, prepare } as const;
    const end = await http.call({ ...call, headers: { ...headers, ...more } });
    return classify(end, order.purchaseOrderNumber, new Date(clock.now()), reading);
  };
}

/** What no answer to a call may show, besides the values of `headers`. */
export function secretsOf({ secrets = [] }: Endpoint, token: BearerToken): readonly string[] {
  return [token.value, ...secrets];
}

/** Removes all that from a text. */
export function hiderFor(endpoint: Endpoint, token: BearerToken): (text: string) => string {
  const values = endpoint.headers?.hidden.map((secret) => secret.reveal()) ?? [];
  return hiderOf([...secretsOf(endpoint, token), ...values]);
}

function isSame(one: BearerToken, other: BearerToken): boolean {
  return (
    one.value === other.value &&
    one.environment === other.environment &&
    one.baseUrl === other.baseUrl
  );
}

/** The headers that every request carries (API part 5, rule 4), and those of the configuration. */
export function apiHeaders(endpoint: Endpoint, token: BearerToken): Record<string, string> {
  if (token.environment !== endpoint.environment || token.baseUrl !== endpoint.baseUrl) {
    throw new Error(
      `a token of ${token.environment} was about to be sent to ${endpoint.environment}`,
    );
  }
  const more = [...(endpoint.headers?.sent ?? [])].map(([name, value]) => [name, value.reveal()]);
  return {
    ...Object.fromEntries(more),
    authorization: `Bearer ${token.value}`,
    'content-type': 'application/json',
    accept: 'application/json',
  };
}
