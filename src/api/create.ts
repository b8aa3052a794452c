import type { Http, HttpEnd } from '../core/http.ts';
import type { Order } from '../order/order.ts';
import { hideToken } from './hide-token.ts';
import type { BearerToken } from './token.ts';

/** The API of one environment. `origin` binds tokens to it. */
export type Partner = { environment: string; baseUrl: string; timeout: number };

/**
 * POST /purchase-orders (spec part 4) with the headers of spec part 5.
 * Throws only when the token belongs elsewhere, which would be a bug of ours: nothing is sent then.
 */
export async function createOrder(
  http: Http,
  partner: Partner,
  token: BearerToken,
  order: Order,
  mayWrite: () => boolean,
): Promise<HttpEnd> {
  const url = new URL(`${partner.baseUrl}/purchase-orders`);
  const end = await http.call({
    method: 'POST',
    url,
    headers: apiHeaders(partner, token),
    body: payloadOf(order),
    timeout: partner.timeout,
    mayWrite,
  });
  return hideToken(end, token);
}

/** Exactly the fields of spec part 4, in that order. */
function payloadOf({ purchaseOrderNumber, orderState, items }: Order): string {
  return JSON.stringify({
    purchaseOrderNumber,
    orderState,
    items: items.map(({ articleCode, quantity }) => ({ articleCode, quantity })),
  });
}

/** The headers that every request carries (spec part 5, rule 4). */
export function apiHeaders(partner: Partner, token: BearerToken): Record<string, string> {
  if (token.environment !== partner.environment || token.baseUrl !== partner.baseUrl) {
    throw new Error(`a token of ${token.environment} was about to be sent to ${partner.environment}`);
  }
  return {
    authorization: `Bearer ${token.value}`,
    'content-type': 'application/json',
    accept: 'application/json',
  };
}
