import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Config, environmentOf } from '../../config/config.ts';
import { loadNetwork, type Network } from '../../config/network.ts';
import {
  loadAdminTokens,
  loadRedisSecrets,
  loadSecrets,
  type Secrets,
} from '../../config/secrets.ts';
import { requireConfirmation, type Variables } from '../../config/variables.ts';
import { systemClock } from '../../core/clock.ts';
import { codeOf, PoSyncError } from '../../core/errors.ts';
import { openHttp } from '../../core/http.ts';
import { lookingList } from '../../reconcile/list-proof.ts';
import { connectRedis } from '../../redis/connect.ts';
import { COMMAND_WAITS, explainRedisError } from '../../redis/connection-end.ts';
import { keysOf } from '../../redis/keys.ts';
import { openPrivateRedis } from '../../redis/private-server/private-server.ts';
import { hasPrivateRedis, isWithoutLedger } from '../../redis/store.ts';
import { checkConfig } from './check-config.ts';
import { checkFolders, unusable } from './check-folders.ts';
import { checkGuarantee } from './check-guarantee.ts';
import { checkPartner } from './check-partner.ts';
import {
  checkLedger,
  checkLedgerThere,
  checkListed,
  checkRedis,
  checkRights,
} from './check-redis.ts';
import { checkClock, type Finding, failure, fine, skip, warn } from './finding.ts';

/** The process whose surroundings are checked. `confirm`: the protected environment that it confirmed. */
export type Surroundings = { env: Variables; signal: AbortSignal; confirm?: string | undefined };

/** What is found, for a program. */
export async function examined(config: Config, around: Surroundings): Promise<Finding[]> {
  const found: Finding[] = [];
  await examine({ config, warnings: [] }, around, (more) => found.push(...more));
  return found;
}

type Report = (found: readonly Finding[]) => unknown;

/** Checks everything that a daemon needs, in order. After a failure it continues with what can still be checked. */
export async function examine(
  { config, warnings }: { config: Config; warnings: readonly string[] },
  around: Surroundings,
  report: Report,
): Promise<void> {
  const { env } = around;
  const { file, environment } = config;
  report([
    fine('configuration', `${file}, environment ${environment}`),
    ...warnings.map((message) => warn('configuration', message)),
    ...confirmationFindings(config, around),
  ]);
  const secrets = await loadSecrets(config, env).catch(asPoSyncError);
  report([
    secrets instanceof PoSyncError
      ? failure('credentials', secrets)
      : fine('credentials', 'client ID and client secret are set'),
  ]);
  report(
    await loadAdminTokens(env).then(
      () => [],
      (error) => [failure('admin tokens', asPoSyncError(error))],
    ),
  );
  report([...(await checkFolders(config)), ...(await checkLedgerThere(config))]);
  report(checkConfig(config));
  await using resources = new AsyncDisposableStack();
  const { found, place } = await redisFindings(config, around, resources);
  report(found);
  const network = await loadNetwork(config, env).catch(asPoSyncError);
  if (network instanceof PoSyncError) report([failure('network', network)]);
  const missing = [
    secrets instanceof PoSyncError ? 'credentials' : [],
    network instanceof PoSyncError ? 'a network' : [],
  ].flat();
  if (secrets instanceof PoSyncError || network instanceof PoSyncError) {
    report([skip('token', `needs ${missing.join(' and ')}`)]);
  } else report(await partnerFindings(config, secrets, network, place));
}

/** A daemon does not start without it; whoever runs `doctor` may leave it out on purpose. */
function confirmationFindings(config: Config, { confirm, env }: Surroundings): Finding[] {
  try {
    requireConfirmation(config, confirm, env);
    return [];
  } catch (error) {
    const { message: why, remedy = '' } = asPoSyncError(error);
    const message = `${why} start needs it confirmed. ${remedy}`;
    return [fine('confirmation', message)];
  }
}

const NO_LEDGER = 'none of this environment yet: the first start begins one';

/** `place`: the ledger, where it can be read; open until `resources` are disposed of. */
type InRedis = { found: Finding[]; place?: Parameters<typeof checkLedger>[0] };

async function redisFindings(
  config: Config,
  { env, signal }: Surroundings,
  resources: AsyncDisposableStack,
): Promise<InRedis> {
  try {
    const isPrivate = hasPrivateRedis(config);
    const credentials = await loadRedisSecrets(config, env);
    const server = isPrivate
      ? { address: { url: await openPrivate() } }
      : { address: config.redis, credentials };
    const keys = keysOf(config.environment, environmentOf(config).numbers);
    const redis = await connectRedis(server, { within: 5_000, ...COMMAND_WAITS, key: keys.prefix });
    resources.defer(async () => void (await redis.quit().catch(() => redis.disconnect())));
    const found = await checkRedis(
      redis,
      isPrivate ? 'the private Redis' : 'the configured Redis',
      config.redis.cluster !== undefined,
    );
    const [seconds, micros] = await redis.time();
    const theirs = Number(seconds) * 1000 + Number(micros) / 1000;
    const clock = checkClock('clock of Redis', systemClock.now() - theirs);
    const rights = await checkRights(redis, keys.prefix);
    // Without the rights, these questions cannot be asked.
    if (rights.length > 0) return { found: [...found, ...rights, clock] };
    const place = { redis, keys };
    const isNew = (await redis.hexists(keys.identity, 'epoch')) === 0;
    const ledger: Finding[] = isNew ? [fine('Redis ledger', NO_LEDGER)] : [];
    const guarantee = await checkGuarantee(place, config, systemClock.now());
    const shared = [...(await checkLedger(place, config)), ...guarantee];
    return { found: [...found, clock, ...ledger, ...shared], place };
  } catch (error) {
    const isFile = codeOf(error) === 'ENOTDIR';
    return {
      found: [
        isFile ? unusable('Redis', config.data, error) : failure('Redis', explainRedisError(error)),
      ],
    };
  }

  async function openPrivate(): Promise<string> {
    const data = await dataOrTrial(config, resources);
    return resources.use(await openPrivateRedis({ data, clock: systemClock, signal })).url;
  }
}

async function partnerFindings(
  config: Config,
  { clientId, clientSecret, headers }: Secrets,
  network: Network,
  place: InRedis['place'],
): Promise<Finding[]> {
  await using http = openHttp({ connections: 1, connectTimeout: 5_000, route: network.api });
  const rules = { mode: environmentOf(config).list, settle: config.delivery.settle };
  return await checkPartner({
    http,
    clock: systemClock,
    name: config.environment,
    environment: environmentOf(config),
    secrets: { credentials: { clientId, clientSecret: clientSecret.reveal() }, headers },
    timeout: config.delivery.timeout,
    ...(place && {
      through: (list) => lookingList(place, rules, list, systemClock.now),
      compare: (listed) => checkListed(place, config, listed).catch(lost),
    }),
  });
}

/** Redis answered before. */
const lost = (error: unknown) => [failure('Redis', explainRedisError(error))];

/** An error that the user can fix; any other is a bug and is thrown again. */
export function asPoSyncError(error: unknown): PoSyncError {
  if (error instanceof PoSyncError) return error;
  throw error;
}

/** Before the first start, the private Redis is tried in a folder that is removed: `data` stays as it is. */
async function dataOrTrial(config: Config, resources: AsyncDisposableStack): Promise<string> {
  if (!(await isWithoutLedger(config))) return config.data;
  const trial = await mkdtemp(path.join(tmpdir(), 'po-sync-doctor-'));
  resources.defer(() => rm(trial, { recursive: true, force: true }));
  return trial;
}
