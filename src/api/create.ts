import type { Http, HttpEnd } from '../core/http.ts';
import type { AttemptTrace } from '../log/tracer.ts';
import type { Order } from '../order/order.ts';
import { PURCHASE_ORDER, type RecordKind } from '../order/record-kind.ts';
import type { BearerToken } from './token.ts';
import { hideSecrets } from './token-secrecy.ts';

/** The address of one environment's API. Environment and address bind tokens to it; `timeout` in milliseconds. */
export type Endpoint = {
  environment: string;
  baseUrl: string;
  timeout: number;
  /** What the partner knows and nobody else may: answers are searched for it, and for the token. */
  secrets?: readonly string[];
  /** Absent: purchase orders. */
  kind?: RecordKind;
};

/** POST of one order; see `createOrders`. */
export type CreateOrder = (
  token: BearerToken,
  order: Order,
  prepare: () => Promise<boolean>,
  trace?: Pick<AttemptTrace, 'headers' | 'request'>,
) => Promise<HttpEnd>;

/**
 * POST of records (docs/purchase-order-api.md part 4) with the headers of part 5. `prepare` decides, with the
 * connection open, whether the first byte is written. Throws only when the token belongs to another environment;
 * nothing is sent then.
 */
export function createOrders(http: Http, endpoint: Endpoint): CreateOrder {
  const { kind = PURCHASE_ORDER, timeout } = endpoint;
  const url = new URL(`${endpoint.baseUrl}${kind.path}`);
  let last: { token: BearerToken; headers: Record<string, string> } | undefined;

  /** Built once for each token. */
  function headersFor(token: BearerToken): Record<string, string> {
    if (last === undefined || !isSame(last.token, token))
      last = { token, headers: apiHeaders(endpoint, token) };
    return last.headers;
  }

  return async (token, order, prepare, trace) => {
    const headers =
      trace === undefined ? headersFor(token) : { ...headersFor(token), ...trace.headers };
    const traced = trace === undefined ? {} : { onEnd: trace.request };
    const end = await http.call({
      method: 'POST',
      url,
      headers,
      body: kind.payload(order),
      timeout,
      prepare,
      ...traced,
    });
    return hideSecrets(end, secretsOf(endpoint, token));
  };
}

/** What no answer to a call may show. */
export function secretsOf({ secrets = [] }: Endpoint, token: BearerToken): readonly string[] {
  return [token.value, ...secrets];
}

function isSame(one: BearerToken, other: BearerToken): boolean {
  return (
    one.value === other.value &&
    one.environment === other.environment &&
    one.baseUrl === other.baseUrl
  );
}

/** The headers that every request carries (API part 5, rule 4). */
export function apiHeaders(endpoint: Endpoint, token: BearerToken): Record<string, string> {
  if (token.environment !== endpoint.environment || token.baseUrl !== endpoint.baseUrl) {
    throw new Error(
      `a token of ${token.environment} was about to be sent to ${endpoint.environment}`,
    );
  }
  return {
    authorization: `Bearer ${token.value}`,
    'content-type': 'application/json',
    accept: 'application/json',
  };
}
