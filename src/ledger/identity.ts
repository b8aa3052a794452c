import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { codeOf } from '../core/errors.ts';
import { makePath, PRIVATE_FOLDER } from '../core/folder.ts';
import { hasMark, markOf, openRegularFile, writeWhole } from '../core/regular-file.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import type { RedisTime } from '../redis/time.ts';
import { type Loss, type OwnCause, ROLLED_BACK } from './pause-cause.ts';

/** How the ledger in Redis compares with what the daemon remembers. */
export type Standing = 'same' | 'new' | Loss;

export type Identity = ReturnType<typeof createIdentity>;

type IdentityDeps = {
  redis: Redis;
  keys: Keys;
  time: RedisTime;
  /** Where the checkpoint outlives this process. */
  checkpoint: CheckpointStore;
  /** Milliseconds until nothing sent before a rollback can still arrive and be missing from the list. */
  wait: number;
};

const NO_CHECKPOINT: Checkpoint = { epoch: '', sequence: 0 };

/** A daemon that was suspended for longer counts as one that lost its changes: then the list is read once more. */
const KEEP_OWN = 7 * 86_400_000;

/**
 * Distinguishes the epochs of the ledger. Each epoch has a name and counts its changes; both are remembered in Redis,
 * in memory, and in a file. A Redis that knows less than the daemon was rolled back. Because other daemons may raise
 * the count again before it is compared, each daemon's own changes are also counted separately.
 */
export function createIdentity(deps: IdentityDeps) {
  const { checkpoint } = deps;
  const compareWith = createComparison(deps);
  const daemon = randomUUID();
  let made = 0;
  let known: Checkpoint = NO_CHECKPOINT;
  let stored = known;
  let establishing: Promise<Standing> | undefined;

  /**
   * Compares Redis with what is remembered. Where it forgot, a new epoch begins, delivery is held and the API's list is
   * requested, in one step; other daemons then find the new epoch. Any daemon may call this at any time. `other`: the ledger
   * that was used meanwhile, so that this one cannot know what that one sent.
   */
  function establish(other?: string): Promise<Standing> {
    establishing ??= compare(other).finally(() => {
      establishing = undefined;
    });
    return establishing;
  }

  /** The file may know more than the memory: another daemon of this machine writes it too, while this one is suspended. */
  async function compare(other: string | undefined): Promise<Standing> {
    const kept = await checkpoint.read();
    const checkpoints = [known, kept].filter(({ epoch }) => epoch !== '');
    // Where the list is to be read already, nothing is sent before it was.
    const isNews = other !== undefined && (await deps.redis.exists(deps.keys.rebuild)) === 0;
    const afterOther = isNews
      ? [{ ...kept, epoch: `${kept.epoch}@${other}`, wasReplaced: true }]
      : [];
    let standing: Standing = 'same';
    for (const remembered of [
      ...(checkpoints.length > 0 ? checkpoints : [NO_CHECKPOINT]),
      ...afterOther,
    ]) {
      if (standing !== 'same') continue;
      const found = await compareWith(remembered, daemon, made);
      standing = found.standing;
      const { epoch, sequence } = found;
      known = {
        epoch,
        sequence: epoch === known.epoch ? Math.max(known.sequence, sequence) : sequence,
      };
    }
    await store();
    return standing;
  }

  /** Redis has so many changes of this daemon. */
  function sawOwn(changes: number): void {
    made = Math.max(made, changes);
  }

  /** Redis has the change with this sequence. */
  function saw(sequence: number): void {
    if (sequence > known.sequence) known = { ...known, sequence };
  }

  /** Keeps the file current; call now and then and at the end. */
  async function store(): Promise<void> {
    const now = known;
    if (now.epoch === stored.epoch && now.sequence === stored.sequence) return;
    if (await wasWritten(checkpoint.write(now))) stored = now;
  }

  return { establish, saw, sawOwn, store, known: () => known, own: () => ({ daemon, made }) };
}

/** Not while its folder is gone, which the daemon reports: it is written when the folder is back. */
function wasWritten(writing: Promise<void>): Promise<boolean> {
  return writing.then(
    () => true,
    (error: unknown) => (codeOf(error) === 'folder-gone' ? false : Promise.reject(error)),
  );
}

/** When this ledger began with nothing in it: what was claimed before that is not in it. Ledger time. */
export async function begunAt({
  redis,
  keys,
}: Pick<IdentityDeps, 'redis' | 'keys'>): Promise<number> {
  return Number((await redis.hget(keys.identity, 'begunAt')) ?? 0);
}

/** Whether the ledger follows one that was lost, at least in part; false where none was used before. */
export async function followsLost({
  redis,
  keys,
}: Pick<IdentityDeps, 'redis' | 'keys'>): Promise<boolean> {
  return ((await redis.hget(keys.identity, 'succeeds')) ?? '').trim() !== '';
}

/** Whether Redis has another epoch than the known one, or fewer changes. */
export async function differs(
  { redis, keys }: Pick<IdentityDeps, 'redis' | 'keys'>,
  known: Checkpoint,
) {
  const [epoch, sequence] = await redis.hmget(keys.identity, 'epoch', 'sequence');
  return known.epoch !== '' && (epoch !== known.epoch || Number(sequence ?? 0) < known.sequence);
}

/** How many changes of the ledger other daemons made. */
export async function changesByOthers(
  { redis, keys }: Pick<IdentityDeps, 'redis' | 'keys'>,
  identity: Identity,
) {
  // Read first: a change of ours in between is not counted as theirs.
  const sequence = await redis.hget(keys.identity, 'sequence');
  return Number(sequence ?? 0) - identity.own().made;
}

/** Builds the step that compares Redis with one checkpoint, and begins a new epoch where Redis knows too little. */
function createComparison({ redis, keys, time, wait }: IdentityDeps) {
  const script = readScript(new URL('./identity.lua', import.meta.url));

  return async (remembered: Checkpoint, daemon: string, made: number) => {
    const { epoch: before, sequence: reached } = remembered;
    const holdWhere = (isEmpty: boolean) => {
      const facts = { loss: lossOf(remembered, isEmpty) };
      const cause: OwnCause = { code: ROLLED_BACK, facts };
      return JSON.stringify({ ...cause, since: time.now() });
    };
    const used = [keys.identity, keys.rebuild, keys.breaker, keys.own(daemon)];
    const asked = {
      epoch: before,
      sequence: reached,
      name: randomUUID(),
      made,
      keep: KEEP_OWN,
      now: time.now(),
      wait,
      field: `hold:${ROLLED_BACK}`,
      hold: holdWhere(false),
      emptied: holdWhere(true),
    };
    const answer = await runScript(redis, script, used, [JSON.stringify(asked)]);
    const [found, epoch, sequence] = answer as [Standing, string, string];
    const isLost = found === 'rolled-back' || found === 'emptied';
    return {
      standing: isLost ? lossOf(remembered, found === 'emptied') : found,
      epoch,
      sequence: Number(sequence),
    };
  };
}

function lossOf({ isCopy, wasReplaced }: Checkpoint, isEmpty: boolean): Loss {
  if (wasReplaced) return 'returned';
  if (isCopy) return 'copied';
  return isEmpty ? 'emptied' : 'rolled-back';
}

/** The latest state of the ledger that this daemon saw; without `own` its changes are not counted separately. */
export type LedgerIdentity = Pick<Identity, 'known' | 'saw'> &
  Partial<Pick<Identity, 'own' | 'sawOwn'>>;

/** What was last seen of the ledger: the name of its epoch, and the sequence of its latest change. */
export type Checkpoint = {
  epoch: string;
  sequence: number;
  isCopy?: boolean;
  wasReplaced?: boolean;
};

/** Keeps a checkpoint where it outlives the process. None reads as the epoch ''. */
export type CheckpointStore = {
  read(): Promise<Checkpoint>;
  write(checkpoint: Checkpoint): Promise<void>;
};

/**
 * A checkpoint in a file, written completely or not at all. Where Redis keeps its data beside the file, both are copied
 * together: then a copy of the file is noticed, too.
 */
export function createCheckpointFile(
  file: string,
  { isBesideRedis = false } = {},
): CheckpointStore {
  return {
    read: () => readCheckpoint(file, isBesideRedis),
    write: (checkpoint) => writeCheckpoint(file, checkpoint),
  };
}

async function readCheckpoint(file: string, noticesCopies: boolean): Promise<Checkpoint> {
  try {
    await using handle = await openRegularFile(file);
    const value: unknown = JSON.parse(await handle.readFile('utf8'));
    if (typeof value === 'object' && value !== null && 'epoch' in value && 'sequence' in value) {
      const kept = { epoch: String(value.epoch), sequence: Number(value.sequence) };
      if (!noticesCopies || !('mark' in value) || (await hasMark(handle, String(value.mark))))
        return kept;
      // An epoch that Redis does not have, and the same one each time that this copy is read.
      return { ...kept, epoch: `${kept.epoch}@${await markOf(handle)}`, isCopy: true };
    }
  } catch (error) {
    // A damaged file is no checkpoint. It is written atomically, so only a failing disk damages it.
    if (!(error instanceof SyntaxError) && codeOf(error) !== 'file-missing') throw error;
  }
  return { epoch: '', sequence: 0 };
}

async function writeCheckpoint(file: string, { epoch, sequence }: Checkpoint): Promise<void> {
  await makePath(dirname(file), PRIVATE_FOLDER);
  await writeWhole(file, (mark) => JSON.stringify({ epoch, sequence, mark }));
}
