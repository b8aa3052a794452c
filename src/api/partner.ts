import { environmentOf } from '../config/config.ts';
import { DIRECT, type Network } from '../config/network.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Clock } from '../core/clock.ts';
import { PoSyncError, toError } from '../core/errors.ts';
import { clauses } from '../core/format.ts';
import { type Http, type HttpCall, openHttp } from '../core/http.ts';
import { intentsAhead } from '../ledger/entry.ts';
import { tokenRenewed } from '../log/events/delivery.ts';
import type { Operation } from '../log/meter.ts';
import type { Context } from '../redis/store.ts';
import { type CreateOrder, createOrders, type Endpoint } from './create.ts';
import {
  type ListEnd,
  type ListedOrder,
  type ListQuery,
  listOrders,
  type ReadList,
} from './list.ts';
import { createTokenSource, type TokenSource } from './token.ts';
import { NOT_YET } from './token-use.ts';

/** The API of one environment: its token and its two calls. */
export type Partner = {
  tokens: TokenSource;
  /** Milliseconds that one POST may take. */
  timeout: number;
  /** POST of one order. `prepare` decides, with the connection open, whether the first byte is written. */
  create: CreateOrder;
  /** Reads the list, again after a 401 that a token explains. Never throws; the result contains the error. */
  list: ReadList;
};

type PartnerDeps = { http: Http; tokens: TokenSource; endpoint: Endpoint; clock: Clock };

/** How long a list waits for an API that does not accept a fresh token yet, in milliseconds. */
const YOUNG = 5_000;

/** Builds the two calls over any HTTP client and token source. */
export function createPartner({ http, tokens, endpoint, clock }: PartnerDeps): Partner {
  /** A token that worked before is replaced once. */
  async function list(
    onOrder: (order: ListedOrder) => void,
    query: ListQuery,
    mayReplace = true,
  ): Promise<ListEnd> {
    const token = await tokens.get();
    const end = await listOrders(http, endpoint, token, onOrder, { query });
    if (end.kind === 'complete') tokens.accepted(token.fingerprint);
    if (end.kind !== 'unauthorized') return end;
    const refusal = await tokens.refused(token.fingerprint);
    if (refusal.kind !== 'fresh') return mayReplace ? list(onOrder, query, false) : end;
    if (refusal.age + refusal.wait > YOUNG)
      return { ...end, said: { ...end.said, message: clauses(NOT_YET, end.said.message) } };
    await clock.sleep(refusal.wait);
    return list(onOrder, query, mayReplace);
  }

  return {
    tokens,
    timeout: endpoint.timeout,
    create: createOrders(http, endpoint, clock),
    async list(onOrder, query = {}) {
      try {
        return await list(onOrder, query);
      } catch (thrown) {
        const error = toError(thrown);
        if (!(error instanceof PoSyncError)) throw error;
        return { kind: 'failed', said: { code: error.code, message: error.message } };
      }
    },
  };
}

type PartnerAccess = {
  secrets: Pick<Secrets, 'clientId' | 'clientSecret' | 'headers'>;
  hide?: ((secret: string) => void) | undefined;
  network?: Network | undefined;
};

/** Opens the connections to the configured environment; disposing closes them. `hide` redacts a value in the log. */
export function openPartner(
  { config, store, owner, clock, log }: Context,
  { secrets, hide, network = DIRECT }: PartnerAccess,
): Partner & AsyncDisposable {
  const { baseUrl, authUrl, token, statuses } = environmentOf(config);
  const { environment, delivery } = config;
  // One connection more than orders have: the list, and the token.
  const connections = openHttp({
    connections: delivery.concurrency + intentsAhead(delivery.concurrency) + 1,
    route: network.api,
    onEnd: (call, status, ms) => log.meter?.request(operationOf(call), status, ms),
  });
  const http = spaceOut(connections, clock);
  const { clientId, headers } = secrets;
  const clientSecret = secrets.clientSecret.reveal();
  const tokens = createTokenSource({
    store,
    http,
    clock,
    owner,
    target: { environment, baseUrl, authUrl, token },
    credentials: { clientId, clientSecret, hidden: headers.hidden },
    on: {
      token: hide,
      renewed: (lifetimeMs) => tokenRenewed(log, { environment, lifetimeMs }),
      failed: (code) => log.meter?.token(code),
    },
  });
  const partner = createPartner({
    http,
    tokens,
    clock,
    endpoint: {
      environment,
      baseUrl,
      timeout: delivery.timeout,
      secrets: [clientSecret],
      headers,
      ...(statuses && { statuses }),
    },
  });
  return {
    ...partner,
    async list(onOrder, query) {
      const end = await partner.list(onOrder, query);
      log.meter?.list(end.kind);
      return end;
    },
    [Symbol.asyncDispose]: () => connections[Symbol.asyncDispose](),
  };
}

/** Delays requests of a token and reads of the list, so that no endpoint gets more than four a second, whatever they answer. */
function spaceOut(http: Http, clock: Clock, spacing = 250): Http {
  const nextAt = new Map<string, number>();

  async function turn(endpoint: string): Promise<void> {
    const now = clock.monotonic();
    const at = Math.max(now, nextAt.get(endpoint) ?? 0);
    nextAt.set(endpoint, at + spacing);
    if (at > now) await clock.sleep(at - now);
  }

  return {
    ...http,
    async call(call) {
      if (call.prepare === undefined) await turn(operationOf(call));
      return http.call(call);
    },
  };
}

/** Only an order has something to prepare, and only the list is read with GET. */
function operationOf({ method, prepare }: HttpCall): Operation {
  if (method === 'GET') return 'list';
  return prepare === undefined ? 'token' : 'create';
}
