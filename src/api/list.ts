import { reasonOf } from '../core/errors.ts';
import type { Http, HttpEnd } from '../core/http.ts';
import { ORDERS_PATH, type ShownOrder } from '../order/order.ts';
import { plainWords, readEnvelope, type Said } from './classify.ts';
import { apiHeaders, type Endpoint, hiderFor, secretsOf } from './create.ts';
import { ListReader } from './list-reader.ts';
import type { BearerToken } from './token.ts';
import { withoutSecrets } from './token-secrecy.ts';

/**
 * Paging parameters, which the specification announces (part 8). Only the proof of completeness
 * sends them; every other read asks for the list as the specification has it.
 */
export type ListQuery = { limit?: number; offset?: number };

/** Reads the API's list once; each order it shows is passed on before it is known how it ends. */
export type ReadList = (
  onOrder: (order: ListedOrder) => void,
  query?: ListQuery,
) => Promise<ListEnd>;

/** An order as the list shows it; `items` is absent where the list leaves them out. */
export type ListedOrder = ShownOrder;

/**
 * How reading the list ended. Only `complete` can prove that an order is absent.
 * `unavailable`: this API does not offer its list; `failed`: it could not be read or understood this time.
 */
export type ListEnd =
  | { kind: 'complete'; orders: number }
  | { kind: 'unavailable'; said: Said }
  | { kind: 'unauthorized'; said: Said }
  | { kind: 'failed'; said: Said };

const NO_LIST = new Set([403, 404, 405, 501]);
const LONGEST = 10 * 60_000;
/** Milliseconds without a byte after which the call is aborted. */
const IDLE = 30_000;

/**
 * GET of all records (docs/purchase-order-api.md part 4), read as a stream. A number that the list contains twice is passed
 * to `onOrder` twice. Orders are passed on before it is known that the list is complete.
 */
export async function listOrders(
  http: Http,
  endpoint: Endpoint,
  token: BearerToken,
  onOrder: (order: ListedOrder) => void,
  { idle = IDLE, query = {} }: { idle?: number; query?: ListQuery } = {},
): Promise<ListEnd> {
  // An order whose number contains the value of a header, such as the number of a company, must not be missing.
  const reader = new ListReader(withoutSecrets(onOrder, secretsOf(endpoint, token)));
  const end = await http.call({
    method: 'GET',
    url: listUrl(`${endpoint.baseUrl}${ORDERS_PATH}`, query),
    headers: apiHeaders(endpoint, token),
    timeout: LONGEST,
    idleTimeout: idle,
    onData: (chunk) => reader.write(chunk),
  });
  return judge(end, hiderFor(endpoint, token), () => reader.finish());
}

function listUrl(address: string, query: ListQuery): URL {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  return url;
}

function judge(
  end: HttpEnd,
  hide: (text: string) => string,
  finish: () => number | undefined,
): ListEnd {
  if (end.kind !== 'answered')
    return { kind: 'failed', said: { code: 'no-answer', message: reasonOf(end.error) } };
  const { status, body } = end.answer;
  if (status === 200) {
    const orders = finish();
    return orders === undefined ? { kind: 'failed', said: notAList } : { kind: 'complete', orders };
  }
  const envelope = readEnvelope(body);
  const message =
    envelope.kind === 'error'
      ? plainWords(hide(envelope.message), 1000)
      : `the list answers HTTP ${status}`;
  const code = envelope.kind === 'error' ? hide(String(envelope.code)) : `http-${status}`;
  const said = { httpStatus: status, code, message };
  if (status === 401) return { kind: 'unauthorized', said };
  return NO_LIST.has(status) ? { kind: 'unavailable', said } : { kind: 'failed', said };
}

/** What to do about a list that is `unavailable`. */
export function listRemedy({ httpStatus }: Pick<Said, 'httpStatus'>): string {
  const first =
    httpStatus === 403
      ? 'Check that the credentials have the scope read, then baseUrl.'
      : 'Check baseUrl, and that the credentials have the scope read.';
  return `${first} If the API has no list, set list: none for this environment.`;
}

const notAList: Said = {
  httpStatus: 200,
  code: 'no-list',
  message: 'the answer is not a complete list in the envelope',
};
