import { GONE_REMEDY } from '../../core/folder.ts';
import {
  ago,
  clauses,
  count,
  counted,
  duration,
  iso,
  moment,
  timeOfDay,
  withoutStop,
} from '../../core/format.ts';
import { endOf, pauseAdvice } from '../../deliver/pause-rules.ts';
import { listPauseEnd } from '../../ledger/list-pauses.ts';
import { NOTICES_REMEDY, noticesText } from '../../notify/outbox.ts';
import {
  causeText,
  delivers,
  type EndedPause,
  isOftenLost,
  leftWithoutIntake,
  lossText,
  noDelivery,
  pausedText,
  type ShownPause,
} from '../../operate/delivery/pause-delivery.ts';
import type { Status } from '../../operate/delivery/read-status.ts';
import { daemonCounts, isBeating } from '../../operate/heartbeat.ts';
import { untilText, waitText } from '../../operate/orders/wait-of.ts';
import { goneText } from '../../operate/own-folders.ts';
import {
  guaranteeRemedy,
  guaranteeText,
  measuredOnes,
  needsAttention,
} from '../../reconcile/guarantee.ts';
import { fileWaitText } from '../../wording/file-wait.ts';
import { type Format, hanging, type Paint, printable } from './print.ts';
import { type Column, table } from './table.ts';

type Wait = Status['waits'][number];

type EndingPause = Pick<ShownPause, 'code' | 'remedy' | 'nextTryAt' | 'waitsForOrder'>;

/** What ends a pause, as a clause. */
export function pauseEndText(pause: EndingPause, now: number): string {
  const advice = pauseAdvice(pause);
  const first = advice === undefined ? '' : `${advice}; then it `;
  switch (endOf(pause)) {
    case 'operator':
      return 'until po-sync resume';
    case 'list': {
      const wait = (pause.nextTryAt ?? 0) - now;
      const soonest = wait >= 1_000 ? `, in ${duration(wait)} at the earliest` : '';
      return `${listPauseEnd(pause.code)}${soonest}`;
    }
    case 'automatic': {
      if (pause.waitsForOrder)
        return clauses(
          advice ?? '',
          'no order waits to be sent; the next order is sent as a trial',
        );
      const wait = (pause.nextTryAt ?? 0) - now;
      return `${first}ends automatically${wait >= 1_000 ? `, next try in ${duration(wait)}` : ''}`;
    }
  }
}

/** What ends a pause, and that a person need not wait for the next try after a repair. */
function pauseStepsText(pause: EndingPause, now: number): string {
  const isDue = (pause.nextTryAt ?? 0) - now < 1_000;
  // New credentials are read at a start only.
  const needsNoResume =
    endOf(pause) !== 'automatic' || pause.waitsForOrder || isDue || pause.code === 'token-refused';
  return `${pauseEndText(pause, now)}${needsNoResume ? '' : '; po-sync resume tries one order at once'}`;
}

/** Whether delivery runs, or why it is paused and what ends that, or that the running daemons do not deliver. */
export function deliveryText(
  { pauses, daemons, now }: Status,
  start: string,
  paint: Paint,
): string {
  const why = daemons.some(isBeating) ? noDelivery(daemons) : undefined;
  const step = daemons.some(delivers)
    ? 'it may have ended'
    : `start one with ${start} --role delivery, or with your service manager if it runs po-sync`;
  const missing = why === undefined ? [] : [`${paint('bad', why)}; ${step}`];
  if (pauses.length + missing.length === 0)
    return daemons.some(isBeating) ? paint('good', 'running') : 'not paused';
  const paused = pauses.map(
    (pause) =>
      `${paint('bad', 'paused')} ${printable(pausedText(pause, now))} (${pauseStepsText(pause, now)})`,
  );
  return [...missing, ...paused].join('\n');
}

/** A table without the reasons, which can be long, and below it those that the status does not say elsewhere. */
export function waitLines(
  { waits, pauses, batches, listFailure, now }: Status,
  format: Format,
): string {
  const hasEnds = waits.some((wait) => untilText(wait, now) !== '');
  const columns: Column<Wait>[] = [
    // Of files that are not read yet, the text has the number.
    { title: 'orders', of: (wait) => (wait.orders === 0 ? '–' : count(wait.orders)), right: true },
    { title: 'wait for', of: waitInShort, cut: 'end', wish: 30 },
    ...(hasEnds
      ? [{ title: 'until', of: (wait: Wait) => untilText(wait, now) || '–', leaves: 2 }]
      : []),
    {
      title: 'oldest',
      of: ({ oldest }) => (oldest ? `${nameOf(oldest)}, ${ago(oldest.since, now)}` : '–'),
      cut: 'end',
      wish: 16,
      leaves: 1,
    },
  ];
  const ofBatches = batches.flatMap(({ batch: { held, unsettled } }) => [
    held && fileWaitText(held),
    unsettled?.reason,
  ]);
  const known = new Set([...pauses.map(({ reason }) => reason), ...ofBatches]);
  const isOfList = (wait: Wait) => wait.for === 'list' || wait.for === 'file-list';
  const isSaid = (wait: Wait) =>
    known.has(wait.reason) || (listFailure !== undefined && isOfList(wait));
  const texts = waits.map((wait) =>
    isSaid(wait) || waitText(wait) === waitInShort(wait) ? '' : waitText(wait),
  );
  const reasons = texts
    .filter((text) => text !== '')
    .map((text) => hanging(`For ${printable(text)}.`, 2, format));
  return table(waits, columns, format) + reasons.map((text) => `${text}\n`).join('');
}

/** What orders wait for, without the reason; which daemon is missing is no reason. */
function waitInShort(wait: Wait): string {
  return waitText(wait.for === 'daemon' ? wait : { ...wait, reason: '' });
}

/** Of dead letters only the batch is known; the end of its name is enough for every command. */
function nameOf({ order, batch }: NonNullable<Status['waits'][number]['oldest']>): string {
  return order ?? `batch ${batch.slice(-8)}`;
}

/** How long a pause that ended is shown in full, in milliseconds. */
const NEWS = 3_600_000;

/**
 * When delivery was paused, and why: `2026-11-21 09:58:49 to 10:02:51 UTC (api-down): connect ECONNREFUSED`. Those with
 * the same reason in one line, and one without reasons for what ended more than an hour ago.
 */
export function endedPauseFacts({ endedPauses = [], now }: Status): [string, string][] {
  const spanOf = ({ from, to }: EndedPause) =>
    `${moment(iso(from)).slice(0, -4)} to ${timeOfDay(iso(to), iso(from))} UTC`;
  const isRecent = ({ to }: EndedPause) => now - to < NEWS;
  const recent = endedPauses.filter(isRecent);
  const [older, ...others] = endedPauses.filter((pause) => !isRecent(pause));
  const more = others.length === 0 ? '' : ', and others before';
  const alike = Map.groupBy(recent, (pause) => printable(`${causeText(pause)}${beganWith(pause)}`));
  const lines = [
    ...[...alike].map(([text, [last, ...before]]) => {
      const first = before.at(-1);
      const times =
        first && `${before.length + 1} times since ${moment(iso(first.from)).slice(0, -4)}, last `;
      return `${times ?? ''}${last ? spanOf(last) : ''} ${text}`;
    }),
    ...(older === undefined
      ? []
      : [`${spanOf(older)} (${older.code})${more}; status --json has the reasons`]),
  ];
  return lines.length === 0
    ? []
    : [
        [
          lines.length + recent.length - alike.size === 1 ? 'last pause' : 'last pauses',
          lines.join('\n'),
        ],
      ];
}

/** The last failure of a long pause may be one of its end only. */
function beganWith({ firstReason }: EndedPause): string {
  return firstReason === undefined ? '' : `; it began with: ${withoutStop(firstReason)}`;
}

/** That the API's list cannot be read, and what waits for it. */
export function listFacts(
  { listFailure, queue, waits, now }: Status,
  paint: Paint,
): [string, string][] {
  if (listFailure === undefined) return [];
  const { since, reason } = listFailure;
  const failed = `${paint('bad', 'could not be read')} for ${duration(now - since)}: ${printable(withoutStop(reason))}`;
  const waiting = [
    ...(queue.ordersInDoubt > 0 ? ['orders in doubt'] : []),
    ...(waits.some((wait) => wait.for === 'file-list') ? ['new files'] : []),
  ];
  return [["API's list", `${failed}; ${waiting.join(' and ')} wait for it`]];
}

/** The receivers that did not accept their last notice, and what to do; none if there are none. */
export function noticeFacts({ daemons, now }: Status, paint: Paint): [string, string][] {
  const texts = daemons.flatMap(({ notices = [] }) =>
    notices.map((one) => `${paint('bad', printable(noticesText(one)))} (${ago(one.at, now)})`),
  );
  return texts.length === 0 ? [] : [['notices', [...texts, NOTICES_REMEDY].join('\n')]];
}

/** The daemons that run, or how to start one: `start`, the command. */
export function daemonsText(
  { daemons, batches, now }: Status,
  start: string,
  paint: Paint,
): string {
  if (daemons.length === 0)
    return `${paint('bad', 'none running')}; start one with ${start}, or with your service manager if it runs po-sync`;
  const each = daemons.map(({ host, pid, since, version, role, silentMs, ...daemon }) => {
    const silence =
      silentMs === undefined ? '' : `, ${paint('bad', `no heartbeat for ${duration(silentMs)}`)}`;
    const old = daemon.isOutdated
      ? `, ${paint('bad', 'started with another configuration: restart it')}`
      : '';
    const loss = isOftenLost(daemon) ? `, ${paint('bad', lossText(daemon))}` : '';
    return `${printable(host)}:${pid} for ${duration(now - since)} (${role === undefined ? '' : `${role}, `}${printable(version)})${silence}${loss}${old}`;
  });
  const left = leftWithoutIntake(
    batches.map(({ batch }) => batch),
    daemons,
  );
  const waits = `${counted(left.length, 'file')} in progress ${left.length === 1 ? 'waits' : 'wait'} for one`;
  const missing = `\n${paint('bad', 'none takes files')}, and ${waits}; run ${start} --role intake`;
  return `${daemonCounts(daemons)}: ${each.join(', ')}${left.length === 0 ? '' : missing}`;
}

/** Folders of running daemons that vanished; none if all are there. */
export function folderFacts(
  { daemons }: Pick<Status, 'daemons'>,
  paint: Paint,
): [string, string][] {
  const gone = daemons.flatMap(({ foldersGone = [] }) => foldersGone.map(goneText));
  const texts = [...new Set(gone)].map((text) => paint('bad', printable(text)));
  return texts.length === 0 ? [] : [['folders', [...texts, GONE_REMEDY].join('\n')]];
}

/** The assumptions of the guarantee that fail or need a longer `settle`; otherwise how soon lists show an order. */
export function guaranteeFacts({ guarantee }: Status, paint: Paint): [string, string][] {
  const known = measuredOnes(guarantee);
  const bad = known
    .filter(needsAttention)
    .map(
      (one) => `${paint('bad', guaranteeText(one))} (${one.assumption}). ${guaranteeRemedy(one)}`,
    );
  const good = known.filter(({ assumption }) => assumption === 'A3').map(guaranteeText);
  const texts = bad.length > 0 ? bad : good;
  return texts.length === 0 ? [] : [['guarantee', texts.join('\n')]];
}

/** Orders that the API's list shows more than once; none if there are none. */
export function createdTwiceFacts({ createdTwice }: Status, paint: Paint): [string, string][] {
  if (createdTwice === 0) return [];
  return [
    [
      'created twice',
      `${paint('bad', counted(createdTwice, 'order'))}; run po-sync reconcile to see them`,
    ],
  ];
}
