import type { CheckedOrder } from '../../order/order.ts';
import type { SourceRecord } from '../../order/record.ts';
import { shorten, trimBlanks } from '../../order/text.ts';
import { find, isObject, textOf } from '../../parse/find-key.ts';
import type { LeftOut } from '../../parse/format.ts';
import { inspectFile } from '../../parse/inspect.ts';
import type { Inspection } from '../../parse/inspection.ts';
import { type HowToReadDeps, howToRead } from '../../validate/how-to-read.ts';
import { readOrderPages } from '../../validate/read-orders.ts';
import { isStatusName } from '../../validate/said-beside.ts';
import { valuesOf } from '../../validate/said-in-object.ts';

/** A file to check, and the source whose mapping reads it; a fix file is read with the mapping of its batch. */
export type FileToCheck = { path: string; source: string };

/** What a check meets. `unknownBatch`: the batch that a fix file names, but that is not known. */
export type CheckEvents = {
  inspected?(inspection: Inspection, unknownBatch: string | undefined): void;
  order(order: CheckedOrder): Promise<void> | void;
  leftOut?(one: LeftOut): void;
};

/**
 * Reads, maps and checks a file as a daemon does, and reports each order. Sends nothing. Throws like `inspectFile`, or
 * the reason why a file must not be read.
 */
export async function checkFile(
  { path, source }: FileToCheck,
  { signal, ...deps }: HowToReadDeps & { signal: AbortSignal },
  on: CheckEvents,
): Promise<Inspection> {
  const { mapping, originals, unknownBatch, refusal } = await howToRead(path, source, deps);
  if (refusal !== undefined) throw refusal;
  const inspection = await inspectFile(path, mapping, { signal, originals });
  on.inspected?.(inspection, unknownBatch);
  const onLeftOut = (one: LeftOut) => on.leftOut?.(one);
  for await (const page of readOrderPages(path, inspection, { signal, onLeftOut }))
    for (const order of page) {
      const reported = on.order(order);
      if (reported !== undefined) await reported;
    }
  return inspection;
}

/**
 * What happens to the orders with each value of a status column that is not sent: `sent`, `known` with the same content
 * (only with a preview), `held`, or `leftOut` by the mapping. `more`: orders with other values.
 */
export type StatusValues = {
  column: string;
  values: { value: string; sent: number; known: number; held: number; leftOut?: number }[];
  more: number;
};

/** Values that are counted in each column, and those that are shown; columns or keys. */
const MOST_COUNTED = 1_000;
const MOST_SHOWN = 10;
const MOST_COLUMNS = 5;

type End = 'sent' | 'known' | 'held' | 'leftOut';
const NONE: Record<End, number> = { sent: 0, known: 0, held: 0, leftOut: 0 };
type Said = { column: string; value: string };

/** Counts orders by the values of their status columns or keys that are not sent. */
export function createStatusCounts({ reading, mapping }: Pick<Inspection, 'reading' | 'mapping'>) {
  const counts = new Map<string, Map<string, Record<End, number>>>();
  const more = new Map<string, number>();
  let last = { number: '', value: '' };
  const { header, at } = 'columns' in reading ? reading.columns : { header: [], at: {} };
  const read = new Set<unknown>(Object.values(at));
  const columns = header.flatMap((name, index) =>
    read.has(index) || !isStatusName(name) ? [] : [{ name, index }],
  );

  function saidIn(record: SourceRecord): Said[] {
    if (record.kind === 'row')
      return columns.map(({ name, index }) => ({
        column: name,
        value: trimBlanks(record.cells[index] ?? ''),
      }));
    const { value } = record;
    if (!isObject(value)) return [];
    const state = find(value, mapping.fields.orderState).name;
    const names = Object.keys(value).filter((name) => name !== state && isStatusName(name));
    return names.flatMap((column) => {
      const [first] = valuesOf(Reflect.get(value, column), column);
      const name = first?.[0] ? `${column}.${first[0]}` : column;
      return first ? [{ column: name, value: trimBlanks(textOf(first[1]) ?? '') }] : [];
    });
  }

  function add(said: readonly Said[], end: End): void {
    for (const { column, value } of said) {
      const values = counts.get(column) ?? new Map<string, Record<End, number>>();
      if (!counts.has(column) && counts.size === MOST_COLUMNS) continue;
      counts.set(column, values);
      const found = values.get(value) ?? { ...NONE };
      found[end] += 1;
      if (values.has(value) || values.size < MOST_COUNTED) values.set(value, found);
      else more.set(column, (more.get(column) ?? 0) + 1);
    }
  }

  return {
    /** What an order says, each once; several rows may say different things. */
    of({ records }: CheckedOrder): Said[] {
      if (records[0]?.kind === 'row' && columns.length === 0) return [];
      const each = new Map(
        records.flatMap(saidIn).map((one) => [`${one.column}\0${one.value}`, one]),
      );
      return [...each.values()];
    },
    add,
    /** The rows of an order are usually adjacent, and often only the first one has the value. */
    leftOut({ number, column, value }: LeftOut): void {
      const isRest = number === last.number && (value === '' || value === last.value);
      if (number !== '' && !isRest) add([{ column, value }], 'leftOut');
      last = { number, value };
    },
    /** Values that are sent first, because each that is held has its own problem; the most frequent of them first. */
    found: (): StatusValues[] =>
      [...counts].map(([column, found]) => {
        const all = [...found].map(([value, { leftOut, ...ends }]) => {
          return { value: shorten(value, 40), ...ends, ...(leftOut > 0 && { leftOut }) };
        });
        const sorted = all.sort(
          (a, b) => Number(b.sent > 0) - Number(a.sent > 0) || total(b) - total(a),
        );
        const rest = sorted
          .slice(MOST_SHOWN)
          .reduce((sum, one) => sum + total(one), more.get(column) ?? 0);
        return {
          column: shorten(column.trim(), 40),
          values: sorted.slice(0, MOST_SHOWN),
          more: rest,
        };
      }),
  };
}

const total = ({ sent, known, held, leftOut = 0 }: StatusValues['values'][number]) =>
  sent + known + held + leftOut;
