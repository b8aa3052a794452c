import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { iso, withoutStop } from '../core/format.ts';
import { OPERATOR } from '../deliver/circuit-breaker.ts';
import { pauseRemedy } from '../deliver/pause-rules.ts';
import { TWICE_REMEDY, twiceText } from '../ledger/adopt.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import type { OutcomeCounts } from '../order/outcome.ts';
import { onOneLine } from '../order/text.ts';
import { type Guarantee, guaranteeRemedy, guaranteeText } from '../reconcile/guarantee.ts';

/** A message to a person or another program. It never contains order content or secrets. */
export type Notice = {
  version: 1;
  event: NoticeEvent;
  kind:
    | 'finished'
    | 'held'
    | 'unsettled'
    | 'unreadable'
    | 'not-taken'
    | 'lost'
    | 'back'
    | 'created-twice'
    | 'guarantee'
    | 'paused'
    | 'resumed'
    | 'silent'
    | 'heard'
    | 'redis-away'
    | 'redis-back';
  environment: string;
  /** ISO 8601, UTC. */
  at: string;
  /** The notice as one English sentence. */
  text: string;
  source?: string;
  batch?: string;
  /** The name of the batch's file, as it was dropped or exported. */
  file?: string;
  /** The folder of the batch's report. */
  report?: string;
  /** The address of the batch's page, with `admin.publicUrl`. */
  page?: string;
  /** Number of orders in the batch, or of those created twice. */
  orders?: number;
  needPerson?: number;
  counts?: OutcomeCounts;
  reason?: string;
  /** Of a pause: its stable code, of a guarantee the assumption; and of a held batch or an unreadable file too, what a person must do or what ends it. */
  code?: string;
  remedy?: string;
  /** ISO 8601, UTC: when the pause or the silence began. */
  since?: string;
  /** Of a source that is silent: where its files are expected, and its `expectEvery` in milliseconds. */
  path?: string;
  expectEveryMs?: number;
};

/** As in `notify[].on` of the configuration. */
export type NoticeEvent = 'attention' | 'paused' | 'silent';

/** Maximum characters of a text in a notice, and of a file's name in it. */
const LONGEST = 500;
const LONGEST_NAME = 120;
/** What a text keeps free for what to do about a pause, which comes last. */
const LONGEST_REMEDY = 250;

export type CommonFacts = { environment: string; at: number };
type BatchFacts = CommonFacts & {
  batch: string;
  file: string;
  source: string;
  report: string;
  page?: string;
};

/** What a batch, or the change of the file of one that is done, has for a person. */
export function settledBatch(
  {
    state,
    total: orders,
    unreadable,
    counts,
  }: Pick<Batch, 'state' | 'total' | 'unreadable' | 'counts'>,
  needPerson: number,
  facts: BatchFacts,
): Notice {
  if (state === 'done')
    return fileChangedLater({ ...facts, ...(orders === undefined ? {} : { orders }), counts });
  if (orders === undefined) return fileUnreadable(facts);
  if (unreadable) return fileBecameUnreadable({ ...facts, orders, counts });
  return batchNeedsPerson({ ...facts, orders, needPerson, counts });
}

/** A batch is finished and some of its orders need a person. */
function batchNeedsPerson(
  facts: BatchFacts & { orders: number; needPerson: number; counts: OutcomeCounts },
): Notice {
  const { orders, needPerson } = facts;
  const text = `${nameOf(facts)}: ${needPerson} of ${orders} orders ${needPerson === 1 ? 'needs' : 'need'} a person.`;
  return noticeOf('attention', 'finished', text, facts);
}

/** It depends on what is wrong, and on where the file came from. */
const SEE_REPORT = 'Its report says where it is wrong and what to do.';

/** A file cannot be read as orders; no orders were sent. */
function fileUnreadable(facts: BatchFacts): Notice {
  const text = `${nameOf(facts)}: the file is unreadable; no orders were sent. ${SEE_REPORT}`;
  return noticeOf('attention', 'unreadable', text, { ...facts, remedy: SEE_REPORT });
}

/** A file became unreadable after some of its orders were admitted. */
function fileBecameUnreadable(
  facts: BatchFacts & { orders: number; counts: OutcomeCounts },
): Notice {
  const { orders } = facts;
  const admitted = orders === 1 ? '1 of its orders was' : `${orders} of its orders were`;
  const text = `${nameOf(facts)}: the file became unreadable after ${admitted} admitted; its report has their outcomes. ${SEE_REPORT}`;
  return noticeOf('attention', 'unreadable', text, { ...facts, remedy: SEE_REPORT });
}

/** A settled file was changed after it was read. */
function fileChangedLater(facts: BatchFacts & { orders?: number; counts: OutcomeCounts }): Notice {
  const remedy = 'Drop the complete file again.';
  const text = `${facts.batch}: the file was changed after it was read; what was added or changed was not sent. ${remedy}`;
  return noticeOf('attention', 'unreadable', text, { ...facts, remedy });
}

/** A batch waits until a person releases it. `since` is in milliseconds. */
export function batchIsHeld(
  facts: BatchFacts & { counts: OutcomeCounts; reason: string; since: number },
): Notice {
  const { reason } = facts;
  const end = facts.batch.slice(-8);
  const remedy = `Look at it with po-sync batches show ${end}, then run po-sync batches release ${end} or po-sync batches cancel ${end}.`;
  const why = withoutStop(cut(reason, LONGEST - LONGEST_REMEDY - nameOf(facts).length));
  return noticeOf('attention', 'held', `${nameOf(facts)} waits: ${why}. ${remedy}`, {
    ...facts,
    reason,
    remedy,
  });
}

/** The file of a batch cannot be read on, or its report not be written. `since` is in milliseconds. */
export function batchIsUnsettled(
  facts: BatchFacts & { counts: OutcomeCounts; reason: string; since: number },
): Notice {
  return noticeOf(
    'attention',
    'unsettled',
    `${nameOf(facts)} has no report yet: ${facts.reason}`,
    facts,
  );
}

/** Files of a source cannot be taken; none of their orders was sent. `files`: their names. */
export function filesAreNotTaken(
  facts: CommonFacts & { source: string; files: readonly [string, ...string[]]; reason: string },
): Notice {
  const { files, source, reason, ...common } = facts;
  const more = files.length === 1 ? '' : ` and ${files.length - 1} more`;
  const text = `${shortName(files[0])}${more} of source ${source} cannot be taken: ${reason}`;
  return noticeOf('attention', 'not-taken', text, { ...common, source, file: files[0], reason });
}

/** A daemon cannot read a source, such as an inbox whose share is not mounted: none of its files is taken. */
export function sourceLost(facts: CommonFacts & { source: string; reason: string }): Notice {
  const text = `Source ${facts.source} cannot be read, so its files are not taken: ${facts.reason}`;
  return noticeOf('attention', 'lost', text, facts);
}

/** Every running daemon can read it again. */
export function sourceBack(facts: CommonFacts & { source: string }): Notice {
  return noticeOf('attention', 'back', `Source ${facts.source} can be read again.`, facts);
}

/** A daemon cannot reach Redis: it does nothing until then, and loses nothing. */
export function redisAway(facts: CommonFacts & { since: number }): Notice {
  const text = `Redis cannot be reached since ${iso(facts.since)}: no file is taken and no order sent until it answers.`;
  return noticeOf('attention', 'redis-away', text, facts);
}

/** It answers again. */
export function redisBack(facts: CommonFacts & { since: number }): Notice {
  const text = `Redis answers again; it was away since ${iso(facts.since)}.`;
  return noticeOf('attention', 'redis-back', text, facts);
}

/** The API's list shows orders more than once. */
export function ordersCreatedTwice(facts: CommonFacts & { orders: number }): Notice {
  return noticeOf(
    'attention',
    'created-twice',
    `${twiceText(facts.orders)}. ${TWICE_REMEDY}`,
    facts,
  );
}

/** An assumption of the guarantee does not hold. */
export function assumptionFails(one: Guarantee, facts: CommonFacts): Notice {
  const { assumption: code } = one;
  const [reason, remedy = ''] = [guaranteeText(one), guaranteeRemedy(one)];
  const text = `Orders may be created twice, because assumption ${code} does not hold: ${reason}. ${remedy}`;
  return noticeOf('attention', 'guarantee', text, { ...facts, code, reason, remedy });
}

/** Delivery of the environment is paused. */
export function deliveryPaused(
  facts: CommonFacts & { code: string; reason: string; since: number },
): Notice {
  const { environment, code, reason } = facts;
  const remedy = pauseRemedy({ code });
  const why = withoutStop(cut(reason, LONGEST - LONGEST_REMEDY));
  // An operator's reason begins with the word.
  const how = code === OPERATOR ? why : `paused (${code}): ${why}`;
  return noticeOf('paused', 'paused', `Delivery to ${environment} is ${how}. ${remedy}`, {
    ...facts,
    remedy,
  });
}

/** Delivery resumed after a pause. */
export function deliveryResumed(facts: CommonFacts & { since: number }): Notice {
  return noticeOf('paused', 'resumed', `Delivery to ${facts.environment} resumed.`, facts);
}

type Places = {
  reports: Pick<Config['reports'], 'path'>;
  admin: Pick<Config['admin'], 'publicUrl'>;
};

/** Where a person finds a batch: the page is for those who cannot open a folder of this machine. */
export function placesOf(batch: string, { reports, admin: { publicUrl } }: Places) {
  const report = join(reports.path, batch);
  return publicUrl === undefined
    ? { report }
    : { report, page: `${publicUrl}/batches/${encodeURIComponent(batch)}` };
}

/** `orders.csv (batch 20261121T071500Z-inbox-orders-3f2a91c0)`: the name that a person knows, and the one that commands find. */
function nameOf({ file, batch }: BatchFacts): string {
  return `${shortName(file)} (batch ${batch})`;
}

function shortName(file: string): string {
  return cut(file, LONGEST_NAME);
}

type Facts = CommonFacts & Omit<Partial<Notice>, 'at' | 'since'> & { since?: number };

export function noticeOf(
  event: NoticeEvent,
  kind: Notice['kind'],
  text: string,
  { at, since, reason, ...facts }: Facts,
) {
  return {
    version: 1,
    event,
    kind,
    ...facts,
    at: iso(at),
    text: shown(text),
    ...(reason === undefined ? {} : { reason: shown(reason) }),
    ...(since === undefined ? {} : { since: iso(since) }),
  } satisfies Notice;
}

/** One line of bounded length. */
function shown(text: string): string {
  return cut(onOneLine(text), LONGEST);
}

export function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** The earliest time at the end of the fields that remember notices, such as `paused:1763709300000`. */
export function sinceOf(fields: readonly string[]): number {
  return Math.min(...fields.map((field) => Number(field.slice(field.lastIndexOf(':') + 1))));
}
