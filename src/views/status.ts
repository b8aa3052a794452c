import { ago, count, counted, orders } from '../core/format.ts';
import { endOf, pauseAdvice } from '../deliver/pause-rules.ts';
import { ignoredRemedy, ignoredText } from '../intake/folders.ts';
import { notTakenText } from '../intake/offers.ts';
import { delivers, leftWithoutIntake, pausedText } from '../operate/delivery/pause-delivery.ts';
import { type Status, tokenText } from '../operate/delivery/read-status.ts';
import {
  inboxText,
  inboxTrouble,
  type SourceStatus,
  silenceText,
  takesFiles,
  waitingTexts,
} from '../operate/delivery/source-status.ts';
import { guaranteeRemedy, guaranteeText } from '../reconcile/guarantee.ts';
import { fileWaitText } from '../wording/file-wait.ts';
import { batchTable, heldTexts, unreadableTexts, unsettledTexts } from './batch.ts';
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
    blocks: [
      statusFacts(status, start, [lettersFact(status)]),
      statusWaits(status),
      ...statusSources(status),
      ...statusFiles(status),
    ],
  };
}

/** What is true now, a line each. */
export function statusFacts(status: Status, start: string, more: readonly Fact[] = []): Block {
  return {
    kind: 'facts',
    facts: [
      deliveryFact(status, start),
      daemonsFact(status, start),
      ['token', tokenText(status.token)],
      queueFact(status),
      ...listFacts(status),
      ...more,
      ...folderFacts(status),
      ...guaranteeFacts(status),
    ],
  };
}

/** What orders without an outcome wait for. */
export function statusWaits(status: Status): Block {
  return section('Orders that wait', ...waitBlocks(status), list(heldTexts(status.batches)));
}

/** Sources, and files that were not taken. */
export function statusSources(status: Status): Block[] {
  return [
    section('Sources', ...sourceBlocks(status)),
    section('In the inbox', list(inboxTexts(status))),
    section('Not taken', list(notTakenTexts(status))),
    section('Not read', list(ignoredTexts(status))),
  ];
}

/** Files that are in progress, and those that could not be read. */
export function statusFiles({ now, batches, unreadable }: Status): Block[] {
  return [
    section('Batches in progress', batchTable(batches, now)),
    section('No report yet', list(unsettledTexts(batches, now))),
    section('Unreadable files', list(unreadableTexts(unreadable, now))),
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
  const { deadLetters, guarantee, unreadable, batches, pauses, now } = status;
  const { daemons, queue, sources, notTaken = [] } = status;
  const file = ({ batch, name }: { batch: string; name: string }) => ({
    text: name,
    about: { batch },
  });
  const forPerson = pauses.filter(
    (pause) => endOf(pause) === 'operator' || pauseAdvice(pause) !== undefined,
  );
  const areFilesWaiting = queue.unreadOrders > 0 || sources.some(({ waiting = 0 }) => waiting > 0);
  const left = leftWithoutIntake(
    batches.map(({ batch }) => batch),
    daemons,
  );
  return [
    ...(deadLetters > 0
      ? [
          [
            { text: orders(deadLetters), about: { letters: {} } },
            ` ${deadLetters === 1 ? 'needs' : 'need'} a person.`,
          ],
        ]
      : []),
    ...unreadable.map(({ batch, error }) => [
      file(batch),
      ` cannot be read: ${error?.message ?? 'see its report'} ${error?.remedy ?? ''}`,
    ]),
    ...notTaken.map((one) => notTakenText({ remedy: 'po-sync tries again.', ...one })),
    ...batches.flatMap(({ batch }): Text[] => [
      ...(batch.held ? [[file(batch), ` waits for you: ${fileWaitText(batch.held)}`]] : []),
      ...(batch.unsettled ? [[file(batch), `: ${batch.unsettled.reason}`]] : []),
    ]),
    ...forPerson.map(
      (pause) => `Delivery is ${pausedText(pause, now)} (${pauseStepsText(pause, now)}).`,
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

/** Some may be rows without an order number, which belong to fewer orders. */
function lettersFact({ deadLetters, sentAgain = 0 }: Status): Fact {
  if (deadLetters === 0) return ['dead letters', 'none'];
  const left = deadLetters - sentAgain;
  const again = sentAgain === 0 ? '' : `${count(sentAgain)} sent again, without an outcome yet; `;
  return [
    'dead letters',
    [
      ...(left === 0
        ? []
        : [
            { text: count(left), tone: 'bad' as const },
            ` ${left === 1 ? 'needs' : 'need'} a person (each once); `,
          ]),
      `${again}run po-sync dead-letters list`,
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

function notTakenTexts({ notTaken = [] }: Status): string[] {
  return notTaken.map((one) => notTakenText({ remedy: 'po-sync tries again.', ...one }));
}

function ignoredTexts({ sources }: Status): string[] {
  return sources.flatMap(({ name, ignored }) =>
    ignored ? [`${name}: ${ignoredText(ignored)}`, ignoredRemedy(ignored)] : [],
  );
}

/** A table, and below it what keeps po-sync from using an inbox, a file of an export, and sources that are silent. */
function sourceBlocks({ sources, now }: Status): Block[] {
  const troubles = sources.flatMap((source) => {
    const trouble = inboxTrouble(source);
    const files = source.type === 'export' ? waitingTexts(source) : [];
    const texts = [
      ...(trouble ? [`${source.state}; ${trouble}`] : files),
      silenceText(source, now) ?? '',
    ];
    return texts.flatMap((text) => (text === '' ? [] : [`${source.name}: ${text}`]));
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
  if (state === 'no match') return 'no file matches';
  return code === undefined ? state : `${state} (${code})`;
}
