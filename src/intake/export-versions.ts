import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { type Config, type ExportSource, mappingsFor } from '../config/config.ts';
import { isPattern } from '../config/source-schema.ts';
import { type Deciding, decided } from '../journal/decided.ts';
import type { Decision, Noted } from '../journal/decision.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import { followsLost } from '../ledger/identity.ts';
import { type ClaimedFile, claimTimeOf } from '../order/batch.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/time.ts';
import { filesOf, originOf } from './names.ts';
import { byAge } from './stability.ts';

/** A complete copy that is still at `draft`, where no daemon looks for files to read. */
export type CopiedFile = ClaimedFile & {
  sha256: string;
  bytes: number;
  draft: string;
  mtimeNs?: bigint;
};

/**
 * `new`: this copy is the one to read. `theirs`: another daemon is about to read this version, or reads it. `older`: a newer file of
 * a source with `newestOnly` was claimed before.
 */
export type Verdict = 'new' | 'unchanged' | 'theirs' | 'older';

type VersionsDeps = Omit<Deciding, 'config' | 'store'> & {
  config: Pick<Config, 'sources' | 'mappings'> & Deciding['config'];
  redis: Redis;
  keys: Keys;
  batches: Pick<Batches, 'find' | 'isHeld' | 'epoch' | 'isBehind'>;
  time: Pick<RedisTime, 'now'>;
};

/** Which batch reads a version of an export, and since when in ledger time. */
export type Claim = { version: string; batch: string; at: number };

async function claimAt(
  field: string,
  { redis, keys }: Pick<VersionsDeps, 'redis' | 'keys'>,
): Promise<Claim | undefined> {
  const claimed = await redis.hget(keys.exports, field);
  return claimed === null ? undefined : (JSON.parse(claimed) as Claim);
}

/** Whether Redis lost data, also if no daemon noticed that yet, and what the journals know of it is not entered yet. */
async function lacksVersions({
  redis,
  keys,
  batches,
}: Pick<VersionsDeps, 'redis' | 'keys' | 'batches'>): Promise<boolean> {
  if (await batches.isBehind()) return true;
  return (
    (await redis.hget(keys.identity, 'recalled')) !== batches.epoch() &&
    (await followsLost({ redis, keys }))
  );
}

/** Who reads an export. */
const BY = 'po-sync';

/** A daemon that claimed a version and did not begin its batch for so long is gone. Milliseconds. */
const BEGINS_WITHIN = 10_000;

/** Replaces fields only if all of them are still as they were seen; `''` when there was none. Each: its name, as seen, as it becomes. */
const REPLACE = `for i = 1, #ARGV, 3 do
  if (redis.call('HGET', KEYS[1], ARGV[i]) or '') ~= ARGV[i + 1] then return 0 end
end
for i = 1, #ARGV, 3 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2]) end
return 1`;

async function replaceIn(
  { redis, keys }: Pick<VersionsDeps, 'redis' | 'keys'>,
  fields: readonly string[],
): Promise<boolean> {
  return fields.length === 0 || (await redis.eval(REPLACE, 1, keys.exports, ...fields)) === 1;
}

export type ExportVersions = ReturnType<typeof createExportVersions>;

/**
 * Which versions of the exports were read, for all daemons. A version is a content with the mapping that reads it: after
 * the mapping changed, the same content is read again.
 */
export function createExportVersions(deps: VersionsDeps) {
  const { config, redis, keys, batches, time } = deps;
  const deciding = { ...deps, store: { redis, keys, time } };
  const versionOf = ({ source, sha256 }: Pick<CopiedFile, 'source' | 'sha256'>): string =>
    `${sha256} ${mappingDigest(source, config)}`;

  function readOf(
    { batch, source, ...file }: ClaimedFile,
    version: string,
    isOver: boolean,
    [, , newest]: readonly string[] = [],
  ): Decision {
    const { read } = fieldsOf({ source, ...file });
    const what = { decision: 'read', batch, source, file: read, version, isOver } as const;
    return { ...what, ...(newest && { newest }) };
  }

  /** Claims the version of a copy. Only one daemon gets it; when that one dies before it was read, another one does. */
  async function claim(copy: CopiedFile): Promise<Verdict> {
    const { read, claim: claimedBy } = fieldsOf(copy);
    const version = versionOf(copy);
    const source = newestOnly(copy.source, config);
    const fields = [read, claimedBy, newestField(copy.source)] as const;
    const [known, claimed = null, newest = null] = await redis.hmget(keys.exports, ...fields);
    // What Redis lost is entered first. Asked after the version was looked up, so that no loss falls in between.
    if (await lacksVersions({ redis, keys, batches })) return 'theirs';
    const { isOlder, become } = rankOf(copy, newest, { source, now: time.now() });
    if (known === version)
      return (await replaceIn({ redis, keys }, become)) ? 'unchanged' : 'theirs';
    if (isOlder) return 'older';
    const last = claimed === null ? undefined : (JSON.parse(claimed) as Claim);
    if (last?.version === version) {
      const state = await stateOf(last, copy);
      // A batch that was resumed after a crash does not know its file if that is in a folder of a pattern.
      if (state === 'unchanged')
        await wasRead(copy, copy.sha256, !(await isUnreadable(last.batch)));
      if (state === 'unchanged' && !(await replaceIn({ redis, keys }, become))) return 'theirs';
      if (state !== 'gone') return state;
    }
    const { batch } = copy;
    const ours = JSON.stringify({ version, batch, at: time.now() } satisfies Claim);
    const isOurs = await decided(BY, [readOf(copy, version, false, become)], deciding, () =>
      replaceIn({ redis, keys }, [claimedBy, claimed ?? '', ours, ...become]),
    );
    return isOurs ? 'new' : 'theirs';
  }

  /** Whether another daemon still reads the version of a copy, or is about to, or nobody may. Claims nothing, so the file need not be copied again. */
  async function isTheirs(copy: CopiedFile): Promise<boolean> {
    if (await lacksVersions({ redis, keys, batches })) return true;
    const last = await claimAt(fieldsOf(copy).claim, { redis, keys });
    return last?.version === versionOf(copy) && (await stateOf(last, copy)) === 'theirs';
  }

  /** `gone`: nobody is going to read the version that was claimed. */
  async function stateOf(
    { batch, at }: Claim,
    copy: CopiedFile,
  ): Promise<'unchanged' | 'theirs' | 'gone'> {
    const begun = await batches.find(batch);
    if (begun !== undefined && begun.state !== 'reading') return 'unchanged';
    // The copy of a daemon that died is read by any daemon that sees it.
    const spooled = path.join(path.dirname(path.dirname(copy.path)), batch, copy.name);
    const isRead =
      (await batches.isHeld(batch)) || (await exists(spooled)) || time.now() - at < BEGINS_WITHIN;
    return isRead ? 'theirs' : 'gone';
  }

  /** The version of a file was read to its end: its orders were admitted, or it is unreadable. */
  async function wasRead(file: ClaimedFile, content: string, isAdmitted: boolean): Promise<void> {
    const version = versionOf({ ...file, sha256: content });
    const { read, claim: claimedBy } = fieldsOf(file);
    const last = await claimAt(claimedBy, { redis, keys });
    const isShown = isAdmitted && last?.version === version;
    await decided(BY, [readOf(file, version, true)], deciding, () =>
      redis.hset(keys.exports, { [read]: version, ...(isShown && { [read + SHOWN]: last.at }) }),
    );
  }

  async function isUnreadable(batch: string): Promise<boolean> {
    const begun = await batches.find(batch);
    return (begun?.turnedAway ?? begun?.unreadable) !== undefined;
  }

  /** What is known of the last version that was claimed, if it had other content; `reading`: not yet whether it can be read. */
  async function lastOf(copy: CopiedFile): Promise<'unreadable' | 'reading' | undefined> {
    const last = await claimAt(fieldsOf(copy).claim, { redis, keys });
    if (last === undefined || last.version.startsWith(`${copy.sha256} `)) return undefined;
    const begun = await batches.find(last.batch);
    if (begun?.turnedAway ?? begun?.unreadable) return 'unreadable';
    const waits = begun?.held !== undefined;
    return !waits && (await stateOf(last, copy)) === 'theirs' ? 'reading' : undefined;
  }

  return { claim, isTheirs, wasRead, lastOf };
}

/**
 * Since when exports have shown the orders that they show now: the earliest claim of a version that was admitted, in ledger time;
 * `Infinity` where there is none. What waits or cannot be read shows nothing: the version before it counts.
 */
export async function shownSince(
  { sources }: Pick<Config, 'sources'>,
  { redis, keys }: Pick<VersionsDeps, 'redis' | 'keys'>,
): Promise<number> {
  const fields = Object.entries(await redis.hgetall(keys.exports));
  const times = sources.map(async (source) => {
    if (source.type !== 'export') return Number.POSITIVE_INFINITY;
    const shown = fields.flatMap(([field, at]): [string, number][] =>
      field.startsWith(`${source.name}/`) && field.endsWith(SHOWN)
        ? [[field.slice(source.name.length + 1, -SHOWN.length), Number(at)]]
        : [],
    );
    return shownIn(source, new Map(shown));
  });
  return Math.min(...(await Promise.all(times)));
}

/** Since when a source has shown what it shows. `shown`: file → since when. Each file of a pattern shows other orders. */
async function shownIn(source: ExportSource, shown: ReadonlyMap<string, number>): Promise<number> {
  if (shown.size === 0) return Number.POSITIVE_INFINITY;
  if (source.newestOnly || !isPattern(source.path)) return Math.max(...shown.values());
  const files = (await filesOf(source)).map((file) => originOf(file, source));
  const times = files.flatMap((file) => shown.get(file) ?? []);
  // Where no file is left, the folder may be away: all of them count.
  return Math.min(...(times.length > 0 ? times : shown.values()));
}

/** The source with this name if it has `newestOnly`. */
function newestOnly(name: string, { sources }: Pick<Config, 'sources'>): ExportSource | undefined {
  return sources.find(
    (one): one is ExportSource => one.name === name && one.type === 'export' && one.newestOnly,
  );
}

/** Nanoseconds in a millisecond. */
const NS_IN_MS = 1_000_000n;

/** The newest file of a source with `newestOnly` that was claimed, by its name below the first folder of the pattern. No file has this field. */
const newestField = (source: string): string => `${source}#newest`;

/** `path`: the pattern; files of another one are not compared. */
type Newest = { path: string; file: string; mtimeNs: string };

/** The newest file that was claimed, as stored; undefined if there is none, or it matched another pattern. */
function newestClaimed(
  stored: string | null | undefined,
  { path: pattern }: Pick<ExportSource, 'path'>,
) {
  if (!stored) return undefined;
  const { path: by, file, mtimeNs } = JSON.parse(stored) as Newest;
  return by === pattern ? { file, mtimeNs: BigInt(mtimeNs) } : undefined;
}

/**
 * Whether a file of a source with `newestOnly` is older than the newest that was claimed, and the field that has the newest: its
 * name, its value as seen, and as it becomes. Nothing for any other source.
 */
function rankOf(
  { name, origin = name, mtimeNs }: Pick<ClaimedFile, 'name' | 'origin'> & { mtimeNs?: bigint },
  stored: string | null,
  { source, now }: { source: ExportSource | undefined; now: number },
): { isOlder: boolean; become: string[] } {
  if (source === undefined || mtimeNs === undefined) return { isOlder: false, become: [] };
  const last = newestClaimed(stored, source);
  if (last !== undefined && byAge({ file: origin, mtimeNs }, last) < 0)
    return { isOlder: true, become: [] };
  // A time in the future would make every file older that is written until then.
  const latest = BigInt(Math.floor(now)) * NS_IN_MS;
  const past = mtimeNs > latest ? latest : mtimeNs;
  const known = { file: origin, mtimeNs: past < 0n ? 0n : past };
  const isNewer = last === undefined || byAge(last, known) < 0;
  const next = { path: source.path, file: origin, mtimeNs: String(known.mtimeNs) } satisfies Newest;
  return {
    isOlder: false,
    become: [
      newestField(source.name),
      stored ?? '',
      isNewer ? JSON.stringify(next) : (stored ?? ''),
    ],
  };
}

/** Enters that a version was read, or is read, which Redis lost. Can be repeated. */
export async function enterRead(
  one: Extract<Noted, { decision: 'read' }>,
  { redis, keys }: Pick<VersionsDeps, 'redis' | 'keys'>,
): Promise<void> {
  const { file, version, batch, at, source, isOver, newest } = one;
  const last = await claimAt(file + CLAIM, { redis, keys });
  const isOlder = (claimTimeOf(last?.batch ?? '') ?? 0) > (claimTimeOf(batch) ?? 0);
  if (isOlder) return;
  const claim = JSON.stringify({ version, batch, at } satisfies Claim);
  await redis.hset(keys.exports, {
    [file + CLAIM]: claim,
    ...(isOver && { [file]: version, [file + SHOWN]: at }),
  });
  const field = newestField(source);
  const known = await redis.hget(keys.exports, field);
  const ageOf = (text: string) => BigInt((JSON.parse(text) as Newest).mtimeNs);
  if (newest && (known === null || ageOf(known) < ageOf(newest)))
    await redis.hset(keys.exports, field, newest);
}

const CLAIM = '//claim';

/** When the last version whose orders were admitted was claimed. */
const SHOWN = '//shown';

/** No path of a file has `//`, so that no file has the fields of another. */
function fieldsOf({
  source,
  name,
  origin = name,
}: Pick<ClaimedFile, 'source' | 'name' | 'origin'>) {
  const read = `${source}/${origin}`;
  return { read, claim: read + CLAIM };
}

/** A short digest of the mapping of a source. */
export function mappingDigest(
  source: string,
  config: Pick<Config, 'sources' | 'mappings'>,
): string {
  return sha256(JSON.stringify(mappingsFor(config, source))).slice(0, 16);
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function exists(file: string): Promise<boolean> {
  return (await access(file).catch(() => 'missing')) === undefined;
}
