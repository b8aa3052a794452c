import type { Config } from '../../src/config/config.ts';
import { PARTNER } from './setting.ts';
import type { Breach, Weather } from './weather.ts';

/** Where the API answers that it has no list, the configuration says so. */
function modeOf({ listForbidden }: Weather, breach: Breach | undefined) {
  if (listForbidden) return 'none';
  return breach === 'no list proof' ? 'trust' : 'prove';
}

/** The part of the configuration that delivery and people's commands read. */
export function configOf(weather: Weather, breach: Breach | undefined): Config {
  const { attempts, timeout, calls } = weather;
  const environment = {
    ...PARTNER,
    authUrl: PARTNER.baseUrl,
    token: { path: 'auto', clientAuth: 'form' },
    protected: false,
    list: modeOf(weather, breach),
  } as const;
  const delivery = {
    concurrency: calls,
    timeout,
    attempts,
    settle: breach === 'no settle' ? 0 : weather.settle,
    onDoubt: 'verify',
    backoff: { initial: 2_000, max: 60_000 },
    probe: { initial: 5_000, max: 60_000 },
    refusalHold: { share: 0.5, of: 10 },
  };
  const reports = { path: '/none' };
  const environments = { staging: environment };
  return {
    environment: 'staging',
    environments,
    delivery,
    reports,
    sources: [],
  } as unknown as Config;
}
