import { createPartner, type Partner } from '../../src/api/partner.ts';
import { createTokenSource } from '../../src/api/token.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { Store } from '../../src/redis/store.ts';
import { naiveHttp } from './safeguards.ts';
import { AUTH_HOST, PARTNER } from './setting.ts';
import type { Surroundings } from './surroundings.ts';
import type { Host } from './timeline.ts';

const CREDENTIALS = { clientId: 'client', clientSecret: 'secret' };
const TARGET = {
  ...PARTNER,
  authUrl: `https://${AUTH_HOST}`,
  token: { path: '/oauth2/token', clientAuth: 'form' },
} as const;

/** The program's own calls of one process to the API, over the simulated network. */
export function partnerOf(
  host: Host,
  { network, breach, weather }: Pick<Surroundings, 'network' | 'breach' | 'weather'>,
  store: Pick<Store, 'redis' | 'keys' | 'time'>,
  clock: Clock,
): Partner {
  const http = network.open(host);
  const tokens = createTokenSource({
    store,
    http,
    clock,
    owner: host.name,
    target: TARGET,
    credentials: CREDENTIALS,
  });
  return createPartner({
    http: breach === 'naive retry' ? naiveHttp(http) : http,
    tokens,
    clock,
    endpoint: { ...PARTNER, timeout: weather.timeout },
  });
}
