import type { Endpoint } from '../../api/create.ts';
import { type ListEnd, listOrders } from '../../api/list.ts';
import { type Credentials, type Grant, requestToken, TOKEN_PATHS } from '../../api/request-token.ts';
import { fingerprintOf } from '../../api/sealed-token.ts';
import type { Environment } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import { orders } from '../../core/format.ts';
import type { Http, HttpEnd } from '../../core/http.ts';
import { checkClock } from './check-clock.ts';
import { type Finding, failure } from './finding.ts';

type Deps = {
  http: Http;
  clock: Clock;
  name: string;
  environment: Environment;
  credentials: Credentials;
  timeout: number;
};

/** Asks for a token, reads the API's list with it, and looks at the API's clock. The shared token is left alone. */
export async function checkPartner(deps: Deps): Promise<Finding[]> {
  const { http, environment, credentials } = deps;
  const paths = environment.tokenPath === 'auto' ? TOKEN_PATHS : [environment.tokenPath];
  try {
    const grant = await requestToken({
      http,
      authUrl: environment.authUrl,
      paths,
      credentials,
      scope: environment.scope,
    });
    const message = `${environment.authUrl}${grant.path} grants a token for ${Math.round(grant.lifetime / 1000)} s`;
    return [{ check: 'token', state: 'ok', message }, ...(await checkList(grant, deps))];
  } catch (error) {
    const remedy = 'Check authUrl, the network between here and there, and its certificate.';
    return [failure('token', error, remedy), { check: 'API', state: 'skipped', message: 'not asked without a token' }];
  }
}

async function checkList({ value }: Grant, { http, clock, name, environment, timeout }: Deps): Promise<Finding[]> {
  const { baseUrl } = environment;
  const endpoint: Endpoint = { environment: name, baseUrl, timeout };
  let date: { told: number; ours: number } | undefined;
  const watched: Http = {
    ...http,
    async call(call) {
      const end = await http.call(call);
      date = dateOf(end, clock.now());
      return end;
    },
  };
  const began = clock.monotonic();
  const token = { value, fingerprint: fingerprintOf(value), environment: name, baseUrl };
  const end = await listOrders(watched, endpoint, token, () => undefined);
  const finding = listFinding(end, baseUrl, Math.round(clock.monotonic() - began));
  return [finding, ...(date === undefined ? [] : [checkClock('clock of the API', date.ours - date.told)])];
}

function listFinding(end: ListEnd, baseUrl: string, took: number): Finding {
  const check = 'API';
  switch (end.kind) {
    case 'complete':
      return { check, state: 'ok', message: `${baseUrl} lists ${orders(end.orders)} in ${took} ms` };
    case 'unavailable':
      return {
        check,
        state: 'warn',
        message: `${baseUrl} does not give its list (${end.said.message}): an order whose answer is lost stays in doubt`,
        remedy: "Ask the API's owner for the scope read.",
      };
    case 'unauthorized':
      return failure(
        check,
        new Error(`${baseUrl} does not take the token: ${end.said.message}`),
        'Do authUrl and baseUrl belong to one environment?',
      );
    case 'failed':
      return failure(
        check,
        new Error(`${baseUrl} cannot be read: ${end.said.message}`),
        'Check baseUrl and the network; an outage is waited out.',
      );
  }
}

function dateOf(end: HttpEnd, ours: number): { told: number; ours: number } | undefined {
  const header = end.kind === 'answered' ? end.answer.headers['date'] : undefined;
  const told = header === undefined ? Number.NaN : Date.parse(header);
  return Number.isNaN(told) ? undefined : { told, ours };
}
