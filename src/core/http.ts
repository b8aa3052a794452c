import type { Readable } from 'node:stream';
import type { Pool } from 'undici';
import { CONNECT_TIMEOUT, Exchange, type HttpCall, type HttpEnd } from './exchange.ts';
import { openPool, type Route } from './pool.ts';
import { versionOf } from './version.ts';

export type { HttpAnswer, HttpCall, HttpEnd } from './exchange.ts';

export type Http = {
  call(call: HttpCall): Promise<HttpEnd>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** A request that was written has ended: its status, if one was read, and milliseconds since its first byte. */
type OnEnd = (call: HttpCall, status: number | undefined, ms: number) => void;

type HttpOptions = { connections: number; connectTimeout?: number; onEnd?: OnEnd; route?: Route };

/**
 * Opens the connections of one environment, `connections` to each origin. HTTP/1.1, one request at a time on a connection,
 * no redirects. What was written is never repeated for an order: the delivery rules decide what happens to it. A connection
 * that the server closed before the first byte is replaced. A `URL` that is passed must not change.
 */
export function openHttp({
  connections,
  connectTimeout = CONNECT_TIMEOUT,
  onEnd,
  route = {},
}: HttpOptions): Http {
  const agent = `po-sync/${versionOf()}`;
  const origins = new Map<string, Origin>();
  const targets = new WeakMap<URL, Target>();

  function originOf({ origin: name }: URL): Origin {
    const origin = origins.get(name) ?? {
      pool: openPool(name, connections, connectTimeout, route),
      replaceable: 0,
    };
    origins.set(name, origin);
    return origin;
  }

  function targetOf(url: URL): Target {
    const target = targets.get(url) ?? {
      origin: originOf(url),
      path: url.pathname + url.search,
      agent,
    };
    targets.set(url, target);
    return target;
  }

  function begin(call: HttpCall, resolve: (end: HttpEnd) => void): void {
    const target = targetOf(call.url);
    const { origin } = target;
    const replace = () => {
      if (origin.replaceable === 0) return false;
      origin.replaceable -= 1;
      dispatch(target, call, exchange);
      return true;
    };
    const exchange = new Exchange(call, replace, (end, status, ms) => {
      if (end.kind === 'answered')
        origin.replaceable = Math.min(connections, origin.replaceable + 1);
      if (ms !== undefined) onEnd?.(call, status, ms);
      resolve(end);
    });
    dispatch(target, call, exchange);
  }

  return {
    call: (call) => new Promise((resolve) => begin(call, resolve)),
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all([...origins.values()].map(({ pool }) => pool.destroy()))),
  };
}

/** `replaceable`: how many lost connections may be replaced. Each answer adds one, so that a server that only closes them gets few. */
type Origin = { pool: Pool; replaceable: number };

/** Where a URL leads, and what the requests name as their sender. */
type Target = { origin: Origin; path: string; agent: string };

function dispatch(
  { origin: { pool }, path, agent }: Target,
  call: HttpCall,
  exchange: Exchange,
): void {
  const { method, body = '', prepare } = call;
  const headers = { 'user-agent': agent, ...call.headers };
  // undici accepts any async iterable; its types name only some of them.
  const pieces = exchange as AsyncIterable<string> as Readable;
  if (prepare)
    pool.dispatch({ path, method, headers: withLength(headers, body), body: pieces }, exchange);
  else pool.dispatch({ path, method, headers, body: call.body ?? null }, exchange);
}

/** Names and values in turn. undici would send a body of unknown length in chunks. */
function withLength(headers: Record<string, string>, body: string): string[] {
  const flat = ['content-length', String(Buffer.byteLength(body))];
  for (const name in headers) flat.push(name, headers[name] ?? '');
  return flat;
}
