import { GONE_REMEDY } from '../core/folder.ts';
import { ago, clauses, count, counted, duration } from '../core/format.ts';
import { endOf } from '../deliver/pause-rules.ts';
import {
  delivers,
  leftWithoutIntake,
  noDelivery,
  type ShownPause,
} from '../operate/delivery/pause-delivery.ts';
import type { Status } from '../operate/delivery/read-status.ts';
import { daemonCounts, isBeating } from '../operate/heartbeat.ts';
import { goneText } from '../operate/own-folders.ts';
import { asText } from '../order/sentence.ts';
import { guaranteeRemedy, guaranteeText, needsAttention } from '../reconcile/guarantee.ts';
import { answerText, pauseAdvice, pausedText, pauseEnd } from '../wording/pause.ts';
import { untilText, waitInShort, waitReason, waitText } from '../wording/wait.ts';
import type { Block, Text, ViewColumn } from './view.ts';

type Wait = Status['waits'][number];

type EndingPause = Pick<ShownPause, 'code' | 'nextTryAt' | 'waitsForOrder'>;

/** What ends a pause, as a clause. */
export function pauseEndText(pause: EndingPause, now: number): string {
  const wait = (pause.nextTryAt ?? 0) - now;
  const soonest = wait < 1_000 ? undefined : duration(wait);
  const end = pauseEnd(pause.code);
  if (end !== undefined) return `${end}${soonest ? `, in ${soonest} at the earliest` : ''}`;
  const advice = pauseAdvice(pause.code) ?? '';
  if (pause.waitsForOrder)
    return clauses(advice, 'no order waits to be sent; the next order is sent as a trial');
  const next = soonest ? `, next try in ${soonest}` : '';
  return `${advice && `${advice}; then it `}ends automatically${next}`;
}

/** What ends a pause, and that a person need not wait for the next try after a repair. */
export function pauseStepsText(pause: EndingPause, now: number): string {
  const isDue = (pause.nextTryAt ?? 0) - now < 1_000;
  // New credentials are read at a start only.
  const needsNoResume =
    endOf(pause) !== 'automatic' || pause.waitsForOrder || isDue || pause.code === 'token-refused';
  return `${pauseEndText(pause, now)}${needsNoResume ? '' : '; po-sync resume tries one order at once'}`;
}

const bad = (text: string) => ({ text, tone: 'bad' as const });

export type Fact = readonly [name: string, ...lines: Text[]];

/** Whether delivery runs, or why it is paused and what ends that, or that the running daemons do not deliver. */
export function deliveryFact({ pauses, daemons, now }: Status, start: string): Fact {
  const why = daemons.some(isBeating) ? noDelivery(daemons) : undefined;
  const step = daemons.some(delivers)
    ? 'it may have ended'
    : `start one with ${start} --role delivery, or with your service manager if it runs po-sync`;
  const missing = why === undefined ? [] : [[bad(why), `; ${step}`]];
  const paused = pauses.map((pause) => [
    bad(asText(pausedText(pause, now))),
    ` (${pauseStepsText(pause, now)})`,
  ]);
  const runs = daemons.some(isBeating)
    ? [{ text: 'running', tone: 'good' as const }]
    : 'not paused';
  return ['delivery', ...(pauses.length + missing.length === 0 ? [runs] : [...missing, ...paused])];
}

/** Pauses and files that wait have their own places, with the reason. */
const SAID: ReadonlySet<Wait['code']> = new Set(['pause', 'first-list', 'release', 'file']);

/** What orders wait for, as a table without the reasons, which can be long, and below it those that the status does not say elsewhere. */
export function waitBlocks({ waits, listFailure, now }: Status): Block[] {
  const hasEnds = waits.some(({ until }) => until !== undefined);
  const columns: ViewColumn[] = [
    { title: 'orders', right: true },
    { title: 'wait for', cut: 'end', wish: 30 },
    ...(hasEnds ? [{ title: 'until', leaves: 2 }] : []),
    { title: 'oldest', cut: 'end', wish: 16, leaves: 1 },
  ];
  const rows = waits.map((wait): Text[] => [
    // Of files that are not read yet, the text has the number.
    wait.orders === 0 ? '–' : count(wait.orders),
    asText(waitInShort(wait)),
    ...(hasEnds ? [untilText(wait, now) || '–'] : []),
    wait.oldest ? oldestText(wait.oldest, now) : '–',
  ]);
  const isSaid = ({ code }: Wait) =>
    SAID.has(code) || (listFailure !== undefined && (code === 'list' || code === 'file-list'));
  const reasons = waits.flatMap((wait) =>
    isSaid(wait) || waitReason(wait) === undefined ? [] : [`For ${asText(waitText(wait))}.`],
  );
  return [
    { kind: 'table', columns, rows },
    { kind: 'list', texts: reasons },
  ];
}

/** Of dead letters only the batch is known; the end of its name is enough for every command. */
function oldestText({ order, batch, since }: NonNullable<Wait['oldest']>, now: number): Text {
  const name =
    order === undefined
      ? { text: `batch ${batch.slice(-8)}`, about: { batch } }
      : { text: order, about: { order } };
  return [name, `, ${ago(since, now)}`];
}

/** That the API's list cannot be read, and what waits for it. */
export function listFacts({ listFailure, queue, waits, now }: Status): Fact[] {
  if (listFailure === undefined) return [];
  const { since } = listFailure;
  const waiting = [
    ...(queue.ordersInDoubt > 0 ? ['orders in doubt'] : []),
    ...(waits.some(({ code }) => code === 'file-list') ? ['new files'] : []),
  ];
  const failed = ` for ${duration(now - since)}: ${asText(answerText(listFailure))}`;
  return [
    ["API's list", [bad('could not be read'), `${failed}; ${waiting.join(' and ')} wait for it`]],
  ];
}

/** The daemons that run, or how to start one: `start`, the command. */
export function daemonsFact({ daemons, batches, now }: Status, start: string): Fact {
  if (daemons.length === 0)
    return [
      'daemons',
      [
        bad('none running'),
        `; start one with ${start}, or with your service manager if it runs po-sync`,
      ],
    ];
  const each = daemons.map(({ host, pid, since, version, role, silentMs }) => [
    `${host}:${pid} for ${duration(now - since)} (${role === undefined ? '' : `${role}, `}${version})`,
    ...(silentMs === undefined ? [] : [', ', bad(`no heartbeat for ${duration(silentMs)}`)]),
  ]);
  const left = leftWithoutIntake(
    batches.map(({ batch }) => batch),
    daemons,
  );
  const waits = `${counted(left.length, 'file')} in progress ${left.length === 1 ? 'waits' : 'wait'} for one`;
  const all = each.flatMap((parts, i) => [i === 0 ? '' : ', ', ...parts]);
  return [
    'daemons',
    [`${daemonCounts(daemons)}: `, ...all],
    ...(left.length === 0
      ? []
      : [[bad('none takes files'), `, and ${waits}; run ${start} --role intake`]]),
  ];
}

/** Folders of running daemons that vanished; none if all are there. */
export function folderFacts({ daemons }: Pick<Status, 'daemons'>): Fact[] {
  const gone = new Set(daemons.flatMap(({ foldersGone = [] }) => foldersGone.map(goneText)));
  return gone.size === 0 ? [] : [['folders', ...[...gone].map((text) => [bad(text)]), GONE_REMEDY]];
}

/** The assumptions of the guarantee that fail or need a longer `settle`; otherwise how soon lists show an order. */
export function guaranteeFacts({ guarantee }: Pick<Status, 'guarantee'>): Fact[] {
  const wrong = guarantee
    .filter(needsAttention)
    .map((one) => [bad(guaranteeText(one)), ` (${one.assumption}). ${guaranteeRemedy(one)}`]);
  const good = guarantee
    .filter(({ assumption, measured }) => assumption === 'A3' && measured !== null)
    .map(guaranteeText);
  const texts = wrong.length > 0 ? wrong : good;
  return texts.length === 0 ? [] : [['guarantee', ...texts]];
}
