import { randomUUID } from 'node:crypto';
import type { Redis, RedisTime } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import type { Checkpoint, CheckpointStore } from './checkpoint-file.ts';

/**
 * How the ledger in Redis compares with what the daemon remembers.
 * `rolled-back`: it lost changes: flushed, restored from an old file, failed over, or a different Redis.
 */
export type Standing = 'same' | 'new' | 'rolled-back';

export type Identity = ReturnType<typeof createIdentity>;

/** The code of the pause of delivery after a rollback. */
export const ROLLED_BACK = 'ledger-rolled-back';

/** The code of the pause of delivery while a new ledger reads the API's list. */
export const NEW_LEDGER = 'ledger-new';

type IdentityDeps = {
  redis: Redis;
  keys: Keys;
  time: RedisTime;
  /** Where the trace outlives this process. */
  checkpoint: CheckpointStore;
  /** Milliseconds until nothing sent before a rollback can still arrive and be missed by the list. */
  wait: number;
};

const NO_CHECKPOINT: Checkpoint = { epoch: '', sequence: 0 };

/** A daemon that stood still for longer is taken for one that lost its changes: then the list is read once more. */
const KEEP_OWN = 7 * 86_400_000;

/**
 * Distinguishes the epochs of the ledger. Each epoch has a name and counts its changes; both are remembered in
 * Redis, in memory, and in a file. A Redis that knows less than the daemon was rolled back. As others may bring its
 * number up again before anybody compares, each daemon's own changes are counted apart too.
 */
export function createIdentity({ redis, keys, checkpoint, time, wait }: IdentityDeps) {
  const script = readScript(new URL('./identity.lua', import.meta.url));
  const daemon = randomUUID();
  let made = 0;
  let known: Checkpoint = NO_CHECKPOINT;
  let stored = known;
  let establishing: Promise<Standing> | undefined;

  /**
   * Compares Redis with what we remember. Where it forgot, a new life begins, delivery is held and the API's list is
   * asked for, in one step; other daemons then find the new life. May be called at any time, by any daemon.
   */
  function establish(): Promise<Standing> {
    establishing ??= compare().finally(() => {
      establishing = undefined;
    });
    return establishing;
  }

  /** The file may know more than our memory: another daemon of this machine writes it too, while we sleep. */
  async function compare(): Promise<Standing> {
    const kept = await checkpoint.read();
    const checkpoints = [known, kept].filter(({ epoch }) => epoch !== '');
    let standing: Standing = 'same';
    for (const remembered of checkpoints.length > 0 ? checkpoints : [NO_CHECKPOINT]) {
      if (standing === 'same') standing = await compareWith(remembered);
    }
    await store();
    return standing;
  }

  async function compareWith(remembered: Checkpoint): Promise<Standing> {
    const hold = {
      code: ROLLED_BACK,
      reason: "Redis lost part of the ledger; the API's list is read first",
      since: time.now(),
    };
    const answer = await runScript(
      redis,
      script,
      [keys.identity, keys.rebuild, keys.breaker, keys.own(daemon)],
      [
        remembered.epoch,
        remembered.sequence,
        randomUUID(),
        wait,
        `hold:${ROLLED_BACK}`,
        JSON.stringify(hold),
        made,
        KEEP_OWN,
      ],
    );
    const [standing, epoch, sequence] = answer as [Standing, string, string];
    known = { epoch, sequence: epoch === known.epoch ? Math.max(known.sequence, Number(sequence)) : Number(sequence) };
    return standing;
  }

  /** Takes note that so many changes of ours are in Redis. */
  function sawOwn(changes: number): void {
    made = Math.max(made, changes);
  }

  /** Takes note of a change's number. */
  function saw(sequence: number): void {
    if (sequence > known.sequence) known = { ...known, sequence };
  }

  /** Keeps the file current; call now and then and at the end. */
  async function store(): Promise<void> {
    const now = known;
    if (now.epoch === stored.epoch && now.sequence === stored.sequence) return;
    await checkpoint.write(now);
    stored = now;
  }

  return { establish, saw, sawOwn, store, known: () => known, own: () => ({ daemon, made }) };
}
