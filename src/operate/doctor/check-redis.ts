import { hostname } from 'node:os';
import path from 'node:path';
import type { Config } from '../../config/config.ts';
import { toError } from '../../core/errors.ts';
import { orders } from '../../core/format.ts';
import { environmentOf, foreignOwner } from '../../intake/environment-marker.ts';
import { willNoticeLoss } from '../../ledger/environment-ledger.ts';
import { createLookup } from '../../ledger/ledger.ts';
import { knownLedger } from '../../ledger/ledger-id.ts';
import type { Redis } from '../../redis/connect.ts';
import { RIGHTS_REMEDY } from '../../redis/connection-end.ts';
import type { Keys } from '../../redis/keys.ts';
import { missingRights } from '../../redis/rights.ts';
import { isWithoutLedger, requireFormat } from '../../redis/store.ts';
import { checkSource } from '../delivery/source-status.ts';
import { type Finding, fail, failure, fine, warn } from './finding.ts';

const OLDEST = [6, 2] as const;

type Place = { redis: Redis; keys: Keys };

/** Checks a Redis that answers: version, role, durability, replication, eviction, memory. `isCluster`: as configured. */
export async function checkRedis(
  redis: Redis,
  place: string,
  isCluster = false,
): Promise<Finding[]> {
  const facts = factsOf(await redis.info());
  const names = ['appendfsync', 'save', 'min-replicas-to-write'];
  const [fsync, save, replicas] = await Promise.all(names.map((name) => setting(redis, name)));
  return [
    fine('Redis', `${place} answers`),
    versionFinding(facts),
    ...roleFinding(facts),
    ...clusterFinding(facts, isCluster),
    durability(facts.get('aof_enabled') === '1', fsync, save),
    ...replication(facts, replicas),
    eviction(facts.get('maxmemory_policy')),
    ...memory(Number(facts.get('used_memory')), Number(facts.get('maxmemory'))),
  ];
}

/** Checks that the user may run every command on keys like this one. No finding where nothing is missing or can be seen. */
export async function checkRights(redis: Redis, key: string): Promise<Finding[]> {
  const missing = await missingRights(redis, key);
  if (missing.length === 0) return [];
  const message = `the user may not run ${missing.join(', ').toUpperCase()}`;
  return [fail('Redis rights', message, RIGHTS_REMEDY)];
}

function factsOf(info: string): Map<string, string> {
  const lines = info.split(/\r?\n/).map((line) => line.split(/:(.*)/s));
  return new Map(
    lines.flatMap(([name, value]) => (name && value !== undefined ? [[name, value]] : [])),
  );
}

/** Undefined if CONFIG is forbidden, as on managed servers. */
async function setting(redis: Redis, name: string): Promise<string | undefined> {
  const answer: unknown = await redis.config('GET', name).catch(toError);
  return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : undefined;
}

function versionFinding(facts: ReadonlyMap<string, string>): Finding {
  const version = facts.get('redis_version') ?? 'unknown';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const check = 'Redis version';
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return fine(check, version);
  return fail(check, version, `Use Redis ${OLDEST.join('.')} or later.`);
}

function roleFinding(facts: ReadonlyMap<string, string>): Finding[] {
  if (facts.get('role') !== 'slave') return [];
  const message = 'is a replica, which cannot be written';
  return [fail('Redis role', message, 'Set redis.url to the primary.')];
}

function clusterFinding(facts: ReadonlyMap<string, string>, isCluster: boolean): Finding[] {
  if (facts.get('cluster_enabled') !== '1' || isCluster) return [];
  const remedy = 'List nodes of the cluster in redis.cluster, and remove redis.url.';
  return [fail('Redis cluster', 'is a node of a cluster', remedy)];
}

/** Replication is asynchronous, so a primary without a replica in contact must stop taking writes. */
function replication(facts: ReadonlyMap<string, string>, least: string | undefined): Finding[] {
  const check = 'Redis replication';
  if (Number(facts.get('connected_slaves') ?? 0) === 0) return [];
  // INFO counts the replicas in contact only where a number of them is required.
  const isRequired = least === undefined && facts.has('min_slaves_good_slaves');
  if (isRequired) return [fine(check, 'takes writes only while enough replicas are in contact')];
  if (least === undefined) {
    return [warn(check, `min-replicas-to-write ${UNCHECKED}`, REPLICAS_REMEDY)];
  }
  if (Number(least) > 0) return [fine(check, `takes writes with ${least} or more replicas`)];
  const message =
    'a primary that is cut off from its replicas takes writes that a failover discards';
  return [warn(check, message, REPLICAS_REMEDY)];
}

const REPLICAS_REMEDY = 'Set min-replicas-to-write 1 and min-replicas-max-lag 5.';

/** What managed services answer where they forbid CONFIG or shorten INFO. */
const UNCHECKED = 'cannot be checked: this Redis does not show it';

function durability(aof: boolean, fsync: string | undefined, save: string | undefined): Finding {
  const check = 'Redis durability';
  const remedy =
    'Set appendonly yes and appendfsync always. Without redis.url po-sync runs its own Redis with these settings.';
  if (aof && fsync === 'always') {
    return fine(check, 'confirmed writes survive a power failure (appendonly, fsync always)');
  }
  if (aof) {
    // CONFIG would also show passwords: nobody should need to permit it.
    if (fsync === undefined) return fine(check, FSYNC_UNCHECKED);
    const lost = fsync === 'everysec' ? 'about 1 s' : 'up to 30 s';
    const message = `a power failure may lose ${lost} of writes (appendfsync ${fsync})`;
    return warn(check, message, remedy);
  }
  if (save !== undefined && save !== '') {
    return warn(check, `snapshots only (save ${save}): a crash may lose minutes of writes`, remedy);
  }
  if (save === undefined) {
    return warn(check, `no append-only file; save ${UNCHECKED}`, ASK_OWNER);
  }
  return fail(check, 'nothing is written to disk: a restart of Redis loses every order', remedy);
}

const FSYNC_UNCHECKED =
  'writes are kept in an append-only file; appendfsync, which should be always, was not checked: this user may not run CONFIG GET';

const ASK_OWNER =
  'Ask who runs this Redis: it needs appendonly yes and appendfsync always, or its own durable storage.';

function eviction(policy: string | undefined): Finding {
  const check = 'Redis eviction';
  if (policy === undefined) {
    const remedy = 'Ask who runs this Redis: it needs maxmemory-policy noeviction.';
    return warn(check, `maxmemory-policy ${UNCHECKED}`, remedy);
  }
  if (policy === 'noeviction') return fine(check, 'noeviction');
  const message = `maxmemory-policy ${policy}: Redis drops orders when its memory is full`;
  return fail(check, message, 'Set maxmemory-policy noeviction.');
}

function memory(used: number, most: number): Finding[] {
  if (!(most > 0) || used < most * 0.8) return [];
  const message = `${Math.round((used / most) * 100)} % of maxmemory is in use`;
  return [
    warn(
      'Redis memory',
      message,
      'Raise maxmemory. When its memory is full, Redis refuses writes.',
    ),
  ];
}

/**
 * The inboxes that this environment used before, if `data` has no ledger: that of before is elsewhere. Throws as
 * `isWithoutLedger`.
 */
export async function inboxesUsedElsewhere(config: Config): Promise<string[]> {
  if (!(await isWithoutLedger(config))) return [];
  const { environment, sources } = config;
  const inboxes = sources.filter(({ type }) => type === 'inbox').map((source) => source.path);
  const owners = await Promise.all(
    inboxes.map((folder) => environmentOf(folder).catch(() => undefined)),
  );
  return inboxes.filter((_, i) => owners[i] === environment);
}

/** An inbox that was used, and no ledger: what it knows is missing. */
export async function checkLedgerThere(config: Config): Promise<Finding[]> {
  const { data, environment } = config;
  // Other checks report a folder that cannot be used.
  const used = await inboxesUsedElsewhere(config).catch(() => []);
  if (used.length === 0) return [];
  const message = `${data} has no ledger, but po-sync worked on ${used.join(', ')} for ${environment} before, with another data folder`;
  const remedy = 'Look for it before the start: mount its volume, or restore it from the backup.';
  return [warn('ledger', message, remedy)];
}

/** Whether no daemon has used the ledger yet. Commands that look at orders write to it too. */
async function isNew({ redis, keys }: Place): Promise<boolean> {
  return (await redis.hexists(keys.identity, 'epoch')) === 0;
}

/** What a start would say of the ledger: its format, whose the inboxes are, and whether Redis is older than what `data` remembers. */
export async function checkLedger(place: Place, config: Config): Promise<Finding[]> {
  return [
    ...(await checkFormat(place, config)),
    ...(await checkInboxes(place, config)),
    ...(await checkRestored(place, config)),
  ];
}

/** A start refuses an inbox of another ledger; a daemon takes nothing from one that lost its marker. */
async function checkInboxes(place: Place, config: Config): Promise<Finding[]> {
  const { sources, data, environment } = config;
  const ledger = await knownLedger(place, path.join(data, 'ledger'));
  const own = { environment, ledger, host: hostname(), data };
  const found = sources.map(async (source): Promise<Finding[]> => {
    const { type, name, path: folder } = source;
    if (type !== 'inbox') return [];
    const check = `inbox ${name}`;
    // A folder that cannot be read is reported with the folders.
    const error = await foreignOwner(folder, own).catch(() => undefined);
    if (error !== undefined) return [failure(check, error)];
    const wasUsed = (await place.redis.hexists(place.keys.heard, name)) === 1;
    if ((await checkSource(source, config, wasUsed)).state !== 'no marker') return [];
    const message = `${folder} has no marker: it may be another folder than the inbox that was used`;
    return [warn(check, message, 'Mount the share, or restart po-sync to use this folder.')];
  });
  return (await Promise.all(found)).flat();
}

/** Whether Redis is older than what `data` remembers of it: nothing is to be done, and nobody should repair it. */
async function checkRestored(place: Place, config: Config): Promise<Finding[]> {
  if ((await isNew(place)) || !(await willNoticeLoss(config, place))) return [];
  const message = `Redis is older than ${config.data}/ledger, as after a restore: the start pauses delivery and reads the API's list before it sends anything`;
  return [warn('ledger', message, 'Nothing is to be repaired: start the daemon.')];
}

/** A start refuses a ledger that a newer version writes or that is for another API. */
async function checkFormat(place: Place, config: Config): Promise<Finding[]> {
  const found = await requireFormat({ ...place, config }, true).catch(toError);
  return found instanceof Error ? [failure('ledger', found)] : [];
}

/** Orders that are looked up together. */
const LOOKUP = 5_000;

/**
 * Whether the API's list has orders that the ledger would send: a restored ledger lacks what was sent since its backup. A
 * new ledger, and one that noticed its loss, read the list before they send anything.
 */
export async function checkListed(
  { redis, keys }: Place,
  config: Config,
  listed: readonly string[],
): Promise<Finding[]> {
  const readsFirst =
    (await isNew({ redis, keys })) ||
    (await willNoticeLoss(config, { redis, keys })) ||
    (await redis.exists(keys.rebuild)) === 1;
  if (readsFirst) return [];
  const { ledger, delivery } = config;
  // A list that is read before each file brings the others; a ledger that forgets old orders does not have them, either.
  const hasAll = delivery.readList === 'newLedger' && ledger.keep === 'forever';
  const lookup = createLookup(redis, keys);
  let [unknown, waiting] = [0, 0];
  for (let i = 0; i < listed.length; i += LOOKUP) {
    for (const one of await lookup(listed.slice(i, i + LOOKUP))) {
      if (one.kind === 'nothing' && hasAll) unknown += 1;
      else if (one.kind === 'open' && one.entry.state === 'queued' && one.entry.attempt === 0)
        waiting += 1;
    }
  }
  if (unknown + waiting === 0) return [];
  const counts = [
    unknown > 0 ? `${orders(unknown)} that the ledger does not have` : [],
    waiting > 0 ? `${orders(waiting)} that ${waiting === 1 ? 'waits' : 'wait'} to be sent` : [],
  ].flat();
  return [warn('ledger', `the API's list has ${counts.join(' and ')}`, RESTORED)];
}

const RESTORED =
  'After a restore that the start does not notice, run po-sync pause, po-sync reconcile --repair and po-sync resume before you start po-sync, or these orders can be sent a second time. Otherwise another program created them: run po-sync reconcile --repair, or a file that brings one of these numbers creates it again. If that happens often, set delivery.readList to a period.';
