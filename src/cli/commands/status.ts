import { ago, counted, duration, iso, orders } from '../../core/format.ts';
import { readStatus, type SourceStatus, type Status } from '../../operate/read-status.ts';
import { type OperatorContextArgs, openOperatorContext } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import { createPaint, type Paint } from '../terminal/paint.ts';
import { printJson } from '../terminal/print-json.ts';
import { printable } from '../terminal/printable.ts';
import { type Column, table } from '../terminal/table.ts';
import { indented } from '../terminal/wording.ts';
import { batchJson } from './batch-json.ts';
import { batchTable } from './batch-text.ts';

/** `status`: how the environment stands. Exit code 0, whatever it tells. */
export async function statusCommand(args: OperatorContextArgs, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: false });
  const status = await readStatus(context);
  if (args.json) printJson(shell, statusJson(status, context.reports));
  else shell.out(statusText(status, { paint: createPaint(shell), columns: shell.isTTY ? shell.columns : undefined }));
  return 0;
}

function statusJson({ now, daemons, sources, batches, pauses, ...rest }: Status, reports: string) {
  return {
    ...rest,
    now: iso(now),
    daemons: daemons.map((daemon) => ({ ...daemon, since: iso(daemon.since) })),
    sources: sources.map(({ last, ...source }) => ({ ...source, last: last && { ...last, at: iso(last.at) } })),
    batches: batches.map((batch) => batchJson(batch, reports)),
    pauses: pauses.map((pause) => ({ ...pause, since: iso(pause.since) })),
  };
}

type Format = { paint: Paint; columns: number | undefined };

/** The status as a person reads it. */
export function statusText(status: Status, format: Format): string {
  const { paint } = format;
  const heading = `${paint('strong', status.environment)}  ${printable(status.baseUrl)}\n`;
  const facts: [string, string][] = [
    ['delivery', deliveryText(status, paint)],
    ['daemons', daemonsText(status, paint)],
    ['token', tokenText(status)],
    ['queue', queueText(status, paint)],
    ['dead letters', deadText(status, paint)],
  ];
  const lines = facts.map(([name, text]) => `  ${name.padEnd(14)}${text}\n`);
  const sources = `\n${paint('strong', 'Sources')}\n${indented(table(status.sources, sourceColumns(status.now), inset(format)))}`;
  const batches = indented(batchTable(status.batches, status.now, inset(format)));
  const underWay = batches === '' ? '' : `\n${paint('strong', 'Batches under way')}\n${batches}`;
  return `${heading}${lines.join('')}${sources}${underWay}`;
}

/** Room for what `indented` puts before. */
function inset({ paint, columns }: Format): Format {
  return { paint, columns: columns === undefined ? undefined : columns - 2 };
}

function deliveryText({ pauses, now }: Status, paint: Paint): string {
  if (pauses.length === 0) return paint('good', 'goes on');
  const texts = pauses.map(({ reason, since, held }) => {
    const end = held ? 'until a person ends it' : 'goes on by itself';
    return `${paint('bad', 'paused')} for ${duration(now - since)}: ${printable(reason)} (${end})`;
  });
  return texts.join(`\n${' '.repeat(16)}`);
}

function daemonsText({ daemons, now }: Status, paint: Paint): string {
  if (daemons.length === 0) return `${paint('bad', 'none alive')}; \`po-sync start\` runs one`;
  const each = daemons.map(
    ({ host, pid, since, version }) => `${printable(host)}:${pid} for ${duration(now - since)} (${printable(version)})`,
  );
  return `${counted(daemons.length, 'daemon')} alive: ${each.join(', ')}`;
}

function tokenText({ token }: Status): string {
  if (!token.present) return 'none; one is asked for when it is needed';
  return `present, good for ${duration(token.expiresInMs ?? 0)}`;
}

function queueText({ queue }: Status, paint: Paint): string {
  const doubt = queue.ordersInDoubt > 0 ? paint('doubtful', `, ${queue.ordersInDoubt} in doubt being looked up`) : '';
  return `${orders(queue.unsettledOrders)} not settled${doubt}; ${counted(queue.waitingJobs, 'job')} waiting`;
}

function deadText({ deadLetters }: Status, paint: Paint): string {
  if (deadLetters === 0) return 'none';
  return `${paint('bad', counted(deadLetters, 'order'))} ${deadLetters === 1 ? 'needs' : 'need'} a person; \`po-sync dead-letters list\``;
}

function sourceColumns(now: number): Column<SourceStatus>[] {
  return [
    { title: 'source', of: ({ name }) => name },
    { title: 'type', of: ({ type }) => type, leaves: 1 },
    {
      title: 'state',
      of: ({ state, code }) => (code === undefined ? state : `${state} (${code})`),
      tone: ({ state }) => (state === 'missing' || state === 'unreachable' ? 'bad' : 'plain'),
    },
    { title: 'path', of: ({ path }) => path, cut: 'start', wish: 16, leaves: 2 },
    {
      title: 'last file',
      of: ({ last }) => (last === undefined ? '–' : `${last.file}, ${ago(last.at, now)}`),
      cut: 'end',
      wish: 16,
    },
  ];
}
