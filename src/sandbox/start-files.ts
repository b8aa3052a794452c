import { LineCounter, parseDocument } from 'yaml';
import { PoSyncError, toError } from '../core/errors.ts';
import type { NewOrder } from './database.ts';
import { type FaultFile, faultFile } from './faults/fault-file.ts';
import { readParsed } from './read-order.ts';

/**
 * Reads the text of a fault file; `name` appears in messages.
 * Throws PoSyncError `faults-unreadable` with every problem and its line.
 */
export function loadFaults(text: string, name: string): FaultFile {
  const read = readFaults(text);
  if (!Array.isArray(read)) return read;
  throw new PoSyncError(
    'faults-unreadable',
    `${name} is not a valid fault file:${read.map((problem) => `\n  ${problem}`).join('')}`,
    {
      remedy: 'Correct these lines. config/rehearsals/ contains examples of every fault.',
      facts: { file: name },
    },
  );
}

/** Reads YAML or JSON, or returns the problems, each beginning with its line. */
function readFaults(text: string): FaultFile | string[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const placed = (at: number, problem: string) => `line ${lines.linePos(at).line}: ${problem}`;
  const { errors } = document;
  if (errors.length > 0)
    return errors.map(({ pos, message }) => placed(pos[0], message.split('\n', 1)[0] ?? ''));
  const made = contentOf(document);
  if (made instanceof Error) return [made.message];
  const checked = faultFile.safeParse(made ?? {});
  if (checked.success) return checked.data;
  return checked.error.issues.map(({ path, message }) =>
    placed(startOf(document, path), path.length === 0 ? message : `${path.join('.')}: ${message}`),
  );
}

/** The value of a document, or why it has none, such as an alias without its anchor. */
function contentOf(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 10 });
  } catch (thrown) {
    return toError(thrown);
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
 * Reads orders as JSON: an array, the list of the API, or one order.
 * Throws PoSyncError `seed-unreadable` with the place of the first problem.
 */
export function loadSeed(text: string, name: string): NewOrder[] {
  return listIn(parsed(text, name)).map((order, at) => {
    const read = readParsed(order);
    if (read.ok) return read.order;
    const why = read.message.replace(/^The request parameters are invalid: /, '');
    throw unreadable(name, `order ${at + 1}: ${why}`);
  });
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

function unreadable(name: string, why: string): PoSyncError {
  return new PoSyncError('seed-unreadable', `${name} cannot be read as orders: ${why}`, {
    remedy: 'Use JSON in the shape of the API, such as the answer to GET /purchase-orders.',
    facts: { file: name },
  });
}
