import { startCommandOf } from '../../config/config.ts';
import { PoSyncError } from '../../core/errors.ts';
import { ago, count, counted, orders } from '../../core/format.ts';
import { endOf, pauseAdvice } from '../../deliver/pause-rules.ts';
import { ignoredRemedy, ignoredText } from '../../intake/folders.ts';
import { delivers, leftWithoutIntake } from '../../operate/delivery/pause-delivery.ts';
import { type Status, tokenText } from '../../operate/delivery/read-status.ts';
import {
  inboxText,
  inboxTrouble,
  notTakenTexts,
  otherWaitingTexts,
  type SourceStatus,
  silenceText,
  takesFiles,
} from '../../operate/delivery/source-status.ts';
import { seenJson } from '../../operations/run-environment.ts';
import { type CommonArgs, openOperatorContext } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { createLiveScreen, linesThatFit } from '../terminal/live-view.ts';
import {
  createdTwiceFacts,
  daemonsText,
  deliveryText,
  endedPauseFacts,
  folderFacts,
  guaranteeFacts,
  listFacts,
  noticeFacts,
  waitLines,
} from '../terminal/pause-view.ts';
import {
  type Format,
  formatOf,
  hanging,
  type Paint,
  printable,
  printJson,
  wrapped,
} from '../terminal/print.ts';
import { type Column, table } from '../terminal/table.ts';
import {
  batchTable,
  heldLines,
  readingLines,
  unreadableLines,
  unreadableRemedies,
  unsettledLines,
} from './batch-view.ts';
import type { View } from './definitions/operation-command.ts';

/** Milliseconds between two readings of `--watch`. */
const WATCH_PAUSE = 2_000;

export const view: View<object, { status: Status }> = {
  text: ({ status }, { context, format }) =>
    statusText(status, format, startCommandOf(context.config)),
};

type StatusArgs = CommonArgs & { watch: boolean; exitCode: boolean };

/**
 * `status [--watch] [--exit-code]`: the current state of the environment. Exit code 0, whatever the state; with
 * `--exit-code` 2 if it needs a person.
 */
export async function statusCommand(args: StatusArgs, shell: Shell): Promise<number> {
  if (args.watch && args.json) throw watchWith('--json');
  if (args.watch && args.exitCode) throw watchWith('--exit-code');
  await using context = await openOperatorContext(args, shell, { confirm: false });
  const start = startCommandOf(context.config);
  if (!args.watch) {
    const seen = await context.status();
    if (args.json) printJson(shell, seenJson(seen));
    else shell.out(statusText(seen.status, formatOf(shell), start));
    return args.exitCode && needsPerson(seen.status) ? 2 : 0;
  }
  const screen = createLiveScreen(shell.streams.out, () => shell.columns);
  while (!shell.signal.aborted) {
    const text = statusText((await context.status()).status, formatOf(shell), start);
    // Lines that no longer fit the terminal could not be replaced.
    if (shell.isTTY) screen.show(linesThatFit(text, shell.rows - 1));
    else shell.out(`${text}\n`);
    await context.clock.sleep(WATCH_PAUSE, shell.signal);
  }
  return 0;
}

/**
 * Whether something does not end automatically: orders or files that wait for a person, also for the end of a pause, or for a
 * daemon while none of its role runs.
 */
export function needsPerson(status: Status): boolean {
  const {
    deadLetters,
    createdTwice,
    guarantee,
    unreadable,
    batches,
    pauses,
    daemons,
    queue,
    sources,
    notTaken = [],
  } = status;
  const taken = batches.map(({ batch }) => batch);
  const areFilesWaiting = queue.unreadOrders > 0 || sources.some(({ waiting = 0 }) => waiting > 0);
  const areOrdersWaiting = queue.unsettledOrders + queue.unreadOrders > 0;
  return (
    deadLetters + createdTwice + unreadable.length + notTaken.length > 0 ||
    guarantee.some(({ holds }) => holds === false) ||
    batches.some(({ batch }) => batch.held !== undefined || batch.unsettled !== undefined) ||
    pauses.some((pause) => endOf(pause) === 'operator' || pauseAdvice(pause) !== undefined) ||
    daemons.some(({ foldersGone }) => foldersGone) ||
    sources.some(({ silent }) => silent) ||
    (areFilesWaiting && !daemons.some(takesFiles)) ||
    leftWithoutIntake(taken, daemons).length > 0 ||
    (areOrdersWaiting && !daemons.some(delivers))
  );
}

function watchWith(option: string): PoSyncError {
  return new PoSyncError(
    'usage-conflicting-option',
    `Options --watch and ${option} cannot be combined.`,
    {
      remedy: `Run po-sync status ${option} once for each reading.`,
      facts: { option: '--watch' },
    },
  );
}

/** The status for people. `start`: the command that starts a daemon. */
export function statusText(status: Status, format: Format, start = 'po-sync start'): string {
  const { paint } = format;
  const heading = `${paint('strong', status.environment)}  ${printable(status.baseUrl)}\n`;
  const facts: [string, string][] = [
    ['delivery', deliveryText(status, start, paint)],
    ...endedPauseFacts(status),
    ['daemons', daemonsText(status, start, paint)],
    ['token', tokenText(status.token)],
    ['queue', queueText(status, paint)],
    ...listFacts(status, paint),
    ['dead letters', deadLettersText(status, paint)],
    ...noticeFacts(status, paint),
    ...folderFacts(status, paint),
    ...createdTwiceFacts(status, paint),
    ...guaranteeFacts(status, paint),
  ];
  const lines = facts.map(([name, text]) => factLines(name, text, format));
  const { now, batches, unreadable } = status;
  return [
    heading,
    ...lines,
    section(
      'Orders that wait',
      waitLines(status, inset(format)) + heldLines(batches, inset(format)),
      paint,
    ),
    section('Sources', sourceLines(status, inset(format)), paint),
    section('In the inbox', inboxLines(status, inset(format)), paint),
    section('Not taken', hungLines(notTakenTexts(status).map(printable), inset(format)), paint),
    section('Not read', ignoredLines(status, inset(format)), paint),
    section('Batches in progress', batchTable(batches, now, inset(format)), paint),
    section('Files not read to their end', readingLines(batches, inset(format)), paint),
    section('No report yet', unsettledLines(status, inset(format)), paint),
    section('Unreadable files', unreadableLines(status, inset(format)), paint),
    indented(unreadableRemedies(unreadable, inset(format))),
  ].join('');
}

/** Where the text of a fact begins. */
const FACT = 16;

function factLines(name: string, text: string, format: Format): string {
  const lines = text.split('\n').map((line) => hanging(line, FACT, format));
  return `  ${name.padEnd(FACT - 2)}${lines.join(`\n${' '.repeat(FACT)}`)}\n`;
}

function section(title: string, text: string, paint: Paint): string {
  return text === '' ? '' : `\n${paint('strong', title)}\n${indented(text)}`;
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

/** Leaves room for the indentation. */
function inset({ columns, ...format }: Format): Format {
  return { ...format, columns: columns === undefined ? undefined : columns - 2 };
}

function queueText({ queue }: Status, paint: Paint): string {
  const { unsettledOrders, ordersInDoubt, waitingJobs, unreadOrders } = queue;
  const doubt =
    ordersInDoubt > 0
      ? paint('doubtful', `, ${ordersInDoubt} being verified with the API's list`)
      : '';
  const more =
    unreadOrders > 0
      ? `, ${count(unreadOrders)} more not read yet: ${count(unsettledOrders + unreadOrders)} wait in all`
      : '';
  return `${orders(unsettledOrders)} not settled${doubt}${more}; ${counted(waitingJobs, 'job')} waiting`;
}

function deadLettersText({ deadLetters, sentAgain = 0 }: Status, paint: Paint): string {
  if (deadLetters === 0) return 'none';
  const left = deadLetters - sentAgain;
  // Some may be rows without an order number, which belong to fewer orders.
  const need =
    left === 0
      ? []
      : [`${paint('bad', count(left))} ${left === 1 ? 'needs' : 'need'} a person (each once)`];
  const again = sentAgain === 0 ? [] : [`${count(sentAgain)} sent again, without an outcome yet`];
  return [...need, ...again, 'run po-sync dead-letters list'].join('; ');
}

function inboxLines(status: Status, format: Format): string {
  const text = inboxText(status);
  if (text === undefined) return '';
  const inboxes = status.sources.filter(({ type }) => type === 'inbox');
  const files = inboxes.flatMap((source) =>
    otherWaitingTexts(source).map((file) => `${source.name}: ${file}`),
  );
  const lines = [
    ...wrapped(text, format),
    ...files.map((file) => hanging(printable(file), 2, format)),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function ignoredLines({ sources }: Status, format: Format): string {
  const texts = sources.flatMap(({ name, ignored }) =>
    ignored ? [`${name}: ${printable(ignoredText(ignored))}`, ignoredRemedy(ignored)] : [],
  );
  const lines = texts.flatMap((text) => wrapped(text, format));
  return lines.map((line) => `${line}\n`).join('');
}

/** A table, and below it what keeps po-sync from using an inbox, a file of an export, and sources that are silent. */
function sourceLines({ sources, now }: Status, format: Format): string {
  const troubles = sources.flatMap((source) => {
    const trouble = inboxTrouble(source);
    const files = source.type === 'export' ? otherWaitingTexts(source) : [];
    const texts = [
      ...(trouble ? [`${source.state}; ${trouble}`] : files),
      silenceText(source, now) ?? '',
    ];
    return texts.flatMap((text) => (text === '' ? [] : [printable(`${source.name}: ${text}`)]));
  });
  return table(sources, sourceColumns(now), format) + hungLines(troubles, format);
}

function sourceColumns(now: number): Column<SourceStatus>[] {
  return [
    { title: 'source', of: ({ name }) => name },
    { title: 'type', of: ({ type }) => type, leaves: 1 },
    {
      title: 'state',
      of: sourceStateText,
      tone: ({ state }) =>
        ['missing', 'no marker', 'other environment', 'unreachable'].includes(state)
          ? 'bad'
          : 'plain',
    },
    { title: 'path', of: ({ path }) => path, cut: 'start', wish: 16, leaves: 2 },
    {
      title: 'last readable file',
      of: ({ last }) => (last === undefined ? '–' : `${last.file}, ${ago(last.at, now)}`),
      cut: 'end',
      wish: 16,
    },
  ];
}

function sourceStateText({ state, code }: SourceStatus): string {
  if (state === 'no match') return 'no file matches';
  return code === undefined ? state : `${state} (${code})`;
}

function hungLines(texts: readonly string[], format: Format): string {
  return texts.map((text) => `${hanging(text, 2, format)}\n`).join('');
}
