import { LineCounter, parseDocument } from 'yaml';
import * as z from 'zod';
import { PoSyncError, toError } from '../core/errors.ts';
import { type FaultFile, faultFile } from './faults/fault-file.ts';
import type { NewOrder } from './order-store.ts';
import { readParsed } from './read-order.ts';
import { type Client, SCOPES } from './sandbox-options.ts';
import { purchaseOrderSchema } from './schemas.ts';

/**
 * Reads the text of a fault file; `name` appears in messages.
 * Throws PoSyncError `faults-unreadable` with every problem and its line.
 */
export function loadFaults(text: string, name: string): FaultFile {
  const read = readYaml(text, faultFile, {});
  if (read.ok) return read.value;
  throw new PoSyncError(
    'faults-unreadable',
    `${name} is not a valid fault file:${listed(read.problems)}`,
    {
      remedy: 'Correct these lines. config/rehearsals/ contains examples of every fault.',
      facts: { file: name },
    },
  );
}

const clients = z
  .array(
    z.strictObject({
      id: z.string().min(1),
      secret: z.string().min(1),
      scopes: z
        .array(z.enum(SCOPES))
        .min(1)
        .default([...SCOPES]),
    }),
  )
  .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, {
    error: 'an id occurs twice',
  });

/** Reads a file of clients: a YAML or JSON list of `{id, secret, scopes}`. Throws PoSyncError `clients-unreadable`. */
export function loadClients(text: string, name: string): Client[] {
  const read = readYaml(text, clients, undefined);
  if (read.ok) return read.value;
  throw new PoSyncError(
    'clients-unreadable',
    `${name} is not a list of clients:${listed(read.problems)}`,
    {
      remedy: 'Write a list like: [{ id: erp, secret: some-secret, scopes: [read, write] }].',
      facts: { file: name },
    },
  );
}

function listed(problems: readonly string[]): string {
  return problems.map((problem) => `\n  ${problem}`).join('');
}

type ReadYaml<T> = { ok: true; value: T } | { ok: false; problems: string[] };

/** Reads YAML or JSON; `empty` is the value of a file without content. Each problem begins with its line. */
function readYaml<T>(text: string, schema: z.ZodType<T>, empty: unknown): ReadYaml<T> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const placed = (at: number, problem: string) => `line ${lines.linePos(at).line}: ${problem}`;
  const { errors } = document;
  if (errors.length > 0) {
    return {
      ok: false,
      problems: errors.map(({ pos, message }) => placed(pos[0], message.split('\n', 1)[0] ?? '')),
    };
  }
  const made = contentOf(document);
  if (made instanceof Error) return { ok: false, problems: [made.message] };
  const checked = schema.safeParse(made ?? empty, { error: wordingOf });
  if (checked.success) return { ok: true, value: checked.data };
  const problems = checked.error.issues.map(({ path, message }) =>
    placed(startOf(document, path), path.length === 0 ? message : `${path.join('.')}: ${message}`),
  );
  return { ok: false, problems };
}

/** The value of a document, or why it has none, such as an alias without its anchor. */
function contentOf(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 10 });
  } catch (thrown) {
    return toError(thrown);
  }
}

/** Our words for the problems that a schema leaves to the library. */
function wordingOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${kindOf(issue.expected)}`;
    case 'unrecognized_keys': {
      const known =
        issue.inst instanceof z.ZodObject
          ? `; known keys: ${Object.keys(issue.inst.shape).join(', ')}`
          : '';
      return `unknown key ${issue.keys.join(', ')}${known}`;
    }
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'invalid_union':
      return Array.isArray(issue.options)
        ? `must be one of ${issue.options.join(', ')}`
        : undefined;
    case 'too_small':
      return issue.origin === 'array' || issue.origin === 'string'
        ? 'must not be empty'
        : `must be ${issue.minimum} or more`;
    case 'too_big':
      return `must be ${issue.maximum} or less`;
    default:
      return undefined;
  }
}

function kindOf(expected: string): string {
  switch (expected) {
    case 'array':
      return 'a list';
    case 'object':
    case 'record':
      return 'keys with values';
    case 'string':
      return 'text';
    case 'boolean':
      return 'true or false';
    case 'int':
      return 'a whole number';
    default:
      return `a ${expected}`;
  }
}

/** The start of the deepest existing node on the path to a problem. */
function startOf(document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): number {
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node = document.getIn(path.slice(0, depth), true);
    if (isNode(node)) return node.range[0];
  }
  return 0;
}

function isNode(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range);
}

/**
 * Reads orders: JSON (an array, the list of the API, or one order) or CSV with the columns purchaseOrderNumber,
 * articleCode, quantity and, optionally, orderState; rows with one number are one order.
 * Throws PoSyncError `seed-unreadable` with the place of the first problem.
 */
export function loadSeed(text: string, name: string): NewOrder[] {
  if (text.includes('\ufffd')) throw unreadable(name, 'it is not UTF-8');
  if (!/^\s*[[{]/.test(text)) return ordersInCsv(text, name);
  return listIn(parsed(text, name)).map((order, at) => checked(order, `order ${at + 1}`, name));
}

/** The order that a value describes. */
function checked(value: unknown, place: string, name: string): NewOrder {
  const read = readParsed(value, purchaseOrderSchema);
  if (read.ok) return read.order;
  throw unreadable(
    name,
    `${place}: ${read.message.replace(/^The request parameters are invalid: /, '')}`,
  );
}

function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(name, toError(error).message);
  }
}

/** The array itself, the first array within objects, or one order alone. */
function listIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null || 'purchaseOrderNumber' in value) return [value];
  const inner = Object.values(value).find((one) => typeof one === 'object' && one !== null);
  return inner === undefined ? [value] : listIn(inner);
}

const COLUMNS = ['purchaseOrderNumber', 'articleCode', 'quantity'];

function ordersInCsv(text: string, name: string): NewOrder[] {
  const [head, ...rows] = rowsOf(text, name);
  if (head === undefined) throw unreadable(name, 'it is empty');
  const columns = head.cells.map((cell) => cell.trim());
  const missing = COLUMNS.find((column) => !columns.includes(column));
  if (missing !== undefined)
    throw unreadable(name, `line ${head.line}: the column ${missing} is missing`);
  const twice = columns.find((column, at) => columns.indexOf(column) !== at);
  if (twice !== undefined)
    throw unreadable(name, `line ${head.line}: the column ${twice} occurs twice`);
  const orders = new Map<string, NewOrder>();
  for (const { line, cells } of rows) {
    if (cells.length !== columns.length) {
      throw unreadable(
        name,
        `line ${line}: ${cells.length} cells, but the header has ${columns.length}`,
      );
    }
    const row = checked(
      orderIn(new Map(columns.map((column, at) => [column, cells[at] ?? '']))),
      `line ${line}`,
      name,
    );
    const known = orders.get(row.number);
    orders.set(
      row.number,
      known ? { ...row, items: `${known.items.slice(0, -1)},${row.items.slice(1)}` } : row,
    );
  }
  return [...orders.values()];
}

/** A row as an order with one item. */
function orderIn(row: ReadonlyMap<string, string>): object {
  const quantity = row.get('quantity') ?? '';
  return {
    purchaseOrderNumber: row.get('purchaseOrderNumber'),
    orderState: row.get('orderState') || 'NEW',
    items: [
      {
        articleCode: row.get('articleCode'),
        quantity: /^\d+(?:\.\d+)?$/.test(quantity) ? Number(quantity) : quantity,
      },
    ],
  };
}

type CsvRow = { line: number; cells: string[] };

/** The rows that are not blank (RFC 4180); the delimiter is a semicolon if the first line contains one. */
function rowsOf(text: string, name: string): CsvRow[] {
  const delimiter = text.split('\n', 1)[0]?.includes(';') ? ';' : ',';
  const cell = new RegExp(
    `(?:"((?:[^"]|"")*)"|((?!")[^${delimiter}\\r\\n]*))(${delimiter}|\\r?\\n|$)`,
    'gy',
  );
  const rows: CsvRow[] = [];
  let line = 1;
  let row: CsvRow = { line, cells: [] };
  for (const [found, quoted, plain = '', end = ''] of text.replace(/^\ufeff/, '').matchAll(cell)) {
    row.cells.push(quoted?.replaceAll('""', '"') ?? plain);
    line += found.split('\n').length - 1;
    if (end === delimiter) continue;
    if (row.cells.some((one) => one !== '')) rows.push(row);
    row = { line, cells: [] };
    if (end === '') return rows;
  }
  throw unreadable(name, `line ${line}: a quoted cell is not closed, or is followed by more text`);
}

function unreadable(name: string, why: string): PoSyncError {
  return new PoSyncError('seed-unreadable', `${name} cannot be read as orders: ${why}`, {
    remedy:
      'Use JSON in the shape of the API, or CSV with purchaseOrderNumber, articleCode and quantity.',
    facts: { file: name },
  });
}
