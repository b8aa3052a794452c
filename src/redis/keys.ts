import { createHash } from 'node:crypto';
import { textHash } from '../order/text-hash.ts';

/** Settled orders are kept in this many hashes: small enough each to stay packed, few enough to share their cost. */
const BUCKETS = 65_536;

/** Every Redis key of one environment at one API address; the braces keep them on one cluster node. */
export type Keys = ReturnType<typeof keysOf>;

/**
 * Key names for an environment and API address. Two addresses never share a ledger,
 * even when the environment keeps its name.
 */
export function keysOf(environment: string, baseUrl: string) {
  const origin = createHash('sha256').update(baseUrl).digest('hex').slice(0, 8);
  const prefix = `{posync:${environment}:${origin}}`;
  return {
    prefix,
    origin,
    /** An order that is not settled, or a dead letter: version and entry. */
    open: (number: string) => `${prefix}:o:${number}`,
    /** List: what people did with an order, oldest first. */
    deeds: (number: string) => `${prefix}:d:${number}`,
    /** Settled orders, packed: order number → compact entry. */
    settled: (number: string) => `${prefix}:s:${bucketOf(number)}`,
    /** Every key that `settled` may give. */
    settledBuckets: () => Array.from({ length: BUCKETS }, (_, bucket) => `${prefix}:s:${bucket.toString(16)}`),
    /** Sorted set: order number → when it must have moved on. */
    due: `${prefix}:due`,
    /** Sorted set: order number → when the API's list may be asked about it. */
    doubt: `${prefix}:doubt`,
    /** Hash: order number → the dead letters of it that still wait, one `batch/ordinal` a line. */
    waiting: `${prefix}:waiting`,
    /** Hash: order number → the duplicates that wait for it, tab-separated `no/ordinal/place`. */
    followers: `${prefix}:followers`,
    batch: (batch: string) => `${prefix}:b:${batch}`,
    /** Bitmap: which ordinals of the batch are counted. */
    counted: (batch: string) => `${prefix}:b:${batch}:counted`,
    /** Hash: ordinal → result of an order that did not simply succeed. */
    results: (batch: string) => `${prefix}:b:${batch}:results`,
    /** Hash: ordinal → how its dead letter was closed. */
    closed: (batch: string) => `${prefix}:b:${batch}:closed`,
    lease: (batch: string) => `${prefix}:b:${batch}:lease`,
    reportLease: (batch: string) => `${prefix}:b:${batch}:report-lease`,
    /** Sorted set of all batches by start. */
    batches: `${prefix}:batches`,
    /** Set of batches that are not done. */
    active: `${prefix}:active`,
    /** Set of batches that wait for a person's word. */
    held: `${prefix}:held`,
    /** Hash: short batch number → batch; the ledger's compact entries hold the short one. */
    batchNames: `${prefix}:batch-names`,
    batchCounter: `${prefix}:batch-counter`,
    /** Set of batches whose last order is counted. */
    finished: `${prefix}:finished`,
    /** Set of settled batches whose dead letters changed, so that their reports are written anew. */
    refresh: `${prefix}:refresh`,
    /** Hash of an export: order → the content it was told with as needing a person. */
    told: (source: string) => `${prefix}:known-invalid:${source}`,
    /** How many changes one daemon made, which nobody else counts. */
    own: (daemon: string) => `${prefix}:own:${daemon}`,
    breaker: `${prefix}:breaker`,
    /** List of past pauses, newest first. */
    pauses: `${prefix}:pauses`,
    rate: `${prefix}:rate`,
    token: `${prefix}:token`,
    tokenLock: `${prefix}:token:lock`,
    /** Why the last token request failed; expires when the next may be made. */
    tokenFailure: `${prefix}:token:failure`,
    /** Hash: what one verification run knows and who runs it. */
    verification: `${prefix}:verification`,
    /** Hash: why and from when the API's list is to be taken over; absent when it was. */
    rebuild: `${prefix}:rebuild`,
    /** Sorted set: a few accepted orders → when; what a complete list must hold. */
    canaries: `${prefix}:canaries`,
    verificationLock: `${prefix}:verification:lock`,
    /** Hash: export path → sha256 of the version taken last. */
    exports: `${prefix}:exports`,
    /** What a daemon says of itself, for as long as it lives. */
    daemon: (id: string) => `${prefix}:daemon:${id}`,
    /** Sorted set: daemon → when it was heard of last. */
    daemons: `${prefix}:daemons`,
    /** Hash of what was told and lasts still (a pause, a held batch, a silent source) → when it was told. */
    notices: `${prefix}:notices`,
    /** Present once that single event was told. */
    notice: (event: string) => `${prefix}:notice:${event}`,
    /** Hash: source → when something came from it last. */
    heard: `${prefix}:heard`,
    /** What tells one life of this ledger from another. */
    identity: `${prefix}:identity`,
  };
}

/** The bucket of settled orders that a number belongs to. */
export function bucketOf(number: string): string {
  return (textHash(number, 0) % BUCKETS).toString(16);
}
