import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { type Config, mappingFor } from '../config/config.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import { followsLost } from '../ledger/identity.ts';
import type { ClaimedFile } from '../order/batch.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/time.ts';

/** A complete copy that is still at `draft`, where no daemon looks for files to read. */
export type CopiedFile = ClaimedFile & { sha256: string; bytes: number; draft: string };

/** `new`: this copy is the one to read. `theirs`: another daemon is about to read this version, or reads it. */
export type Verdict = 'new' | 'unchanged' | 'theirs';

type VersionsDeps = {
  config: Pick<Config, 'sources' | 'mappings'>;
  redis: Redis;
  keys: Keys;
  batches: Pick<Batches, 'find' | 'isHeld' | 'epoch' | 'isBehind'>;
  time: Pick<RedisTime, 'now'>;
};

/** Which batch reads a version of an export, and since when in ledger time. */
export type Claim = { version: string; batch: string; at: number };

export async function claimAt(
  field: string,
  { redis, keys }: Pick<VersionsDeps, 'redis' | 'keys'>,
): Promise<Claim | undefined> {
  const claimed = await redis.hget(keys.exports, field);
  return claimed === null ? undefined : (JSON.parse(claimed) as Claim);
}

/** Whether Redis lost data, also if no daemon noticed that yet, and what the reports know of it is not entered yet. */
async function lacksVersions({ redis, keys, batches }: Omit<VersionsDeps, 'config' | 'time'>): Promise<boolean> {
  if (await batches.isBehind()) return true;
  return (await redis.get(keys.recalled)) !== batches.epoch() && (await followsLost({ redis, keys }));
}

/** A daemon that claimed a version and did not begin its batch for so long is gone. Milliseconds. */
const BEGINS_WITHIN = 10_000;

/** Replaces a claim only if it is still the one that was seen; `''` when there was none. */
const REPLACE = `if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1`;

export type ExportVersions = ReturnType<typeof createExportVersions>;

/**
 * Which versions of the exports were read, for all daemons. A version is a content with the mapping that reads it: after
 * the mapping changed, the same content is read again.
 */
export function createExportVersions({ config, redis, keys, batches, time }: VersionsDeps) {
  const mappingOf = (source: string): string => mappingDigest(source, config);

  const versionOf = ({ source, sha256 }: CopiedFile): string => `${sha256} ${mappingOf(source)}`;

  /** Claims the version of a copy. Only one daemon gets it; when that one dies before it was read, another one does. */
  async function claim(copy: CopiedFile): Promise<Verdict> {
    const { read, mapping: readBy, claim: claimedBy } = fieldsOf(copy);
    const mapping = mappingOf(copy.source);
    const version = versionOf(copy);
    const [known, readWith, claimed = null] = await redis.hmget(keys.exports, read, readBy, claimedBy);
    // What Redis lost is entered first. Asked after the version was looked up, so that no loss falls in between.
    if (await lacksVersions({ redis, keys, batches })) return 'theirs';
    // An earlier version of po-sync did not store the mapping.
    if (known === copy.sha256 && (readWith ?? mapping) === mapping) return 'unchanged';
    const last = claimed === null ? undefined : (JSON.parse(claimed) as Claim);
    if (last?.version === version) {
      const state = await stateOf(last, copy);
      // A batch that was resumed after a crash does not know its file if that is in a folder of a pattern.
      if (state === 'unchanged') await wasRead(copy, copy.sha256);
      if (state !== 'gone') return state;
    }
    const ours = JSON.stringify({ version, batch: copy.batch, at: time.now() } satisfies Claim);
    const isOurs = await redis.eval(REPLACE, 1, keys.exports, claimedBy, claimed ?? '', ours);
    return isOurs === 1 ? 'new' : 'theirs';
  }

  /** Whether another daemon still reads the version of a copy, or is about to, or nobody may. Claims nothing, so the file need not be copied again. */
  async function isTheirs(copy: CopiedFile): Promise<boolean> {
    if (await lacksVersions({ redis, keys, batches })) return true;
    const last = await claimAt(fieldsOf(copy).claim, { redis, keys });
    return last?.version === versionOf(copy) && (await stateOf(last, copy)) === 'theirs';
  }

  /** `gone`: nobody is going to read the version that was claimed. */
  async function stateOf({ batch, at }: Claim, copy: CopiedFile): Promise<'unchanged' | 'theirs' | 'gone'> {
    const begun = await batches.find(batch);
    if (begun !== undefined && begun.state !== 'reading') return 'unchanged';
    // The copy of a daemon that died is read by any daemon that sees it.
    const spooled = path.join(path.dirname(path.dirname(copy.path)), batch, copy.name);
    const isRead = (await batches.isHeld(batch)) || (await exists(spooled)) || time.now() - at < BEGINS_WITHIN;
    return isRead ? 'theirs' : 'gone';
  }

  /** The version of a file was read to its end, or found unreadable. */
  async function wasRead(file: ClaimedFile, content: string): Promise<void> {
    const { read, mapping } = fieldsOf(file);
    await redis.hset(keys.exports, { [read]: content, [mapping]: mappingOf(file.source) });
  }

  return { claim, isTheirs, wasRead };
}

/** No path of a file has `//`, so that no file has the fields of another. */
export function fieldsOf({ source, name, origin = name }: Pick<ClaimedFile, 'source' | 'name' | 'origin'>) {
  const read = `${source}/${origin}`;
  return { read, mapping: `${read}//mapping`, claim: `${read}//claim` };
}

/** A short digest of the mapping of a source. */
export function mappingDigest(source: string, config: VersionsDeps['config']): string {
  return sha256(JSON.stringify(mappingFor(config, source) ?? null)).slice(0, 16);
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function exists(file: string): Promise<boolean> {
  return (await access(file).catch(() => 'missing')) === undefined;
}
