import { faultFile } from '../../src/sandbox/faults/fault-file.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox-options.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { type Exchange, type ExchangeOptions, exchange } from './exchange.ts';
import { makeTempFolder } from './temp-folder.ts';

export const CLIENT_ID = 'client-of-tests';
export const CLIENT_SECRET = 'secret-of-tests';

/** A sandbox with the calls that most tests make. */
export type OpenSandbox = Omit<Sandbox, 'setFaults'> & {
  data: string;
  /** A token request with the right credentials; `form` replaces fields, or leaves them out. */
  requestToken(form?: Record<string, string | undefined>): Promise<Exchange>;
  /** An access token with all scopes, or with the given ones. */
  token(scope?: string): Promise<string>;
  /** Any call; `path` is relative to the API's base address, or a complete address. */
  call(method: string, path: string, options?: ExchangeOptions): Promise<Exchange>;
  /** POSTs an order, or any text. */
  create(order: unknown, token: string): Promise<Exchange>;
  list(token: string): Promise<Exchange>;
  /** Replaces the faults while it runs. */
  setFaults(faults: readonly object[]): Promise<void>;
  /** The orders of the list, whatever its shape. */
  orders(token: string): Promise<unknown[]>;
};

/**
 * Starts a sandbox on a separate folder, which is removed when disposed; a `data` that was given is kept. `check` sees
 * every answer.
 */
export async function openSandbox(
  options: Partial<SandboxOptions> = {},
  check: (exchange: Exchange) => void = () => undefined,
): Promise<OpenSandbox> {
  await using stack = new AsyncDisposableStack();
  const data = options.data ?? stack.use(await makeTempFolder()).path;
  const credentials = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
  const sandbox = stack.use(
    await startSandbox({ environment: 'staging', port: 0, ...credentials, ...options, data }),
  );
  const call: OpenSandbox['call'] = async (method, path, more) => {
    const seen = await exchange(
      method,
      path.startsWith('/') ? `${sandbox.baseUrl}${path}` : path,
      more,
    );
    check(seen);
    return seen;
  };
  const requestToken: OpenSandbox['requestToken'] = (form = {}) =>
    call('POST', `${sandbox.authUrl}${options.tokenPath ?? '/oauth2/token'}`, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: formOf({
        grant_type: 'client_credentials',
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        ...form,
      }),
    });
  const list: OpenSandbox['list'] = (token) =>
    call('GET', '/purchase-orders', { headers: bearerHeaders(token) });
  const opened = stack.move();
  return {
    environment: sandbox.environment,
    baseUrl: sandbox.baseUrl,
    authUrl: sandbox.authUrl,
    data,
    call,
    requestToken,
    list,
    token: async (scope) => String((await requestToken({ scope })).json.access_token),
    orders: async (token) => ordersIn((await list(token)).json.data),
    setFaults: (faults) => sandbox.setFaults(faultFile.parse({ faults })),
    create: (order, token) =>
      call('POST', '/purchase-orders', {
        headers: bearerHeaders(token),
        body: typeof order === 'string' ? order : JSON.stringify(order),
      }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The headers that every API call carries (API part 5, rule 4). */
export function bearerHeaders(token: string): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json',
  };
}

/** An order that every sandbox takes. */
export function goodOrder(number: string, quantity = 1): Record<string, unknown> {
  return {
    purchaseOrderNumber: number,
    orderState: 'NEW',
    items: [{ articleCode: 'A-1', quantity }],
  };
}

/** Creates good orders, 200 at once: each call has its own connection, and the kernel resets some of a thousand. */
export async function createOrders(
  sandbox: OpenSandbox,
  numbers: readonly string[],
  token: string,
): Promise<void> {
  for (let from = 0; from < numbers.length; from += 200) {
    await Promise.all(
      numbers.slice(from, from + 200).map((number) => sandbox.create(goodOrder(number), token)),
    );
  }
}

/** A form body; fields that are undefined are left out. */
export function formOf(fields: Record<string, string | undefined>): string {
  const given = Object.entries(fields).filter(
    (field): field is [string, string] => field[1] !== undefined,
  );
  return new URLSearchParams(given).toString();
}

/** The orders in the data of a list, whatever its shape. */
export function ordersIn(data: unknown): unknown[] {
  if (Array.isArray(data)) return data;
  if (typeof data === 'object' && data !== null && 'purchaseOrders' in data)
    return ordersIn(data.purchaseOrders);
  throw new Error(`This is no list of purchase orders: ${JSON.stringify(data)}`);
}

/** POST /purchase-orders as it goes over the wire, for what an HTTP client would not send. */
export function rawCreate(order: unknown, token: string): string {
  const body = JSON.stringify(order);
  const headers = Object.entries({
    ...bearerHeaders(token),
    host: 'x',
    'content-length': body.length,
  });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `POST /api/v1/purchase-orders HTTP/1.1\r\n${lines}\r\n${body}`;
}
