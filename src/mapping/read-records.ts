import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Mapping } from '../config/mapping-schema.ts';
import type { Stamp } from '../core/regular-file.ts';
import type { ContentWait } from '../order/file-wait.ts';
import { keyingOf, type Numbers } from '../order/number-key.ts';
import type { OpenFile } from '../parse/open.ts';
import type { RawRecord, Row, Summary } from '../parse/record.ts';
import { createGrouping, type MappedOrder } from './group.ts';
import {
  createSorter,
  createSurvey,
  type Exact,
  type Form,
  type Survey,
  waitOf,
} from './inspect.ts';
import { createJudge } from './judge.ts';
import { openLateOrders } from './late-orders.ts';
import { findHeader, fixedLayout, HEADER_ROWS, type Layout } from './layout.ts';
import { filterBitsFor } from './number-filter.ts';
import type { Plan } from './plan.ts';
import { unreadable } from './unreadable.ts';

export type NamedMapping = { name: string; mapping: Mapping };

/** A file that is read as often as needed; tests make one of arrays. */
export type Records = Pick<OpenFile, 'format' | 'stamp' | 'head' | 'records' | 'summary'>;

export type InspectOptions = {
  signal?: AbortSignal | undefined;
  maxOrders?: number | undefined;
  /** Whether two spellings are two numbers. */
  numbers?: Numbers | undefined;
  /** Bits of the filters of numbers, a power of two; absent: by the size of the file. */
  filterBits?: number;
};

/** How a file is read with the mapping that fits it. */
export type Reading = {
  mapping: NamedMapping;
  plan: Plan;
  form: Form;
  delimiter: string;
  survey: Survey;
  keyOf: (number: string) => string;
  summary: Summary;
};

/** What the first pass says about a file. `reading` is absent where no single mapping fits. */
export type Inspection = {
  state: 'ready' | { waits: ContentWait };
  /** `orders` is exact for a file that waits; otherwise it is the most that there may be. */
  counts: { records: number; orders: number; skipped: number; damaged: number };
  /** A row that must have a line end has none: the file may not be complete. */
  isOpenEnded: boolean;
  reading?: Reading;
  stamp?: Stamp;
};

/** Whether a file has objects and not rows. */
export function isObjectFormat({ format }: Pick<Records, 'format'>): boolean {
  return format !== 'csv' && format !== 'xlsx';
}

/** The first pass with one mapping. */
export async function inspectRecords(
  file: Records,
  plan: Plan,
  mapping: NamedMapping,
  { signal, maxOrders, numbers = 'canonical', filterBits }: InspectOptions = {},
): Promise<Inspection> {
  const form: Form = { isObjects: isObjectFormat(file), isXml: file.format === 'xml' };
  const delimiter = await delimiterOf(file, plan);
  const key = keyingOf(numbers);
  const bits = filterBits ?? filterBitsFor(Number(file.stamp.size));
  const pass: SurveyPass = { plan, form, delimiter, keyOf: key, filterBits: bits, signal };

  const survey = await surveyOf(file, pass);
  const workbook = workbookWait(file.summary(), survey?.layout, plan);
  const isOpenEnded = endsOpen(file, plan);
  if (survey === undefined) return { state: workbook ?? 'ready', counts: NO_COUNTS, isOpenEnded };
  const again = survey.isStale ? await surveyOf(file, pass, survey.layout) : undefined;
  const { layout, missing, undeclared } = survey;
  const found: Survey = { ...survey, ...again, layout, missing, undeclared };

  const reading: Reading = {
    mapping,
    plan,
    form,
    delimiter,
    survey: found,
    keyOf: key,
    summary: file.summary(),
  };
  const estimate: Exact = { orders: found.orders, apart: 0, apartOrders: [] };
  const mayWait =
    workbook !== undefined ||
    found.damaged > 0 ||
    waitOf(found, estimate, plan, maxOrders) !== undefined;
  const exact = mayWait && !found.isExact ? await countExactly(file, reading, signal) : estimate;
  const waits = waitOf(found, exact, plan, maxOrders);
  const { records, skipped, damaged } = found;
  return {
    state: workbook ?? (waits === undefined ? 'ready' : { waits }),
    counts: { records, orders: exact.orders, skipped, damaged },
    isOpenEnded,
    reading,
  };
}

/** `lastRow` says more about the end of a table than a line end. */
function endsOpen(file: Records, { mapping: { finalNewline, lastRow } }: Plan): boolean {
  return finalNewline === 'required' && lastRow === undefined && file.summary().isOpenEnded;
}

const NO_COUNTS = { records: 0, orders: 0, skipped: 0, damaged: 0 };

type SurveyPass = {
  plan: Plan;
  form: Form;
  delimiter: string;
  keyOf: (number: string) => string;
  filterBits: number;
  signal: AbortSignal | undefined;
};

/** A complete pass; undefined where no sheet of a workbook is the one to read. */
async function surveyOf(
  file: Records,
  { plan, form, delimiter, signal, ...options }: SurveyPass,
  known?: Layout,
): Promise<Survey | undefined> {
  const hasHeader =
    !form.isObjects && plan.mapping.header === undefined && plan.mapping.types === undefined;
  const layout = known ?? (hasHeader ? undefined : fixedLayout(plan));
  const begin = (fixed: Layout) => createSurvey(plan, fixed, form, options);
  let survey = layout && begin(layout);
  const first: Row[] = [];

  const beginBelowHeader = (isOpenEnded: boolean) => {
    const found = findHeader(first, plan);
    if (found === undefined)
      throw unreadable({ code: 'unreadable-header', ...neededOf(plan, first), isOpenEnded });
    const begun = begin(found);
    for (const row of first) begun.add(row);
    return begun;
  };

  for await (const page of file.records({ delimiter, signal }))
    for (const record of page) {
      if (survey !== undefined) survey.add(record);
      else if (record.kind === 'row' && first.push(record) === HEADER_ROWS)
        survey = beginBelowHeader(false);
    }
  const { workbook } = file.summary();
  if (workbook !== undefined && workbook.sheet === undefined) return undefined;
  survey ??= beginBelowHeader(endsOpen(file, plan));
  return survey.end();
}

function neededOf({ columns, needed }: Plan, rows: readonly Row[]) {
  const names = needed.map((index) => columns[index]?.name ?? '');
  return { needed: names.join(', '), rows: rows.length };
}

const DELIMITERS = [',', ';', '\t', '|'];

/** The declared delimiter, or the one with which the header shows the most declared columns. */
async function delimiterOf(file: Records, plan: Plan): Promise<string> {
  const { delimiter, widths } = plan.mapping;
  const [comma = ','] = DELIMITERS;
  if (delimiter !== undefined) return delimiter;
  if (file.format !== 'csv' || widths !== undefined) return comma;
  let best = { delimiter: comma, columns: 0 };
  for (const one of DELIMITERS) {
    const layout = findHeader(await file.head(one), plan);
    const columns = layout?.at.filter((at) => at >= 0).length ?? 0;
    if (columns > best.columns) best = { delimiter: one, columns };
  }
  return best.delimiter;
}

/** A workbook with hidden values that may be of orders, or with several sheets of which none is named. */
function workbookWait({ workbook }: Summary, layout: Layout | undefined, plan: Plan) {
  if (workbook === undefined) return undefined;
  const { hiddenRows, hiddenColumns, sheet, sheets } = workbook;
  const used = new Set(layout?.at.filter((_, index) => plan.columns[index]?.isIgnored === false));
  const hidden = hiddenColumns.filter((at) => used.has(at));
  if (sheet !== undefined && hiddenRows === 0 && hidden.length === 0) return undefined;
  const names = hidden.map((at) => layout?.header?.[at] || String(at + 1));
  const facts = { hiddenRows, hiddenColumns: names, sheets: sheet === undefined ? sheets : [] };
  const waits: ContentWait = { code: 'workbook', facts };
  return { waits };
}

/** Orders that are named where many are apart. */
const SHOWN = 20;

/** What only the second pass can say for certain: how many orders there are, and which of them are apart. */
async function countExactly(
  file: Records,
  reading: Reading,
  signal: AbortSignal | undefined,
): Promise<Exact> {
  const exact: Exact = { orders: 0, apart: 0, apartOrders: [] };
  const onApart: ReadOptions['onApart'] = (number, lines) => {
    exact.apart += 1;
    if (exact.apartOrders.length < SHOWN) exact.apartOrders.push({ number, lines });
  };
  const options = { signal, released: { withoutRows: true }, onApart };
  for await (const page of readRecords(file, reading, options)) exact.orders += page.length;
  return exact;
}

export type ReadOptions = {
  signal?: AbortSignal | undefined;
  /** A person sends a file that waits, with its damaged rows as dead letters or without them. */
  released?: { withoutRows?: boolean };
  /** Gets each record that `skipRows`, `skip` or a release without rows leaves out. */
  onLeftOut?: (record: RawRecord, number: string) => void;
  onApart?: (number: string, lines: readonly [number, number]) => void;
};

/** The second pass over records. */
export async function* readRecords(
  file: Records,
  { plan, form, delimiter, survey, keyOf: key }: Reading,
  { signal, released, onLeftOut = () => undefined, onApart }: ReadOptions = {},
): AsyncGenerator<MappedOrder[]> {
  using late = openLateOrders();
  const grouping = createGrouping({
    keyOf: key,
    judge: createJudge(plan, survey.layout),
    repeated: survey.repeated,
    damagedKeys: released?.withoutRows === true ? new Set() : survey.damagedKeys,
    late,
    isBesideHeld: !(form.isObjects && plan.hasOrderRecords),
    withoutRows: released?.withoutRows === true,
    onLeftOut,
    ...(onApart && { onApart }),
  });
  const sorter = createSorter(plan, survey.layout, form, grouping.sink);

  for await (const page of file.records({ delimiter, signal })) {
    for (const record of page) sorter.add(record);
    const orders = grouping.take();
    if (orders.length > 0) yield orders;
  }
  sorter.end();
  for (const orders of grouping.finish(!plan.hasOrderRecords)) {
    // Nothing here waits for a file any more, and leases are to be renewed meanwhile.
    await nextTurn();
    if (orders.length > 0) yield orders;
  }
}
