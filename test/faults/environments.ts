import {
  type Account,
  accountOf,
  allReported,
  countOf,
  type DroppedFile,
  dropOrders,
} from '../support/account.ts';
import { startDaemon } from '../support/daemon.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { openWorkplace } from '../support/workplace.ts';

/** Seconds that a token lives. */
const LIFETIME = 6;
/** A token is renewed in the last 10 to 15 % of its life. */
const RENEWED_AFTER = LIFETIME * 0.85;

type Figures = Account & {
  environment: string;
  /** Calls with a token that this environment never issued, or with none. */
  foreign: number;
  /** Calls whose token expired before the sandbox read it: on its way, or in a process that got no processor time. */
  expired: number;
  tokens: number;
  /** The most tokens that so much time may cost. */
  tokensAllowed: number;
};

/**
 * Three environments at work at once on one Redis, with tokens of six seconds. They have the same credentials,
 * so that nothing but the environment keeps their tokens apart.
 */
export async function environments(orders: number): Promise<Figures[]> {
  await using redis = await startTestRedis();
  return await Promise.all(
    ['staging', 'uat', 'production'].map((environment) => runOne(environment, redis.url, orders)),
  );
}

async function runOne(environment: string, redis: string, orders: number): Promise<Figures> {
  await using place = await openWorkplace({
    environment,
    redis,
    sandbox: { tokenLifetime: LIFETIME, authPort: 0 },
    faults: { faults: [{ kind: 'delay', by: '150ms..250ms' }] },
  });
  const began = performance.now();
  await using daemon = startDaemon(place);
  await using other = startDaemon(place);
  await Promise.all([daemon.ready(), other.ready()]);
  const dropped: DroppedFile[] = [];
  await dropOrders(place, dropped, orders);
  await allReported(place, dropped, 600_000);
  const seconds = (performance.now() - began) / 1000;
  const refused = place.events.flatMap((event) =>
    event.type === 'answered' && event.status === 401 ? [event.reason] : [],
  );
  const expired = refused.filter((reason) => reason === 'The access token has expired.').length;
  return {
    environment,
    ...(await accountOf(place, dropped)),
    foreign: refused.length - expired,
    expired,
    tokens: countOf(place.events, 'token'),
    tokensAllowed: Math.ceil(seconds / RENEWED_AFTER) + 2,
  };
}
