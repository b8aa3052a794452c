import { JSONParser, type ParsedElementInfo } from '@streamparser/json';
import type { Http, HttpEnd } from '../core/http.ts';
import { PURCHASE_ORDER } from '../order/purchase-order.ts';
import type { RecordKind, ShownRecord } from '../order/record-kind.ts';
import { reasonOf, type Said } from './classify.ts';
import { apiHeaders, type Endpoint } from './create.ts';
import { isRecord, readEnvelope } from './envelope.ts';
import { hideToken } from './hide-token.ts';
import type { BearerToken } from './token.ts';

/** An order as the list shows it; `items` is absent where the list leaves them out. */
export type ListedOrder = ShownRecord;

/**
 * How reading the list ended. Only `complete` can prove that an order is absent.
 * `unavailable`: this API does not give us its list; `failed`: not this time.
 */
export type ListEnd =
  | { kind: 'complete'; orders: number }
  | { kind: 'unavailable'; said: Said }
  | { kind: 'unauthorized'; said: Said }
  | { kind: 'failed'; said: Said };

const NO_LIST = new Set([403, 404, 405, 501]);
const LONGEST = 10 * 60_000;

/**
 * GET of all records (API part 4), read as a stream: memory does not grow with the list. Takes both shapes that the
 * specification leaves open: an array as `data`, or an object in `data` that holds the array.
 */
export async function listOrders(
  http: Http,
  endpoint: Endpoint,
  token: BearerToken,
  onOrder: (order: ListedOrder) => void,
): Promise<ListEnd> {
  const { kind = PURCHASE_ORDER } = endpoint;
  const reader = listReader(kind, onOrder);
  const end = await http.call({
    method: 'GET',
    url: new URL(`${endpoint.baseUrl}${kind.path}`),
    headers: apiHeaders(endpoint, token),
    timeout: LONGEST,
    onData: (chunk) => reader.write(chunk),
  });
  return judge(hideToken(end, token), () => reader.finish());
}

function judge(end: HttpEnd, finish: () => number | undefined): ListEnd {
  if (end.kind !== 'answered') return { kind: 'failed', said: { code: 'no-answer', message: reasonOf(end.error) } };
  const { status, body } = end.answer;
  if (status === 200) {
    const orders = finish();
    return orders === undefined ? { kind: 'failed', said: notAList } : { kind: 'complete', orders };
  }
  const envelope = readEnvelope(body);
  const message = envelope.kind === 'error' ? envelope.message : `the list answers HTTP ${status}`;
  const said = { httpStatus: status, code: `http-${status}`, message };
  if (status === 401) return { kind: 'unauthorized', said };
  return NO_LIST.has(status) ? { kind: 'unavailable', said } : { kind: 'failed', said };
}

const notAList: Said = {
  httpStatus: 200,
  code: 'no-list',
  message: 'the answer is not a complete list in the envelope',
};

/** Reads the envelope piece by piece. `finish` gives the number of orders, or undefined when it was no whole list. */
function listReader(kind: RecordKind, onOrder: (order: ListedOrder) => void) {
  const parser = new JSONParser({ paths: ['$.status', '$.error', '$.data.*.*'], keepStack: false });
  let status: unknown;
  let error: unknown;
  let orders = 0;
  let broken = false;
  let row: { index: unknown; fields: Record<string, unknown> } | undefined;
  let head = Buffer.alloc(0);

  function take(value: unknown): void {
    const order = kind.read(value);
    // An order without a number is nothing to compare with; a list of such things proves nothing.
    if (order === undefined) broken = true;
    else {
      orders += 1;
      onOrder(order);
    }
  }

  function flush(): void {
    if (row) take(row.fields);
    row = undefined;
  }

  parser.onValue = ({ value, key, stack }: ParsedElementInfo) => {
    if (stack.length === 1 && key === 'status') status = value;
    else if (stack.length === 1 && key === 'error') error = value;
    else if (typeof key === 'number') take(value);
    else field(stack[2]?.key, String(key), value);
  };

  /** In a bare array the orders arrive field by field: a row is whole when the next one begins. */
  function field(index: unknown, key: string, value: unknown): void {
    if (row?.index !== index) flush();
    row ??= { index, fields: {} };
    row.fields[key] = value;
  }

  parser.onError = () => {
    broken = true;
  };

  return {
    write(chunk: Buffer): void {
      if (head.length < HEAD) head = Buffer.concat([head, chunk]);
      if (!broken) parser.write(chunk);
    },
    finish(): number | undefined {
      flush();
      const whole = parser.isEnded && !broken && status === 'success' && (error === null || error === undefined);
      if (!whole || (orders === 0 && !holdsList(head))) return undefined;
      return orders;
    },
  };
}

/** An answer without orders is short; only one that shows an empty list is one. */
const HEAD = 64 * 1024;

function holdsList(body: Buffer): boolean {
  const envelope = readEnvelope(body);
  if (envelope.kind !== 'success') return false;
  const { data } = envelope;
  return Array.isArray(data) || (isRecord(data) && Object.values(data).some(Array.isArray));
}
