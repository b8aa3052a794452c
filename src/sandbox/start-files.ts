import { parseDocument } from 'yaml';
import * as z from 'zod';
import { PoSyncError } from '../core/errors.ts';
import type { NewOrder } from './order-store.ts';
import { readParsed } from './read-order.ts';
import { type Client, SCOPES } from './sandbox-options.ts';
import { purchaseOrderSchema } from './schemas.ts';

const clients = z.array(
  z.strictObject({
    id: z.string().min(1),
    secret: z.string().min(1),
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .default([...SCOPES]),
  }),
);

/** Reads a file of clients: a YAML or JSON list of `{id, secret, scopes}`. Throws PoSyncError `clients-unreadable`. */
export function loadClients(text: string, name: string): Client[] {
  const document = parseDocument(text);
  const checked = clients.safeParse(document.errors.length > 0 ? undefined : document.toJS());
  const ids = checked.success ? checked.data.map(({ id }) => id) : [];
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (checked.success && twice === undefined) return checked.data;
  const why = checked.success
    ? `the id ${twice} occurs twice`
    : (document.errors[0]?.message ?? z.prettifyError(checked.error));
  throw new PoSyncError('clients-unreadable', `${name} is not a list of clients: ${why}`, {
    remedy: 'Write a list like: [{ id: erp, secret: some-secret, scopes: [read, write] }].',
    facts: { file: name },
  });
}

/**
 * Reads orders: JSON (an array, the list of the API, or one order) or CSV with the columns purchaseOrderNumber,
 * articleCode, quantity and, optionally, orderState; rows with one number are one order.
 * Throws PoSyncError `seed-unreadable` with the place of the first problem.
 */
export function loadSeed(text: string, name: string): NewOrder[] {
  const isJson = /^\s*[[{]/.test(text);
  const found = isJson ? ordersInJson(text, name) : ordersInCsv(text, name);
  return found.map(({ place, order }) => {
    const read = readParsed(order, purchaseOrderSchema);
    if (read.ok) return read.order;
    throw unreadable(name, `${place}: ${read.message}`);
  });
}

type Found = { place: string; order: unknown };

function ordersInJson(text: string, name: string): Found[] {
  return listIn(parsed(text, name)).map((order, at) => ({ place: `order ${at + 1}`, order }));
}

function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(name, error instanceof Error ? error.message : String(error));
  }
}

/** The array itself, the first array within objects, or one order alone. */
function listIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null || 'purchaseOrderNumber' in value) return [value];
  const inner = Object.values(value).find((one) => typeof one === 'object' && one !== null);
  return inner === undefined ? [value] : listIn(inner);
}

function ordersInCsv(text: string, name: string): Found[] {
  const [head, ...rows] = rowsOf(text, name);
  const columns = head?.cells.map((cell) => cell.trim()) ?? [];
  const missing = ['purchaseOrderNumber', 'articleCode', 'quantity'].find((column) => !columns.includes(column));
  if (missing !== undefined) throw unreadable(name, `line 1: the column ${missing} is missing`);
  const orders = new Map<string, { place: string; order: { items: unknown[] } }>();
  for (const { line, cells } of rows) {
    const cell = (column: string) => cells[columns.indexOf(column)] ?? '';
    const purchaseOrderNumber = cell('purchaseOrderNumber');
    const items: unknown[] = [];
    const order = { purchaseOrderNumber, orderState: cell('orderState') || 'NEW', items };
    const known = orders.get(purchaseOrderNumber) ?? { place: `line ${line}`, order };
    const quantity = /^\d+(?:\.\d+)?$/.test(cell('quantity')) ? Number(cell('quantity')) : cell('quantity');
    known.order.items.push({ articleCode: cell('articleCode'), quantity });
    orders.set(purchaseOrderNumber, known);
  }
  return [...orders.values()];
}

type CsvRow = { line: number; cells: string[] };

/** The rows that are not blank (RFC 4180); the delimiter is a semicolon if the first line contains one. */
function rowsOf(text: string, name: string): CsvRow[] {
  const delimiter = text.split('\n', 1)[0]?.includes(';') ? ';' : ',';
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|((?!")[^${delimiter}\\r\\n]*))(${delimiter}|\\r?\\n|$)`, 'gy');
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
    remedy: 'Use JSON in the shape of the API, or CSV with purchaseOrderNumber, articleCode and quantity.',
    facts: { file: name },
  });
}
