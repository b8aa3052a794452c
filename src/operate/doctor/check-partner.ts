import type { Endpoint } from '../../api/create.ts';
import { type ListEnd, listOrders, listRemedy, type ReadList } from '../../api/list.ts';
import { type Credentials, type Grant, requestToken } from '../../api/request-token.ts';
import type { Environment } from '../../config/config.ts';
import { hasApiPrefix, NO_API_PREFIX } from '../../config/rules/environments.ts';
import type { ApiHeaders } from '../../config/secrets.ts';
import type { Clock } from '../../core/clock.ts';
import { PoSyncError } from '../../core/errors.ts';
import { orders, withoutStop } from '../../core/format.ts';
import type { Http, HttpEnd } from '../../core/http.ts';
import type { Unproved } from '../../reconcile/evidence.ts';
import type { Look } from '../../reconcile/list-proof.ts';
import { checkClock, type Finding, failure, fine, skip, warn } from './finding.ts';

type Deps = {
  http: Http;
  clock: Clock;
  name: string;
  environment: Environment;
  /** What the partner knows and nobody else may. */
  secrets: { credentials: Credentials; headers: ApiHeaders };
  timeout: number;
  /** The way to the list, with what the ledger knows about its pages, and what it must show. */
  through?: (list: ReadList) => Look;
  /** Compares the numbers of a complete list with the ledger. */
  compare?: (listed: readonly string[]) => Promise<Finding[]>;
};

/** Numbers of a list that are compared: they are in memory. */
const MOST_COMPARED = 1_000_000;

/** Requests a token, reads the API's list with it and checks the API's clock. Does not change the shared token. */
export async function checkPartner(deps: Deps): Promise<Finding[]> {
  const { http, environment, secrets } = deps;
  const credentials = { ...secrets.credentials, hidden: secrets.headers.hidden };
  const { authUrl, token } = environment;
  try {
    const grant = await requestToken({ http, authUrl, token, credentials });
    const message = `${authUrl}${grant.path} issues tokens that are valid for ${Math.round(grant.lifetime / 1000)} s`;
    return [fine('token', message), ...(await checkList(grant, deps))];
  } catch (error) {
    return [failure('token', error, tokenRemedy(error)), skip('API', 'needs a token')];
  }
}

/** An endpoint that answers is reached: its address, the network and the certificate are right, or another server has them. */
function tokenRemedy(error: unknown): string {
  const status = error instanceof PoSyncError ? error.facts['httpStatus'] : undefined;
  if (status === 429)
    return "It limits requests. The daemon tries again; if this lasts, ask the API's owner.";
  if (typeof status === 'number' && status >= 500)
    return "It is in trouble. The daemon tries again; if this lasts, ask the API's owner.";
  return 'Check authUrl, the network and the certificate. During an outage of the endpoint the daemon waits.';
}

async function checkList({ value }: Grant, deps: Deps): Promise<Finding[]> {
  const { http, clock, name, environment, timeout } = deps;
  const { headers } = deps.secrets;
  const { through = (list) => list, compare } = deps;
  const { baseUrl } = environment;
  const endpoint: Endpoint = { environment: name, baseUrl, timeout, headers };
  let date: { theirs: number; ours: number } | undefined;
  const watched: Http = {
    ...http,
    async call(call) {
      const end = await http.call(call);
      date = dateOf(end, clock.now());
      return end;
    },
  };
  const began = clock.monotonic();
  const token = { value, fingerprint: '', environment: name, baseUrl };
  const list: Look = through((onOrder, query = {}) =>
    listOrders(watched, endpoint, token, onOrder, { query }),
  );
  const listed = new Set<string>();
  const read = () =>
    list(({ purchaseOrderNumber }) => {
      if (listed.size <= MOST_COMPARED) listed.add(purchaseOrderNumber);
    });
  let end = await read();
  // Where its clock is behind, the API accepts a token a little later.
  for (let wait = 250; end.kind === 'unauthorized' && wait <= 2_000; wait *= 2) {
    await clock.sleep(wait);
    end = await read();
  }
  const finding = listFinding(end, baseUrl, Math.round(clock.monotonic() - began));
  const clocks =
    date === undefined ? [] : [checkClock('clock of the API', date.ours - date.theirs)];
  const isCompared = end.kind === 'complete' && listed.size <= MOST_COMPARED;
  const compared = isCompared ? await compare?.([...listed]) : undefined;
  const unproved = end.unproved ? [unprovedFinding(end.unproved)] : [];
  const proved =
    compared && !end.unproved ? [fine('API list', 'is complete, as far as known')] : [];
  return [finding, ...unproved, ...proved, ...(compared ?? []), ...clocks];
}

function listFinding(end: ListEnd, baseUrl: string, took: number): Finding {
  const check = 'API';
  switch (end.kind) {
    case 'complete':
      return fine(check, `${baseUrl} lists ${orders(end.orders)} in ${took} ms`);
    case 'unavailable':
      if (end.said.httpStatus === 404 && !hasApiPrefix(baseUrl)) return wrongAddress(baseUrl);
      return warn(
        check,
        `${baseUrl} does not offer its list (${withoutStop(end.said.message)}); an order whose answer is lost stays in doubt`,
        listRemedy(end.said),
      );
    case 'unauthorized':
      return failure(
        check,
        new Error(`${baseUrl} does not accept the token: ${end.said.message}`),
        'Check that authUrl and baseUrl belong to the same environment, and that their clocks agree.',
      );
    case 'failed':
      return failure(
        check,
        new Error(`${baseUrl} cannot be read: ${end.said.message}`),
        'Check baseUrl and the network. During an outage of the API the daemon waits.',
      );
  }
}

/** An order that the list does not show may be at the API all the same. */
function unprovedFinding({ code, facts }: Unproved): Finding {
  const message =
    code === 'list-incomplete'
      ? `is not complete: it does not show order ${facts.order}, or what it showed before`
      : 'is not proved complete yet: one order is sent first, and the others wait until the list shows it';
  const remedy =
    "Ask the API's owner how many orders it has, and run po-sync reconcile --expect N with that number.";
  return warn('API list', message, remedy);
}

/** Behind the prefix, 404 can mean that the API offers no list. Elsewhere nothing says that the API is there at all. */
function wrongAddress(baseUrl: string): Finding {
  const message = `${baseUrl}/purchase-orders does not exist (HTTP 404), and baseUrl ${NO_API_PREFIX}; no order can be delivered`;
  return failure(
    'API',
    new Error(message),
    'Correct baseUrl. If orders wait already, the next start says how they follow.',
  );
}

function dateOf(end: HttpEnd, ours: number): { theirs: number; ours: number } | undefined {
  const header = end.kind === 'answered' ? end.answer.headers['date'] : undefined;
  const theirs = header === undefined ? Number.NaN : Date.parse(header);
  return Number.isNaN(theirs) ? undefined : { theirs, ours };
}
