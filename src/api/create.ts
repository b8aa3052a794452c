import type { Http, HttpEnd } from '../core/http.ts';
import type { Order } from '../order/order.ts';
import { PURCHASE_ORDER, type RecordKind } from '../order/record-kind.ts';
import type { BearerToken } from './token.ts';
import { hideToken } from './token-secrecy.ts';

/** The address of one environment's API. Environment and address bind tokens to it; `timeout` in milliseconds. */
export type Endpoint = {
  environment: string;
  baseUrl: string;
  timeout: number;
  /** Absent: purchase orders. */
  kind?: RecordKind;
};

/**
 * POST of one record (docs/purchase-order-api.md part 4) with the headers of part 5. `prepare` decides, with the
 * connection open, whether the first byte is written. Throws only when the token belongs to another environment;
 * nothing is sent then.
 */
export async function createOrder(
  http: Http,
  endpoint: Endpoint,
  token: BearerToken,
  order: Order,
  prepare: () => Promise<boolean>,
): Promise<HttpEnd> {
  const { kind = PURCHASE_ORDER } = endpoint;
  const url = new URL(`${endpoint.baseUrl}${kind.path}`);
  const end = await http.call({
    method: 'POST',
    url,
    headers: apiHeaders(endpoint, token),
    body: kind.payload(order),
    timeout: endpoint.timeout,
    prepare,
  });
  return hideToken(end, token);
}

/** The headers that every request carries (API part 5, rule 4). */
export function apiHeaders(endpoint: Endpoint, token: BearerToken): Record<string, string> {
  if (token.environment !== endpoint.environment || token.baseUrl !== endpoint.baseUrl) {
    throw new Error(`a token of ${token.environment} was about to be sent to ${endpoint.environment}`);
  }
  return {
    authorization: `Bearer ${token.value}`,
    'content-type': 'application/json',
    accept: 'application/json',
  };
}
