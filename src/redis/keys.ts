import { textHash } from '../order/digest.ts';
import { type KeyOf, keyingOf, type Numbers } from '../order/number-key.ts';

/** Settled orders are kept in this many hashes: each small enough to stay packed, few enough to share their overhead. */
const BUCKETS = 65_536;

/** Every Redis key of one environment; the braces keep them on one cluster node. */
export type Keys = ReturnType<typeof keysOf>;

/** Key names for an environment, which has one ledger. */
export function keysOf(environment: string, numbers: Numbers = 'canonical') {
  const apart = new Set<string>();
  const keyOf = keyingOf(numbers, apart);
  const prefix = `{posync:${environment}}`;
  return {
    prefix,
    /** Numbers that are separate orders, although others differ in their spelling only, as far as they were read. */
    apart,
    /** Hash: such a number → when a person said so. */
    numbersApart: `${prefix}:apart`,
    /** What identifies an order in the ledger. */
    keyOf,
    ...orderKeys(prefix, keyOf),
    ...batchKeys(prefix),
    ...deliveryKeys(prefix),
    ...daemonKeys(prefix),
  };
}

/** What is known about every order. */
function orderKeys(prefix: string, keyOf: KeyOf) {
  return {
    /** An order that is not settled, or a dead letter: version and entry. */
    open: (number: string) => `${prefix}:o:${keyOf(number)}`,
    /** List: operator actions on an order, oldest first. */
    operatorActions: (number: string) => `${prefix}:d:${number}`,
    /** Settled orders, packed: key of the order → compact entry. */
    settled: (number: string) => `${prefix}:s:${bucketOf(keyOf(number))}`,
    /** Every key that `settled` can return. */
    settledBuckets: () =>
      Array.from({ length: BUCKETS }, (_, bucket) => `${prefix}:s:${bucket.toString(16)}`),
    /** Sorted set: key of the order → when its next step is due. */
    due: `${prefix}:due`,
    /** Sorted set: key of the order → when the API's list may be asked about it. */
    doubt: `${prefix}:doubt`,
    /** Hash: key of the order → its open dead letter, `batch/ordinal number`; of a number that a file has twice, one a line. */
    waiting: `${prefix}:waiting`,
    /** Hash: key of the order → the dead letter that waits until that one is settled. */
    behind: `${prefix}:behind`,
    /** Hash: content that needed a person, by digest and key of the order → its dead letter, the day when it was shown last, mapping. */
    seen: `${prefix}:seen`,
    /** Hash of an export: order that is accepted and left out → the batch that said so. */
    leftOut: (source: string) => `${prefix}:left-out:${source}`,
    /** What a person was shown before doing something with many dead letters; expires. */
    plan: (id: string) => `${prefix}:plan:${id}`,
    /** Hash: dead letter of a plan → what was done with it; expires. */
    planDone: (id: string) => `${prefix}:plan:${id}:done`,
    /** Hash: order number → how often the API's last complete list showed it, where more than once. */
    listedTwice: `${prefix}:listed-twice`,
  };
}

/** Batches, and what became of their orders. */
function batchKeys(prefix: string) {
  return {
    batch: (batch: string) => `${prefix}:b:${batch}`,
    /** Bitmap: which ordinals of the batch are counted. */
    counted: (batch: string) => `${prefix}:b:${batch}:counted`,
    /** Hash: ordinal → result of an order that did not simply succeed. */
    results: (batch: string) => `${prefix}:b:${batch}:results`,
    /** Hash: ordinal → how its dead letter was closed. */
    closed: (batch: string) => `${prefix}:b:${batch}:closed`,
    /** Hash: ordinal → batch and number of the order that corrects its dead letter, which counts until that batch is done. */
    taken: (batch: string) => `${prefix}:b:${batch}:taken`,
    /** The batch of the correction that was sent first of a revision; expires. */
    correcting: (id: string, revision: number) => `${prefix}:correcting:${id}@${revision}`,
    /** Set: ids of dead letters that were closed, whose orders are to be answered once more. */
    toAnswer: `${prefix}:to-answer`,
    /** Who reads or settles a batch; writes the folders `open`; requests a token; reads the API's list (`verification`). */
    lease: (of: string) => `${prefix}:lease:${of}`,
    /** Hash: batch whose file is unreadable → source and name of the file, until a later file of this name is read. */
    unreadable: `${prefix}:unreadable`,
    /** Hash: an order of a batch that a person discarded or corrected before Redis lost that, or the `batch` that was cancelled → when and by whom; expires. */
    discards: (batch: string) => `${prefix}:b:${batch}:discards`,
    /** Sorted set of all batches by start. */
    batches: `${prefix}:batches`,
    /** Set of batches that are not done. */
    active: `${prefix}:active`,
    /** Set of held batches. */
    held: `${prefix}:held`,
    /** Hash: short batch number → batch; compact entries of the ledger contain the short one. `last`: the last number. */
    batchNames: `${prefix}:batch-names`,
    /** Set of batches whose last order is counted. */
    finished: `${prefix}:finished`,
    /** Stream: batches that began, changed their state or were forgotten, and dead letters that were closed. */
    changes: `${prefix}:changes`,
    /** Sorted set: batch whose settled file is checked for changes → when. */
    fileChecks: `${prefix}:file-checks`,
  };
}

/** Pauses, token, verification and rebuild. */
function deliveryKeys(prefix: string) {
  return {
    /** Number of changes that one daemon made. */
    own: (daemon: string) => `${prefix}:own:${daemon}`,
    breaker: `${prefix}:breaker`,
    /** List of past pauses, newest first. */
    pauses: `${prefix}:pauses`,
    /** Hash: when the rate limit allows the next call, and how many calls passed those that wait. */
    rate: `${prefix}:rate`,
    token: `${prefix}:token`,
    /** Why the last token request failed, and until when no other is made. */
    tokenFailure: `${prefix}:token:failure`,
    /** Hash: when the API's list may be read next, how the last reads of it ended, and how old the one in the ledger is. */
    verification: `${prefix}:verification`,
    /** Hash: why and from when the ledger is rebuilt from the API's list; absent when it is not needed. */
    rebuild: `${prefix}:rebuild`,
    /** Hash: journal of decisions → how many bytes of it were done here. */
    journals: `${prefix}:journals`,
    /** Hash: what shows that the API's list is complete, and the one order that must show it first. */
    listProof: `${prefix}:list-proof`,
    /** The numbers that the list showed before that order. */
    listShown: `${prefix}:list-shown`,
    /** Sorted set: a few accepted orders → when; which a complete list must contain. */
    canaries: `${prefix}:canaries`,
    /** Hash: day → what the lists of that day showed of the guarantee; when a list was asked for, and when the last complete one began. */
    guarantee: `${prefix}:guarantee`,
    /** Sorted set: a few created orders that no list has shown → when the API answered. */
    unseen: `${prefix}:unseen`,
    /** Hash: export path → the version read last: SHA-256 and digest of the mapping; with `//claim` which batch reads it, with `//shown` since when it shows its orders; `SOURCE#newest` → the newest file claimed. */
    exports: `${prefix}:exports`,
  };
}

/** Daemons, notices and the epoch. */
function daemonKeys(prefix: string) {
  return {
    /** The heartbeat of a daemon; expires after its end. */
    daemon: (id: string) => `${prefix}:daemon:${id}`,
    /** Written by readiness checks, to see whether Redis takes writes. */
    readiness: `${prefix}:readiness`,
    /** Sorted set: daemon → time of its last heartbeat. */
    daemons: `${prefix}:daemons`,
    /** Hash: notice about a lasting state (a pause, a held batch, a silent source) → when it was sent. */
    notices: `${prefix}:notices`,
    /** Hash: source → when its last file arrived that could be read and is no fix file. A source without one: its first use. */
    heard: `${prefix}:heard`,
    /** Hash: what all daemons counted in the hour that began at this time; expires. */
    hour: (at: number) => `${prefix}:admin:hour:${at}`,
    /** The key that signs the sessions of the dashboard. */
    sessionKey: `${prefix}:admin:session-key`,
    /** The person to whom a one-time code of the dashboard was printed, by the code's digest; expires. */
    dashboardCode: (digest: string) => `${prefix}:admin:code:${digest}`,
    /**
     * Hash: the epoch of this ledger, which changes when Redis loses its data, and what goes with it: how many changes it has, its
     * time, format and API; `recalled`: the epoch in which what people decided was last entered; `forgotten`: the day, since
     * 1970, on which orders were forgotten last.
     */
    identity: `${prefix}:identity`,
  };
}

/** The bucket of settled orders that a key belongs to. */
export function bucketOf(key: string): string {
  return (textHash(key, 0) % BUCKETS).toString(16);
}
