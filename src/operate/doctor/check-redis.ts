import { toError } from '../../core/errors.ts';
import type { Redis } from '../../redis/connect.ts';
import type { Finding } from './finding.ts';

const OLDEST = [6, 2] as const;

/** Checks a Redis that answers: version, role, durability, eviction, memory. */
export async function checkRedis(redis: Redis, place: string): Promise<Finding[]> {
  const facts = factsOf(await redis.info());
  const [fsync, save] = await Promise.all([setting(redis, 'appendfsync'), setting(redis, 'save')]);
  return [
    { check: 'Redis', state: 'ok', message: `${place} answers` },
    versionFinding(facts),
    ...roleFinding(facts),
    durability(facts.get('aof_enabled') === '1', fsync, save),
    eviction(facts.get('maxmemory_policy') ?? 'unknown'),
    ...memory(Number(facts.get('used_memory')), Number(facts.get('maxmemory'))),
  ];
}

function factsOf(info: string): Map<string, string> {
  const lines = info.split(/\r?\n/).map((line) => line.split(/:(.*)/s));
  return new Map(lines.flatMap(([name, value]) => (name && value !== undefined ? [[name, value]] : [])));
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
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return { check, state: 'ok', message: version };
  return { check, state: 'fail', message: version, remedy: `Use Redis ${OLDEST.join('.')} or later.` };
}

function roleFinding(facts: ReadonlyMap<string, string>): Finding[] {
  if (facts.get('role') !== 'slave') return [];
  return [
    {
      check: 'Redis role',
      state: 'fail',
      message: 'is a replica, which cannot be written',
      remedy: 'Set redis.url to the primary.',
    },
  ];
}

function durability(aof: boolean, fsync: string | undefined, save: string | undefined): Finding {
  const check = 'Redis durability';
  const remedy =
    'Set appendonly yes and appendfsync always. Without redis.url po-sync runs its own Redis with these settings.';
  if (aof && fsync === 'always') {
    return { check, state: 'ok', message: 'confirmed writes survive a power cut (appendonly, fsync always)' };
  }
  if (aof) {
    const lost = fsync === 'everysec' ? 'about 1 s' : fsync === 'no' ? 'up to 30 s' : 'an unknown amount';
    return {
      check,
      state: 'warn',
      message: `a power cut may lose ${lost} of writes (appendfsync ${fsync ?? 'unknown'})`,
      remedy,
    };
  }
  if (save !== undefined && save !== '') {
    return {
      check,
      state: 'warn',
      message: `snapshots only (save ${save}): a crash may lose minutes of writes`,
      remedy,
    };
  }
  if (save === undefined)
    return { check, state: 'warn', message: 'no append-only file; the snapshot settings are not readable', remedy };
  return {
    check,
    state: 'fail',
    message: 'nothing is written to disk: a restart of Redis loses every order',
    remedy,
  };
}

function eviction(policy: string): Finding {
  const check = 'Redis eviction';
  if (policy === 'noeviction') return { check, state: 'ok', message: 'noeviction' };
  const message = `maxmemory-policy ${policy}: Redis drops orders when its memory is full`;
  return { check, state: 'fail', message, remedy: 'Set maxmemory-policy noeviction.' };
}

function memory(used: number, most: number): Finding[] {
  if (!(most > 0) || used < most * 0.8) return [];
  const message = `${Math.round((used / most) * 100)} % of maxmemory is in use`;
  return [
    {
      check: 'Redis memory',
      state: 'warn',
      message,
      remedy: 'Raise maxmemory. When its memory is full, Redis refuses writes.',
    },
  ];
}
