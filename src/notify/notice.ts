import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { iso, withoutStop } from '../core/format.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import { OPERATOR, type PauseCause } from '../ledger/pause-cause.ts';
import type { OutcomeCounts } from '../order/outcome.ts';
import { asText } from '../order/sentence.ts';
import { onOneLine } from '../order/text.ts';
import { type Guarantee, guaranteeRemedy, guaranteeText } from '../reconcile/guarantee.ts';
import { pauseRemedy, pauseText } from '../wording/pause.ts';

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
  const name = nameOf(facts);
  const known = { ...facts, ...(orders !== undefined && { orders, counts }) };
  const isUnreadable = (text: string, remedy = SEE_REPORT) =>
    noticeOf('attention', 'unreadable', `${text} ${remedy}`, { ...known, remedy });
  if (state === 'done')
    return isUnreadable(
      `${facts.batch}: the file was changed after it was read; what was added or changed was not sent.`,
      'Drop the complete file again.',
    );
  if (orders === undefined)
    return isUnreadable(`${name}: the file is unreadable; no orders were sent.`);
  const were = orders === 1 ? '1 of its orders was' : `${orders} of its orders were`;
  if (unreadable)
    return isUnreadable(
      `${name}: the file became unreadable after ${were} admitted; its report has their outcomes.`,
    );
  const text = `${name}: ${needPerson} of ${orders} orders ${needPerson === 1 ? 'needs' : 'need'} a person.`;
  return noticeOf('attention', 'finished', text, { ...known, needPerson });
}

/** It depends on what is wrong, and on where the file came from. */
const SEE_REPORT = 'Its report says where it is wrong and what to do.';

/** A batch that waits until a person releases it, or whose file cannot be read on or its report not be written. */
export function waitingBatch(
  kind: 'held' | 'unsettled',
  facts: BatchFacts & { counts: OutcomeCounts; reason: string; since: number },
): Notice {
  const { batch, reason } = facts;
  const name = nameOf(facts);
  if (kind === 'unsettled')
    return noticeOf('attention', kind, `${name} has no report yet: ${reason}`, facts);
  const end = batch.slice(-8);
  const remedy = `Look at it with po-sync batches show ${end}, then run po-sync batches release ${end} or po-sync batches cancel ${end}.`;
  const why = withoutStop(cut(reason, LONGEST - LONGEST_REMEDY - name.length));
  return noticeOf('attention', kind, `${name} waits: ${why}. ${remedy}`, { ...facts, remedy });
}

/** Files of a source cannot be taken; none of their orders was sent. */
export function filesAreNotTaken(
  facts: CommonFacts & { source: string },
  [file = '', ...others]: readonly string[],
  reason: string,
): Notice {
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const text = `${shortName(file)}${more} of source ${facts.source} cannot be taken: ${reason}`;
  return noticeOf('attention', 'not-taken', text, { ...facts, file, reason });
}

/** A daemon cannot read a source, such as an inbox whose share is not mounted: none of its files is taken. */
export function sourceLost(facts: CommonFacts & { source: string }, reason: string): Notice {
  const text = `Source ${facts.source} cannot be read, so its files are not taken: ${reason}`;
  return noticeOf('attention', 'lost', text, { ...facts, reason });
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

/** An assumption of the guarantee does not hold. */
export function assumptionFails(one: Guarantee, facts: CommonFacts): Notice {
  const { assumption: code } = one;
  const [reason, remedy = ''] = [guaranteeText(one), guaranteeRemedy(one)];
  const text = `Orders may be created twice, because assumption ${code} does not hold: ${reason}. ${remedy}`;
  return noticeOf('attention', 'guarantee', text, { ...facts, code, reason, remedy });
}

/** Delivery of the environment is paused. */
export function deliveryPaused(
  { at, environment }: CommonFacts,
  pause: PauseCause & { since: number },
): Notice {
  const { code, since } = pause;
  const [reason, remedy] = [asText(pauseText(pause)), pauseRemedy(code)];
  const why = withoutStop(cut(reason, LONGEST - LONGEST_REMEDY));
  // An operator's reason begins with the word.
  const how = code === OPERATOR ? why : `paused (${code}): ${why}`;
  const text = `Delivery to ${environment} is ${how}. ${remedy}`;
  return noticeOf('paused', 'paused', text, { environment, at, code, reason, remedy, since });
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
