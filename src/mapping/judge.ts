import type { Item } from '../order/order.ts';
import type { Problem, ProblemCode, ProblemFacts } from '../order/problem.ts';
import { shorten } from '../order/text.ts';
import { isSent, isSkipped } from './condition.ts';
import {
  cellFault,
  type FieldValue,
  fieldOf,
  type NumberRules,
  quantityOf,
  textFault,
} from './domain.ts';
import { equalLines } from './equal-lines.ts';
import type { Layout } from './layout.ts';
import { type Line, notComparable, textAt } from './line.ts';
import type { Column, Plan } from './plan.ts';
import { problemAt, valueFacts } from './problem.ts';

/** Further fields, as they are sent beside those of the API. */
export type Fields = { readonly [name: string]: FieldValue };

export type MappedItem = Item & { fields?: Fields };

/** An order as it is to be sent. */
export type SentOrder = {
  purchaseOrderNumber: string;
  orderState: string;
  items: MappedItem[];
  fields?: Fields;
};

/** The lines of one order, complete. */
export type Group = {
  number: string;
  key: string;
  lines: Line[];
  /** Another spelling of the number in the same order. */
  other: string | undefined;
  /** The line of a damaged row above or below; 0 for none. */
  beside: number;
  /** Items that `skip` left out. */
  leftOut: number;
  /** All lines, of which a limited number is kept. */
  rows: number;
  /** Characters of all cells. */
  size: number;
};

/** What becomes of an order; undefined when `skip` leaves it out. */
export type Judgment = { order: SentOrder } | { problems: Problem[] } | undefined;

/** Problems of one order that are kept. */
const MOST = 100;

/** What a file says about an order besides its lines. */
export type Circumstances = { isNamedByDamaged: boolean; elsewhere: number | undefined };

/** Rule 6: decides whether an order is sent, by everything that the other rules say about its lines. */
export function createJudge(plan: Plan, layout: Layout) {
  const { columns, mapping } = plan;
  const { at } = layout;
  const readItem = createItems(plan, layout);
  const place = (index: number) => at[index] ?? -1;
  const compared = {
    numberAt: place(plan.number),
    articleAt: place(plan.article),
    numberNames: columns[plan.number]?.plain ?? [],
  };
  const orderSkips = plan.orderSkips.filter((index) => place(index) >= 0);
  const ofOrder = plan.ofOrder.filter((index) => place(index) >= 0);

  return function judge(group: Group, circumstances: Circumstances): Judgment {
    const { lines } = group;
    const values = ofOrder.map((index) => valueOfOrder(lines, place(index)));
    const isOut = orderSkips.some((index) =>
      isOrderSkipped(columns[index], values[ofOrder.indexOf(index)], place(index)),
    );
    const items = lines.filter((line) => line.kind === 'row' || line.isHead !== true);
    const isAllOut = items.length === 0 && group.leftOut > 0 && group.beside === 0;
    if (isOut || isAllOut) return undefined;

    const problems = ofFile(group, circumstances);
    const orderFields: [string, FieldValue][] = [];
    for (const [nth, index] of ofOrder.entries()) {
      const found = readOfOrder(columns[index], values[nth], index);
      if (found !== undefined && 'code' in found) problems.push(found);
      else if (found !== undefined) orderFields.push([found.name, found.value]);
    }

    const read: MappedItem[] = [];
    for (const line of items) {
      const item = readItem(line, problems);
      if (item !== undefined) read.push(item);
    }
    problems.push(...ofItems(lines, items, mapping.repeatedRows === 'send'));
    if (problems.length > 0) return { problems: bounded(problems) };
    return {
      order: {
        purchaseOrderNumber: group.number,
        orderState: mapping.orderState,
        items: read,
        ...(orderFields.length > 0 && { fields: Object.fromEntries(orderFields) }),
      },
    };
  };

  /** The value that an order has in one column, and the field that it is. */
  function readOfOrder(column: Column | undefined, value: OrderValue | undefined, index: number) {
    if (column === undefined || value === undefined) return undefined;
    const { line, other, text } = value;
    const name = { column: layout.names[index], value: text };
    if (other !== undefined) {
      const values = [shorten(text), shorten(other)] as const;
      return problemAt(line, 'two-values', { values }, name);
    }
    if (column.field !== undefined) return readField(column, line, place(index), name);
    return isSent(column, line, place(index))
      ? undefined
      : problemAt(line, 'condition', { send: [...(column.send ?? [])] }, name);
  }

  function readField({ field }: Column, line: Line, where: number, name: Named) {
    return field === undefined ? undefined : fieldAt(field, line, where, { ...name, plan });
  }

  function ofItems(lines: readonly Line[], items: readonly Line[], mayRepeat: boolean): Problem[] {
    const problems: Problem[] = [];
    const [head] = lines;
    for (const line of lines)
      if (line.kind === 'part' && line.items !== undefined)
        problems.push(problemAt(line, 'items', { fault: line.items }));
    if (items.length === 0 && head !== undefined && problems.length === 0)
      problems.push(problemAt(head, 'items', { fault: 'none' }));
    const equal = mayRepeat ? undefined : equalLines(items, compared);
    if (equal !== undefined)
      problems.push(problemAt(equal.line, 'equal-rows', { first: equal.first.line }));
    return problems;
  }
}

/** What is wrong with an order because of its place in the file. */
function ofFile(
  { lines: [first], beside, number, other, rows, lines }: Group,
  { isNamedByDamaged, elsewhere }: Circumstances,
): Problem[] {
  const problems: Problem[] = [];
  if (first === undefined) return problems;
  const add = <Code extends ProblemCode>(code: Code, facts: ProblemFacts[Code]) =>
    problems.push(problemAt(first, code, facts));
  if (beside > 0) add('beside-damaged', { damaged: beside });
  if (isNamedByDamaged) add('named-by-damaged', {});
  if (other !== undefined) add('spelling', { spellings: [shorten(number), shorten(other)] });
  if (elsewhere !== undefined) add('number-twice', { first: elsewhere });
  if (rows > lines.length) add('too-many-rows', { rows });
  return problems;
}

/** The value of an order in a column, in the line that has it; `other`: a second one. */
type OrderValue = { line: Line; text: string; other?: string };

function valueOfOrder(lines: readonly Line[], at: number): OrderValue | undefined {
  let found: OrderValue | undefined;
  for (const line of lines) {
    const text = textAt(line, at);
    if (text === '' && notComparable(line.odd?.[at]) === undefined) continue;
    if (found === undefined) found = { line, text };
    else if (found.text !== text) return { ...found, other: text };
    // The worst cell of equal ones counts.
    else if (line.odd?.[at] !== undefined) found = { line, text };
  }
  const [first] = lines;
  return found ?? (first && { line: first, text: '' });
}

function isOrderSkipped(column: Column | undefined, value: OrderValue | undefined, at: number) {
  return (
    column !== undefined &&
    value !== undefined &&
    value.other === undefined &&
    isSkipped(column, value.line, at)
  );
}

type Named = { column: string | undefined; value: string };

/** Reads one line as an item, and adds what is wrong with it. */
function createItems(plan: Plan, { at, names }: Layout) {
  const { columns, mapping } = plan;
  const place = (index: number) => at[index] ?? -1;
  const [_numberAt, articleAt, quantityAt, stateAt] = [
    plan.number,
    plan.article,
    plan.quantity,
    plan.state,
  ].map(place);
  const given = {
    article: mapping.articleCode?.value,
    quantity: typeof mapping.quantity === 'object' ? mapping.quantity.value : undefined,
  };
  const isThere = (index: number) => place(index) >= 0;
  const conditions = plan.conditions.filter(isThere);
  const fields = plan.fields.filter(isThere);
  const articleDomain = { like: columns[plan.article]?.like, needsDigit: false };
  const max = columns[plan.quantity]?.max ?? Number.MAX_VALUE;
  const rules: NumberRules = {
    decimal: mapping.decimal ?? 'auto',
    isWhole: mapping.quantity === 'integer',
  };
  const mustEnd = mapping.finalNewline === 'required';
  const used = new Set(at.filter((_, index) => columns[index]?.isIgnored === false));

  function isCut(line: Line): boolean {
    return (
      mustEnd && line.isOpen === true && (line.kind === 'part' || used.has(line.cells.length - 1))
    );
  }

  function named(index: number, value: string): Named {
    return { column: names[index], value };
  }

  function articleOf(line: Line, problems: Problem[]): string {
    if (given.article !== undefined) return given.article;
    const text = textAt(line, articleAt ?? -1);
    const fault =
      (line.odd && cellFault(line.odd[articleAt ?? -1], text)) ?? textFault(text, articleDomain);
    if (fault === undefined) return text;
    const facts = valueFacts('article', fault, text);
    problems.push(problemAt(line, fault, facts, named(plan.article, text)));
    return text;
  }

  function amountOf(line: Line, problems: Problem[]): number {
    if (given.quantity !== undefined) return given.quantity;
    const text = textAt(line, quantityAt ?? -1);
    const read = quantityOf(text, line.odd?.[quantityAt ?? -1], rules);
    if ('value' in read && read.value <= max) return read.value;
    const fault = 'value' in read ? 'above-max' : read.fault;
    const facts = { of: 'quantity' as const, ...(fault === 'above-max' && { max }) };
    problems.push(problemAt(line, fault, facts, named(plan.quantity, text)));
    return 0;
  }

  function check(line: Line, problems: Problem[]) {
    for (const index of conditions) {
      const column = columns[index];
      if (column === undefined || isSent(column, line, place(index))) continue;
      const value = textAt(line, place(index));
      problems.push(
        problemAt(line, 'condition', { send: [...(column.send ?? [])] }, named(index, value)),
      );
    }
    const state = stateAt === undefined || stateAt < 0 ? mapping.orderState : textAt(line, stateAt);
    if (state !== mapping.orderState || notComparable(line.odd?.[stateAt ?? -1]) !== undefined)
      problems.push(
        problemAt(line, 'order-state', { state: mapping.orderState }, named(plan.state, state)),
      );
    if (isCut(line)) problems.push(problemAt(line, 'cut', {}));
  }

  function fieldsOf(line: Line, problems: Problem[]): Fields | undefined {
    const read: [string, FieldValue][] = [];
    for (const index of fields) {
      const field = columns[index]?.field;
      const value = textAt(line, place(index));
      const found = field && fieldAt(field, line, place(index), { ...named(index, value), plan });
      if (found === undefined) continue;
      if ('code' in found) problems.push(found);
      else read.push([found.name, found.value]);
    }
    return read.length > 0 ? Object.fromEntries(read) : undefined;
  }

  return (line: Line, problems: Problem[]): MappedItem | undefined => {
    if (line.kind === 'part' && line.items !== undefined) return undefined;
    check(line, problems);
    const articleCode = articleOf(line, problems);
    const quantity = amountOf(line, problems);
    const own = fields.length > 0 ? fieldsOf(line, problems) : undefined;
    return own === undefined ? { articleCode, quantity } : { articleCode, quantity, fields: own };
  };
}

/** A further field of a line; undefined where it has no value. */
function fieldAt(
  field: NonNullable<Column['field']>,
  line: Line,
  at: number,
  { column, value, plan }: Named & { plan: Plan },
): { name: string; value: FieldValue } | Problem | undefined {
  const mark = line.odd?.[at];
  if (value === '' && notComparable(mark) === undefined && mark?.kind !== 'date') return undefined;
  const read = fieldOf(field, value, mark, plan.mapping.decimal ?? 'auto');
  if ('value' in read) return { name: field.name, value: read.value };
  const facts = { ...valueFacts('field', read.fault, value), field: field.name, type: field.type };
  return problemAt(line, read.fault, facts, { column, value });
}

function bounded(problems: Problem[]): Problem[] {
  const [first] = problems;
  if (problems.length <= MOST || first === undefined) return problems;
  const kept = problems.slice(0, MOST);
  return [...kept, problemAt({ line: first.line }, 'more', { problems: problems.length - MOST })];
}
