import { describe, errorDocument, type PoSyncError } from '../../core/errors.ts';
import { count, counted } from '../../core/format.ts';
import type { OrderToSend } from '../../correct/read-orders.ts';
import type { ColumnUse } from '../../operate/orders/check-file.ts';
import type { Preview } from '../../operate/orders/preview-orders.ts';
import type { Done } from '../../operations/operation.ts';
import type { SendPlan } from '../../operations/run-send.ts';
import type { ContentWait } from '../../order/file-wait.ts';
import type { Order } from '../../order/order.ts';
import type { Problem } from '../../order/problem.ts';
import type { FileFormat } from '../../order/record.ts';
import { asText } from '../../order/sentence.ts';
import { escapeHiddenInJson, shorten } from '../../order/text.ts';
import { openText } from '../../report/story.ts';
import { printUndeclared } from '../../setup/print.ts';
import { fileWaitText } from '../../wording/file-wait.ts';
import { problemText } from '../../wording/problem.ts';
import type { Shell } from '../shell.ts';
import { errorText, printable, printableJson } from '../terminal/print.ts';
import { columnTexts } from './column-texts.ts';
import type { ActView } from './definitions/operation-command.ts';

/** Prints what `check` finds, for people or programs. */
export type CheckPrinter = {
  begin(): void;
  file(file: string): FilePrinter;
  end(): void;
};

/** `columns`: each one with what happens to it. `waits`: why the file would wait for a person. */
type ReadAs = {
  warnings: readonly string[];
  columns: readonly ColumnUse[];
  waits: ContentWait | undefined;
};

/** Prints one file: its format, each problem as it is found, then the result. */
export type FilePrinter = {
  onFormat(format: FileFormat, records: number, more: ReadAs): void;
  /** `order`: the order's number, "" if it has none. `isNameless`: it is a row without one, which may have a label instead. */
  onProblem(problem: Problem, order: string, isNameless: boolean): void;
  /** The orders that would be sent, all of them. */
  onOrders(orders: AsyncIterable<OrderToSend>): Promise<void>;
  done(checked: CheckedFile): void;
  failed(error: PoSyncError): void;
};

/**
 * The content of a readable file. `nameless`: how many of the orders are rows without an order number. `preview.list`:
 * `ok`, or why the API's list does not show what is absent. `waits`: nothing is sent before it is released. `first` is its first order that would be sent, exactly as it would be; without a preview, its first valid one.
 */
export type CheckedFile = {
  orders: number;
  nameless: number;
  invalid: number;
  first?: Order | undefined;
  waits: boolean;
  preview?: Preview & { list: string };
};

/**
 * Prints one JSON document, piece by piece so that its size does not matter:
 * `{"files": [{file, format, records, columns, waits?, warnings, problems: [{order, …}], orders, invalid, first, preview?} or {file, error}]}`;
 * with `--orders`, `toSend: [{line, …}]` comes after the problems.
 */
export function createJsonPrinter(write: (text: string) => void): CheckPrinter {
  const out = (text: string) => write(escapeHiddenInJson(text));
  let files = 0;

  function filePrinter(file: string): FilePrinter {
    const separator = files++ === 0 ? '' : ',';
    let isOpen = false;
    let problems = 0;
    const opening = `${separator}\n{"file":${JSON.stringify(file)}`;
    return {
      onFormat(format, records, { warnings, columns, waits }) {
        isOpen = true;
        const wait = waits && { waits: { ...waits, message: fileWaitText(waits) } };
        out(`${opening},${members({ format, records, columns, ...wait, warnings })},"problems":[`);
      },
      onProblem(problem, order) {
        out(
          `${problems++ === 0 ? '' : ','}\n${JSON.stringify({ order, ...problem, message: problemText({ ...problem, field: '' }) })}`,
        );
      },
      async onOrders(orders) {
        out('],"toSend":[');
        let sent = 0;
        for await (const order of orders)
          out(`${sent++ === 0 ? '' : ','}\n${JSON.stringify(order)}`);
      },
      done({ orders, invalid, first, preview }) {
        const more = preview && { preview };
        out(`],${members({ orders, invalid, first: first ?? null, ...more })}}`);
      },
      failed(error) {
        out(`${isOpen ? ']' : opening},${members({ error: errorDocument(error) })}}`);
      },
    };
  }

  return {
    begin: () => out('{"files":['),
    file: filePrinter,
    end: () => out('\n]}\n'),
  };
}

/** An object's members without its braces. */
function members(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}

/** Prints what `check` finds, for people. */
export function createTextPrinter(shell: Pick<Shell, 'out' | 'err'>): CheckPrinter {
  return {
    begin: () => undefined,
    file(file) {
      const rules = createRules(file);
      let isListed = false;
      return {
        onFormat: (format, records, more) => shell.out(formatText(file, format, records, more)),
        onProblem: (problem, order, isNameless) => rules.add(problem, isNameless ? '' : order),
        async onOrders(orders) {
          isListed = true;
          for await (const { line, ...order } of orders)
            shell.out(
              `${printable(`${file}:${line}: would be sent: `)}${escapeHiddenInJson(JSON.stringify(order))}\n`,
            );
        },
        done(checked) {
          for (const text of rules.texts()) shell.out(text);
          shell.out(resultText(file, isListed ? { ...checked, first: undefined } : checked));
        },
        failed: (error) => shell.err(failureText(file, error)),
      };
    },
    end: () => undefined,
  };
}

/** `orders.csv: csv, delimiter ";", windows-1252, decimal ","; 8 rows`, and the warnings below it. */
function formatText(
  file: string,
  format: FileFormat,
  records: number,
  { warnings, columns, waits }: ReadAs,
): string {
  const facts = [
    format.gzip === true ? `${format.type} in gzip` : format.type,
    format.delimiter === undefined
      ? undefined
      : `delimiter ${format.delimiter === '\t' ? 'tab' : JSON.stringify(format.delimiter)}`,
    format.encoding,
    format.decimal === undefined ? undefined : `decimal "${format.decimal}"`,
  ];
  const known = facts.filter((fact) => fact !== undefined).join(', ');
  const isTable = format.type === 'csv' || format.type === 'xlsx';
  const lines = warnings.map((warning) => `${printable(file)}: warning: ${printable(warning)}\n`);
  for (const line of columnTexts(columns)) lines.unshift(`${printable(`${file}: ${line}`)}\n`);
  if (waits) lines.push(`${printable(`${file}: waits: ${asText(fileWaitText(waits))}`)}\n`);
  const undeclared = waits && printUndeclared(waits.facts);
  for (const line of undeclared?.split('\n') ?? []) lines.push(`  ${printable(line)}\n`);
  return `${printable(file)}: ${known}; ${counted(records, isTable ? 'row' : 'object')}\n${lines.join('')}`;
}

/** Problems that are shown of those that fail one rule in one column. */
const MOST_SHOWN = 10;

/** Problems of one code in one column: the first ones as texts, and the first and last lines of the others. */
type Rule = { code: string; times: number; shown: string[]; lines: [number, number][] };

/** Groups what is wrong with a file by the rule that it fails, with few of many that are alike. */
function createRules(file: string) {
  const rules = new Map<string, Rule>();
  return {
    add(problem: Problem, order: string): void {
      const { code, field, line } = problem;
      const key = `${code} ${field}`;
      const rule = rules.get(key) ?? { code, times: 0, shown: [], lines: [] };
      rules.set(key, rule);
      rule.times += 1;
      const last = rule.lines.at(-1);
      if (rule.times <= MOST_SHOWN) rule.shown.push(lineText(file, problem, order));
      else if (last && line >= last[1] && line <= last[1] + 1) last[1] = line;
      else rule.lines.push([line, line]);
    },
    /** The groups by their codes, each below how often it occurs. */
    *texts(): Generator<string> {
      for (const { code, times, shown, lines } of [...rules.values()].sort(byCode)) {
        yield `${printable(`${file}: ${code}, ${times === 1 ? 'once' : `${count(times)} times`}:`)}\n`;
        yield* shown;
        const more = lines.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join(', ');
        if (more !== '') yield `${printable(`${file}: the others in lines ${more}`)}\n`;
      }
    },
  };
}

const byCode = (a: Rule, b: Rule) => (a.code < b.code ? -1 : Number(a.code > b.code));

/** `QTY: is not a number, found "1 dozen"`. */
function saidText(problem: Problem): string {
  const { field, value } = problem;
  const found = field === '' || value === '' ? '' : `, found ${JSON.stringify(value)}`;
  return `${field}${field && ': '}${asText(problemText({ ...problem, field: '' }))}${found}`;
}

/** `orders.csv:8: QTY: is not a number, found "1 dozen" (order PO-1)`. */
function lineText(file: string, problem: Problem, order: string): string {
  const place = problem.pointer ? ` ${problem.pointer}` : '';
  const whose = order === '' ? '' : ` (order ${shorten(order, 60)})`;
  return `${printable(`${file}:${problem.line}:${place} ${saidText(problem)}${whose}`)}\n`;
}

/** The counts, and the first order as it would be sent. */
function resultText(
  file: string,
  { orders, nameless, invalid, first, preview, waits }: CheckedFile,
): string {
  const checked =
    invalid === 0 ? 'all valid' : `${count(invalid)} ${nameless > 0 ? 'of them ' : ''}invalid`;
  const verdict =
    orders === 0 ? 'nothing to send' : preview === undefined ? checked : comparedText(preview);
  const then = waits ? ' once a person releases it' : '';
  const example =
    first === undefined ? '' : `First order as it would be sent:\n${printableJson(first)}\n`;
  return `${printable(file)}: ${openText(orders, nameless)}, ${verdict}${then}\n${preview === undefined ? '' : previewText(preview)}${example}`;
}

/** Every order once: one of an export that failed a check can be settled since. */
function comparedText({
  duplicate,
  waiting,
  ...preview
}: NonNullable<CheckedFile['preview']>): string {
  const parts: [number, string][] = [
    [preview.new, 'new'],
    [preview.unknown, 'perhaps new'],
    [duplicate, 'duplicate'],
    [preview.conflict, 'in conflict'],
    [preview.invalid, 'invalid'],
    [waiting, 'waiting for a person'],
  ];
  return parts
    .flatMap(([number, text]) => (number > 0 ? [`${count(number)} ${text}`] : []))
    .join(', ');
}

function previewText(preview: NonNullable<CheckedFile['preview']>): string {
  const { conflict, waiting, conflicts, list } = preview;
  const more =
    conflict > conflicts.length ? `, … and ${count(conflict - conflicts.length)} more` : '';
  const lines: [number, string][] = [
    [preview.new, 'new: would be sent'],
    [preview.unknown, 'perhaps new: would be sent, but the API may have them'],
    [preview.duplicate, 'duplicate: known or settled with the same content'],
    [
      conflict,
      `conflict: known with different content${conflict === 0 ? '' : `: ${conflicts.join(', ')}${more}`}`,
    ],
    [waiting, 'waiting: a person must settle an order with the same content first'],
    [preview.invalid, 'invalid: failed a check'],
  ];
  const compared =
    list === 'ok'
      ? "Compared with the ledger and the API's list"
      : `Compared with the ledger (the API's list: ${list})`;
  const ifAny = [preview.unknown > 0 ? 0 : 1, 4];
  const shown = lines.filter(([number], at) => number > 0 || !ifAny.includes(at));
  const texts = shown.map(([number, text]) => `${count(number).padStart(9)}  ${printable(text)}\n`);
  return `${printable(compared)}:\n${texts.join('')}`;
}

/** What `batches send` would do with each order, and why its file would wait. */
export const sendView: ActView<SendPlan, Done> = {
  plan({ previewed: { preview } }) {
    const { waits, problems } = preview;
    const file = waits ? `The file would wait: ${asText(fileWaitText(waits))}.\n` : '';
    const lines = problems.map((one) => lineText('line', one, one.purchaseOrderNumber));
    return printable(file).trimEnd() + (file && '\n') + previewText(preview) + lines.join('');
  },
};

/** Why a file cannot be read, and where. That it cannot be opened is an error as of any command, which names the file. */
function failureText(file: string, error: PoSyncError): string {
  if (error.facts['file'] !== undefined) return errorText(error);
  const place = [file, error.facts.line].filter((one) => one !== undefined).join(':');
  return `${printable(`${place}: ${error.code}: `)}${describe(error).split('\n').map(printable).join('\n')}\n`;
}
