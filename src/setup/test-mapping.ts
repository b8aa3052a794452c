import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { findingsOf, wordingOf } from '../config/issues.ts';
import { mappingSchema } from '../config/mapping-schema.ts';
import { pathText } from '../config/problem.ts';
import { readYaml } from '../config/yaml-file.ts';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import { counted, orders } from '../core/format.ts';
import type { SentOrder } from '../mapping/judge.ts';
import { inspectFile, readOrderPages } from '../mapping/read-file.ts';
import type { NamedMapping } from '../mapping/read-records.ts';
import type { ContentWait } from '../order/file-wait.ts';
import { escapeHidden, escapeHiddenInJson, shorten } from '../order/text.ts';
import { fileWaitText } from '../wording/file-wait.ts';
import { layoutFault } from '../wording/layout-fault.ts';
import { faultText } from '../wording/problem.ts';
import { printUndeclared } from './print.ts';

/** What would become of one file with a mapping. */
export type Trial = { file: string } & (
  | { state: 'unreadable'; code: string; message: string; remedy?: string }
  | { state: 'waits'; waits: ContentWait }
  | {
      state: 'ready';
      /** The mapping that its layout has. */
      mapping: string;
      sent: number;
      held: readonly { code: string; orders: number; example: string }[];
      leftOut: number;
      /** The first order that would be sent. */
      first?: SentOrder;
    }
);

/** Whether all of every file would be sent. */
export function isAllSent(trials: readonly Trial[]): boolean {
  return trials.every((one) => one.state === 'ready' && one.held.length === 0 && one.sent > 0);
}

const MOST_BYTES = 1024 * 1024;

/**
 * The mappings in a file: all under `mappings:`, or the file is one itself. PoSyncError `mapping-unreadable`,
 * `mapping-invalid` with everything that is wrong with it.
 */
export async function readMappings(file: string): Promise<NamedMapping[]> {
  const yaml = readYaml(await textOf(file));
  const [fault] = yaml.faults;
  if (fault !== undefined)
    throw invalid(file, [`line ${fault.line}, column ${fault.column}: ${fault.message}`]);
  const { value } = yaml;
  const name = path.basename(file).replace(/\.ya?ml$/, '');
  const given =
    isKeyed(value) && isKeyed(value['mappings']) ? value['mappings'] : { [name]: value };

  const mappings: NamedMapping[] = [];
  const problems: string[] = [];
  for (const [key, one] of Object.entries(given)) {
    const read = mappingSchema.safeParse(one, { error: wordingOf });
    if (read.success) mappings.push({ name: key, mapping: read.data });
    else problems.push(...problemsOf(key, one, read.error.issues));
  }
  if (problems.length > 0) throw invalid(file, problems);
  return mappings;
}

async function textOf(file: string): Promise<string> {
  try {
    const text = await readFile(file, 'utf8');
    return text.slice(0, MOST_BYTES).replace(/^\ufeff/, '');
  } catch (error) {
    throw new PoSyncError(
      'mapping-unreadable',
      `${file} cannot be read: ${toError(error).message}`,
      {
        remedy: 'Name a file with a mapping, such as one that po-sync map printed.',
        facts: { file, reason: codeOf(error) ?? 'unknown' },
        cause: error,
      },
    );
  }
}

type Issues = Parameters<typeof findingsOf>[0];

/** What is wrong with one mapping, as the configuration would say it. */
function problemsOf(name: string, value: unknown, issues: Issues): string[] {
  const placed = issues.map((issue) => ({ ...issue, path: ['mappings', name, ...issue.path] }));
  return findingsOf(placed, { mappings: { [name]: value } }).map(
    ({ path: at, message }) => `${typeof at === 'string' ? at : pathText(at)}: ${message}`,
  );
}

function invalid(file: string, problems: readonly string[]): PoSyncError {
  return new PoSyncError('mapping-invalid', `${file}: ${problems.slice(0, 20).join('; ')}`, {
    remedy: 'Correct the mapping.',
    facts: { file, problems: problems.length },
  });
}

function isKeyed(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a file with mappings as the daemon would, and counts what would become of it. */
export async function tryFile(
  file: string,
  mappings: readonly NamedMapping[],
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Trial> {
  try {
    const inspection = await inspectFile(file, mappings, { signal });
    const { state, reading } = inspection;
    if (state !== 'ready') return { file, state: 'waits', waits: state.waits };

    const tally = createTally();
    for await (const page of readOrderPages(file, inspection, { signal, onLeftOut: tally.leftOut }))
      for (const order of page) tally.add(order);
    return { file, state: 'ready', mapping: reading?.mapping.name ?? '', ...tally.found() };
  } catch (thrown) {
    const error = layoutFault(thrown);
    if (!(error instanceof PoSyncError) || !error.code.startsWith('unreadable-')) throw error;
    const { code, message, remedy } = error;
    return { file, state: 'unreadable', code, message, ...(remedy !== undefined && { remedy }) };
  }
}

type Order = Awaited<ReturnType<ReturnType<typeof readOrderPages>['next']>>['value'];
type One = NonNullable<Order>[number];

/** Counts orders by the first thing that holds them. */
function createTally() {
  const held = new Map<string, { code: string; orders: number; example: string }>();
  let first: SentOrder | undefined;
  let sent = 0;
  let leftOut = 0;

  return {
    leftOut: () => {
      leftOut += 1;
    },
    add(one: One) {
      if ('order' in one) {
        first ??= one.order;
        sent += 1;
        return;
      }
      const [problem] = one.problems;
      if (problem === undefined) return;
      const { code, field, line, value } = problem;
      const message = faultText(problem);
      const shown = value === '' ? '' : ` ${JSON.stringify(shorten(value, 40))}`;
      const subject = field === '' ? '' : `${shorten(field, 40)}${shown} `;
      const known = held.get(code);
      if (known !== undefined) known.orders += 1;
      else held.set(code, { code, orders: 1, example: `line ${line}: ${subject}${message}` });
    },
    found: () => ({ sent, held: [...held.values()], leftOut, ...(first && { first }) }),
  };
}

/** What would become of files, as text. */
export function printTrials(trials: readonly Trial[]): string {
  return trials.map((trial) => `${escapeHidden(trial.file)}: ${trialText(trial)}\n`).join('');
}

function trialText(trial: Trial): string {
  switch (trial.state) {
    case 'unreadable':
      return escapeHidden(
        `unreadable (${trial.code}): ${trial.message}${trial.remedy ? ` ${trial.remedy}` : ''}`,
      );
    case 'waits':
      return [
        `waits: ${escapeHidden(fileWaitText({ ...trial.waits }))}`,
        ...(printUndeclared(trial.waits.facts)?.split('\n') ?? []),
      ].join('\n  ');
    case 'ready':
      return readyText(trial);
  }
}

function readyText({ mapping, sent, held, leftOut, first }: Trial & { state: 'ready' }): string {
  const heldOrders = held.reduce((sum, one) => sum + one.orders, 0);
  const lines = [
    `${orders(sent)} would be sent, ${heldOrders} held, ${counted(leftOut, 'record')} left out (mapping ${mapping})`,
    ...held.map(
      ({ code, orders: number, example }) => `  held: ${number}× ${code}, such as ${example}`,
    ),
    ...(first === undefined ? [] : [`  first: ${escapeHiddenInJson(JSON.stringify(first))}`]),
  ];
  return lines.map((line) => escapeHidden(line)).join('\n');
}
