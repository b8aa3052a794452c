import { keysOf } from '../../src/redis/keys.ts';

/** The one environment of every world. */
export const PARTNER = { environment: 'staging', baseUrl: 'https://api.example.com/api/v1' };

/** The host of the token endpoint. */
export const AUTH_HOST = 'auth.example.com';

export const KEYS = keysOf(PARTNER.environment);

/** Redis and every wall clock begin here. */
export const EPOCH = 1_700_000_000_000;
