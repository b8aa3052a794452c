import { basename, join } from 'node:path';
import { type Config, type Mapping, mappingsFor } from '../config/config.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import { openFolder } from '../core/folder.ts';
import { syncFolder } from '../core/regular-file.ts';
import type { Known } from '../ledger/entry.ts';
import { isUnderWay } from '../ledger/entry.ts';
import { columnAt, namesOf } from '../mapping/column-at.ts';
import type { OrderResult } from '../order/outcome.ts';
import type { FileFormat, FileShape, SourceRecord } from '../order/record.ts';
import { asText, sentence } from '../order/sentence.ts';
import { escapeFormula } from '../order/spreadsheet.ts';
import { onOneLine } from '../order/text.ts';
import { sameBytes, written } from './disk.ts';
import { openDraft } from './draft.ts';
import { answerEncodingOf, encode } from './encode.ts';
import { csvLine } from './lines.ts';
import { besideName, claimName } from './place-file.ts';
import type { Report } from './report.ts';
import { type ReportedOrder, type ReportInput, writeReport } from './write-report.ts';

/**
 * Writes the report, and the answer for the programs that want one: that of the source which brought the file, and that of
 * the source whose orders a fix file corrects, wherever it was dropped.
 */
export async function writeAnswered(
  input: ReportInput,
  config: Config,
  shape = input.shape,
): Promise<void> {
  const { batch, source, readAs = source } = input.report;
  const folders = answerFolders(source, readAs, config);
  await using opened = new AsyncDisposableStack();
  const answers: Answer[] = [];
  let { orders } = input;
  for (const folder of folders) {
    const answer = opened.use(
      await openAnswer(folder, batch, shape, mappingsFor(config, readAs)[0]?.mapping),
    );
    orders = answer.adding(orders);
    answers.push(answer);
  }
  await writeReport({ ...input, orders });
  for (const answer of answers) {
    await input.fence?.();
    await answer.deliver(input.report);
  }
}

/** Where a file is answered. `readAs`: the source whose orders it corrects. */
export function answerFolders(
  source: string,
  readAs: string | undefined,
  { sources }: Pick<Config, 'sources'>,
): ReadonlySet<string> {
  const own = sources.filter(({ name }) => name === source || name === readAs);
  return new Set(own.flatMap(({ answers }) => answers ?? []));
}

/** Writes one more answer of a batch, with these orders. */
export async function writeAnswer(
  folder: string,
  batch: string,
  { shape, mapping }: { shape: FileShape; mapping: Mapping | undefined },
  orders: readonly ReportedOrder[],
): Promise<void> {
  await using answer = await openAnswer(folder, batch, shape, mapping);
  for (const one of orders) await answer.add(one);
  await answer.deliver({});
}

/** The answer file of one batch for the program that wrote its input: every record with its outcome. */
export type Answer = AsyncDisposable & {
  add(order: ReportedOrder): Promise<void>;
  /** Passes the orders on unchanged and adds them to the answer. */
  adding(orders: AsyncIterable<ReportedOrder>): AsyncGenerator<ReportedOrder>;
  /** Adds a line about the complete file if `report` says that it is unreadable, and gives the file its name: `<batch>.csv` (`.json`, `.ndjson`), or with a number where a neighbor has that name. */
  deliver(report: Partial<Pick<Report, 'error' | 'finishedAt'>>): Promise<string>;
};

/** The columns after those of the input. */
const ANSWER_COLUMNS = ['_outcome', '_at', '_code', '_message', '_at_api'] as const;

/**
 * Whether the API has an order with this number, whatever its items. `unknown`: nobody knows, or po-sync may send one without
 * being asked again.
 */
export function atApiOf(known: Known): NonNullable<ReportedOrder['atApi']> {
  if (known.kind !== 'open') return known.kind === 'accepted' ? 'yes' : 'no';
  if (known.entry.known !== undefined) return 'yes';
  return isUnderWay(known) ? 'unknown' : 'no';
}

/**
 * Opens the answer of a batch in `folder`, which must exist and is not a link. The file appears complete or not at all,
 * and replaces no other. `shape`: the form of the input; undefined for a file that could not be read, which `mapping` would read.
 * Throws PoSyncError `report-not-written` or `folder-is-link`.
 */
async function openAnswer(
  folder: string,
  batch: string,
  shape: FileShape | undefined,
  mapping?: Mapping,
): Promise<Answer> {
  await using resources = new AsyncDisposableStack();
  const opened = resources.use(
    await written(folder, () => openFolder(folder).catch(explained(folder))),
  );
  const form =
    shape === undefined || shape.header !== undefined
      ? tableForm(shape, mapping)
      : objectForm(shape, mapping);
  const draft = resources.use(await openDraft(join(opened.path, batch)));
  await draft.write(form.opening);
  const kept = resources.move();

  async function add({ order, atApi, result: own }: ReportedOrder): Promise<void> {
    const result = { ...own, ...(atApi && { atApi }) };
    for (const record of order.records) await draft.write(form.record(record, result));
    if (order.records.length === 0) await draft.write(form.number(order.number, result));
  }

  return {
    add,
    async *adding(orders) {
      for await (const reported of orders) {
        await add(reported);
        yield reported;
      }
    },
    async deliver({ error, finishedAt }) {
      if (error)
        await draft.write(
          form.file({
            ...error,
            message: sentence(error.message),
            outcome: 'unreadable',
            at: finishedAt ?? '',
          }),
        );
      await draft.write(form.closing);
      await draft.seal();
      for (let attempt = 1; ; attempt += 1) {
        const path = join(opened.path, besideName(batch, form.ending, attempt));
        const isDelivered = await written(path, async () => {
          return (
            (await claimName(draft.temporary, path)) || (await sameBytes(draft.temporary, path))
          );
        });
        if (!isDelivered) continue;
        await written(path, () => syncFolder(opened.path));
        return join(folder, basename(path));
      }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function explained(folder: string): (error: unknown) => never {
  return (error) => {
    if (codeOf(error) !== 'ENOENT') throw error;
    throw new PoSyncError(
      'report-not-written',
      `The folder for answers ${folder} does not exist.`,
      {
        remedy: 'Create or mount it. The answer is delivered as soon as that is possible.',
        facts: { path: folder, reason: 'ENOENT' },
        cause: error,
      },
    );
  };
}

type Outcome = Pick<OrderResult, 'at' | 'code' | 'message'> & { outcome: string; atApi?: string };

/** `ending`: of the file's name. */
type AnswerForm = {
  ending: string;
  opening: Uint8Array;
  record(record: SourceRecord, result: Outcome): Uint8Array;
  /** An order of which only the number is known. */
  number(number: string, result: Outcome): Uint8Array;
  /** A line without a record. */
  file(result: Outcome): Uint8Array;
  closing: Uint8Array;
};

/** The input's columns, delimiter, encoding and line ends. Its cells are unchanged: a program reads them. */
function tableForm(shape: FileShape | undefined, mapping: Mapping | undefined): AnswerForm {
  const format = shape?.format ?? unreadFormat(mapping);
  const header = shape?.header ?? [];
  const column = columnAt('purchaseOrderNumber', header, mapping);
  const dialect = { delimiter: format.delimiter ?? ',', newline: shape?.newline ?? '\r\n' };
  const { encoding, needsMark } = answerEncodingOf(format);
  const line = (cells: readonly string[]) => encode(csvLine(cells, dialect), encoding);
  const mark = shape?.bom === true || needsMark ? encode('\ufeff', encoding) : new Uint8Array();
  const rowOf = (cells: readonly string[], { outcome, at, code, message, atApi = '' }: Outcome) => {
    const own = header.map((_, column) => cells[column] ?? '');
    return line([...own, outcome, at, code, escapeFormula(onOneLine(asText(message))), atApi]);
  };
  return {
    ending: '.csv',
    opening: Buffer.concat([mark, line([...header, ...ANSWER_COLUMNS])]),
    record: (record, result) => rowOf(record.kind === 'row' ? record.cells : [], result),
    number: (number, result) =>
      rowOf(
        header.map((_, at) => (at === column ? number : '')),
        result,
      ),
    file: (result) => rowOf([], result),
    closing: new Uint8Array(),
  };
}

/** Of a file that could not be read: what its mapping sets. */
function unreadFormat({ delimiter, encoding }: Partial<Mapping> = {}): FileFormat {
  return {
    type: 'csv',
    ...(delimiter !== undefined && { delimiter }),
    ...(encoding !== undefined && { encoding }),
  };
}

/** The input's objects with five more keys: an array with one object a line, or one object a line. */
function objectForm(shape: FileShape, mapping: Mapping | undefined): AnswerForm {
  const isLines = shape.format.type === 'ndjson';
  const key = namesOf('purchaseOrderNumber', mapping)[0];
  let isFirst = true;
  function framed(own: object, { outcome, at, code, message, atApi = '' }: Outcome): Uint8Array {
    const added = { _outcome: outcome, _at: at, _code: code, _message: message, _at_api: atApi };
    const text = JSON.stringify({ ...own, ...added });
    const separator = isLines ? '' : isFirst ? '\n' : ',\n';
    isFirst = false;
    return Buffer.from(`${separator}${text}${isLines ? '\n' : ''}`);
  }
  return {
    ending: isLines ? '.ndjson' : '.json',
    opening: Buffer.from(isLines ? '' : '['),
    record(record, result) {
      const value = record.kind === 'object' ? record.value : record.cells;
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      return framed(isObject ? value : { _value: value }, result);
    },
    number: (number, result) => framed({ [key]: number }, result),
    file: (result) => framed({}, result),
    closing: Buffer.from(isLines ? '' : '\n]\n'),
  };
}
