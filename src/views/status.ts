import { ago, count, counted, orders, withoutStop } from '../core/format.ts';
import { IGNORED_REMEDY, ignoredText } from '../intake/folders.ts';
import { notTakenText } from '../intake/offers.ts';
import { listNeedsPerson, OPERATOR } from '../ledger/pause-cause.ts';
import { CLOSE_UNREADABLE } from '../operate/batches/cancel-batch.ts';
import { CORRECT_FILE, unsettledText } from '../operate/batches/list-batches.ts';
import { delivers, leftWithoutIntake } from '../operate/delivery/pause-delivery.ts';
import { type Status, tokenText } from '../operate/delivery/read-status.ts';
import {
  inboxText,
  inboxTrouble,
  type SourceStatus,
  silenceText,
  takesFiles,
  waitingTexts,
} from '../operate/delivery/source-status.ts';
import { asText } from '../order/sentence.ts';
import { guaranteeRemedy, guaranteeText } from '../reconcile/guarantee.ts';
import { fileWaitText } from '../wording/file-wait.ts';
import { pauseAdvice, pausedText } from '../wording/pause.ts';
import { batchTable } from './batch.ts';
import {
  daemonsFact,
  deliveryFact,
  type Fact,
  folderFacts,
  guaranteeFacts,
  listFacts,
  pauseStepsText,
  waitBlocks,
} from './pause.ts';
import { type Block, section, type Text, tableOf, type View } from './view.ts';

/** The state of an environment. `start`: the command that starts a daemon. */
export function statusView(status: Status, start = 'po-sync start'): View {
  return {
    title: status.environment,
    state: { text: status.baseUrl, tone: 'plain' },
    blocks: [...statusWork(status), ...statusNow(status, start)],
  };
}

/** What needs a person, and the work that is not done: what each order waits for, and the files in progress. */
export function statusWork(status: Status): Block[] {
  const needs = needsYou(status);
  const { batches, now } = status;
  return [
    section(
      'What needs you',
      list(needs.length > 0 ? needs : [[{ text: 'nothing', tone: 'good' }]]),
    ),
    section('Orders that wait', ...waitBlocks(status)),
    section('Batches in progress', batchTable(batches, now)),
  ];
}

/** What is true now, and the sources. */
export function statusNow(status: Status, start: string): Block[] {
  const facts: Fact[] = [
    deliveryFact(status, start),
    daemonsFact(status, start),
    ['token', tokenText(status.token)],
    queueFact(status),
    ...listFacts(status),
    ...guaranteeFacts(status),
  ];
  return [section('Now', { kind: 'facts', facts }), ...statusSources(status)];
}

/** Sources, and what of them is not read. */
export function statusSources(status: Status): Block[] {
  return [
    section('Sources', ...sourceBlocks(status)),
    section('In the inbox', list(inboxTexts(status))),
    section('Not read', list(ignoredTexts(status))),
  ];
}

function list(texts: readonly Text[]): Block {
  return { kind: 'list', texts };
}

/**
 * What does not end automatically, a sentence each: orders or files that wait for a person, also for the end of a pause, or for
 * a daemon while none of its role runs.
 */
export function needsYou(status: Status): Text[] {
  const { guarantee, batches, pauses, now } = status;
  const { daemons, queue, sources, notTaken = [] } = status;
  const letters = status.deadLetters - (status.sentAgain ?? 0);
  const forPerson = pauses.filter(
    ({ code }) => code === OPERATOR || listNeedsPerson(code) || pauseAdvice(code) !== undefined,
  );
  const areFilesWaiting = queue.unreadOrders > 0 || sources.some(({ waiting = 0 }) => waiting > 0);
  const left = leftWithoutIntake(
    batches.map(({ batch }) => batch),
    daemons,
  );
  return [
    ...(letters > 0
      ? [
          [
            { text: orders(letters), about: { letters: {} } },
            ` ${letters === 1 ? 'needs' : 'need'} a person; run po-sync dead-letters list`,
          ],
        ]
      : []),
    ...notTaken.map((one) => notTakenText({ remedy: 'po-sync tries again.', ...one })),
    ...filesThatNeedYou(status),
    ...forPerson.map(
      (pause) => `Delivery is ${asText(pausedText(pause, now))} (${pauseStepsText(pause, now)}).`,
    ),
    ...folderFacts(status).flatMap(([, ...lines]) => lines),
    ...sources.flatMap((source) => {
      const text = silenceText(source, now);
      return text === undefined ? [] : [`${source.name}: ${text}.`];
    }),
    ...guarantee
      .filter(({ holds }) => holds === false)
      .map((one) => `${guaranteeText(one)} (${one.assumption}). ${guaranteeRemedy(one)}`),
    ...((areFilesWaiting && !daemons.some(takesFiles)) || left.length > 0
      ? ['Files wait, and no daemon takes files now.']
      : []),
    ...(queue.unsettledOrders + queue.unreadOrders > 0 && !daemons.some(delivers)
      ? ['Orders wait, and no daemon delivers now.']
      : []),
  ];
}

function filesThatNeedYou({ batches, unreadable }: Status): Text[] {
  const file = ({ batch, name }: { batch: string; name: string }) => ({
    text: `${name} (batch ${batch.slice(-8)})`,
    about: { batch },
  });
  return [
    ...unreadable.map(({ batch, error }) => [
      file(batch),
      ` cannot be read: ${error?.message ?? 'see its report'} ${error?.remedy ?? CORRECT_FILE}`,
    ]),
    ...(unreadable.length > 0 ? [`${CLOSE_UNREADABLE}BATCH`] : []),
    ...batches.flatMap(({ batch }): Text[] => {
      const { held, unsettled } = batch;
      const show = `po-sync batches show ${batch.batch.slice(-8)}`;
      return [
        ...(held ? [[file(batch), ` is held; run ${show}: ${asText(fileWaitText(held))}`]] : []),
        ...(unsettled
          ? [[file(batch), `: ${withoutStop(unsettled.reason)}. ${unsettledText(batch)}`]]
          : []),
      ];
    }),
  ];
}

function queueFact({ queue }: Status): Fact {
  const { unsettledOrders, ordersInDoubt, waitingJobs, unreadOrders } = queue;
  const doubt = `, ${ordersInDoubt} being verified with the API's list`;
  const more =
    unreadOrders > 0
      ? `, ${count(unreadOrders)} more not read yet: ${count(unsettledOrders + unreadOrders)} wait in all`
      : '';
  return [
    'queue',
    [
      `${orders(unsettledOrders)} not settled`,
      ...(ordersInDoubt > 0 ? [{ text: doubt, tone: 'doubtful' as const }] : []),
      `${more}; ${counted(waitingJobs, 'job')} waiting`,
    ],
  ];
}

function inboxTexts(status: Status): string[] {
  const text = inboxText(status);
  if (text === undefined) return [];
  const inboxes = status.sources.filter(({ type }) => type === 'inbox');
  const files = inboxes.flatMap((source) =>
    waitingTexts(source).map((file) => `${source.name}: ${file}`),
  );
  return [text, ...files];
}

function ignoredTexts({ sources }: Status): string[] {
  return sources.flatMap(({ name, ignored }) =>
    ignored ? [`${name}: ${ignoredText(ignored)}`, IGNORED_REMEDY] : [],
  );
}

/** A table, and below it what keeps po-sync from using an inbox, a file of an export, and sources that are silent. */
function sourceBlocks({ sources, now }: Status): Block[] {
  const troubles = sources.flatMap((source) => {
    const trouble = inboxTrouble(source);
    const files = source.type === 'export' ? waitingTexts(source) : [];
    const texts = trouble ? [`${source.state}; ${trouble}`] : files;
    return texts.map((text) => `${source.name}: ${text}`);
  });
  return [
    tableOf(sources, [
      { title: 'source', of: ({ name }) => name },
      { title: 'type', leaves: 1, of: ({ type }) => type },
      {
        title: 'state',
        of: (source) => [
          { text: sourceState(source), tone: WRONG.includes(source.state) ? 'bad' : 'plain' },
        ],
      },
      { title: 'path', cut: 'start', wish: 16, leaves: 2, of: ({ path }) => path },
      {
        title: 'last readable file',
        cut: 'end',
        wish: 16,
        of: ({ last }) =>
          last
            ? [{ text: last.file, about: { batch: last.batch } }, `, ${ago(last.at, now)}`]
            : '–',
      },
    ]),
    list(troubles),
  ];
}

const WRONG: readonly SourceStatus['state'][] = [
  'missing',
  'no marker',
  'other environment',
  'unreachable',
];

/** The state of a source, with the code of the error if there is one. */
function sourceState({ state, code }: SourceStatus): string {
  return code === undefined ? state : `${state} (${code})`;
}
