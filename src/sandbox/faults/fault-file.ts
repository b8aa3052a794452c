import { validateHeaderName, validateHeaderValue } from 'node:http';
import { LineCounter, parseDocument } from 'yaml';
import * as z from 'zod';
import { PoSyncError } from '../../core/errors.ts';

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;

/** A range with both ends included. */
export type Between = { least: number; most: number };

/** `250ms`, `30s`, `5m` or `1h`, converted to milliseconds; a bare number is milliseconds. */
const duration = z.union([z.string(), z.number()]).transform((value, context) => {
  const found = millisecondsOf(value);
  if (found !== undefined) return found;
  context.issues.push({ code: 'custom', input: value, message: 'must be a duration like 250ms, 30s or 5m' });
  return z.NEVER;
});

/** One duration, or a range: `50ms..2s`. */
const span = z.union([z.string(), z.number()]).transform((value, context): Between => {
  const [from, to = from, ...rest] = String(value).split('..');
  const least = millisecondsOf(from);
  const most = millisecondsOf(to);
  if (rest.length === 0 && least !== undefined && most !== undefined && least <= most) return { least, most };
  context.issues.push({ code: 'custom', input: value, message: 'must be a duration, or a range like 50ms..2s' });
  return z.NEVER;
});

/** `0.3` or `30%` as a number from 0 to 1. */
const share = z.union([z.string(), z.number()]).transform((value, context) => {
  const percent = typeof value === 'string' ? /^(\d+(?:\.\d+)?)%$/.exec(value)?.[1] : undefined;
  const found = typeof value === 'number' ? value : percent === undefined ? -1 : Number(percent) / 100;
  if (found >= 0 && found <= 1) return found;
  context.issues.push({ code: 'custom', input: value, message: 'must be a share like 0.3 or 30%' });
  return z.NEVER;
});

/** `3`, `1-5`, `10-`, or a list: `1,4-6`. */
const ordinals = z.union([z.string(), z.number()]).transform((value, context): Between[] => {
  const parts = String(value)
    .split(',')
    .map((part) => /^(\d+)(?:(-)(\d*))?$/.exec(part.trim()));
  const ranges = parts.flatMap((part) => (part === null ? [] : [rangeOf(part)]));
  if (ranges.length === parts.length && ranges.every(({ least, most }) => least >= 1 && least <= most)) return ranges;
  context.issues.push({ code: 'custom', input: value, message: 'must be ordinals from 1, like 3, 1-5, 10- or 1,4-6' });
  return z.NEVER;
});

/** Selects the calls that a fault affects; without selectors, every call of its operation. */
const selectors = {
  /** The share of calls affected: 0.3 or 30%. Depends only on seed, order number and attempt. */
  share: share.default(1),
  /** The share selects orders, not attempts; a call without an order number stays affected once it was. */
  sticky: z.boolean().optional(),
  /** Only between these times since startup. */
  from: duration.default(0),
  until: duration.optional(),
  /** Only these calls of the operation, counted from 1: 3, 1-5, 10- . */
  calls: ordinals.optional(),
  /** Only these attempts of one order number, counted from 1. */
  attempts: ordinals.optional(),
  /** Only these order numbers; a trailing * matches any rest. */
  orders: z.array(z.string()).min(1).optional(),
  /** Only creations of orders that contain one of these articles. */
  articles: z.array(z.string()).min(1).optional(),
};
const on = z.enum(['create', 'list', 'token', 'any']).default('create');
const when = z.enum(['before', 'after']).default('before');

const headers = z.record(
  z.string().refine((name) => isValid(() => validateHeaderName(name)), { error: 'must be the name of a header' }),
  z.string().refine((value) => isValid(() => validateHeaderValue('x', value)), { error: 'must be a header value' }),
);

const fault = z.discriminatedUnion('kind', [
  /** Delays the call; `by` is a duration, or a range like 50ms..2s. */
  z.strictObject({ kind: z.literal('delay'), on, when, by: span, ...selectors }),
  /** Replaces the answer, before or after the work is done. */
  z.strictObject({
    kind: z.literal('answer'),
    on,
    when,
    status: z.int().min(200).max(999),
    /** error.code of the envelope; default: the status if 400 or above, else 400. */
    code: z.int().optional(),
    message: z.string().optional(),
    /** `error` of the token endpoint's format; the default depends on the status. */
    error: z.string().optional(),
    /** Default: the format of the endpoint, which is `oauth` for `token`. */
    body: z.enum(['envelope', 'oauth', 'html', 'empty']).optional(),
    /** Any body instead, and headers that are added or replaced; the type of a free body is text/plain without one. */
    text: z.string().optional(),
    headers: headers.optional(),
    retryAfter: duration.optional(),
    retryAfterForm: z.enum(['seconds', 'date']).default('seconds'),
    ...selectors,
  }),
  /** Ends the connection without an answer, by FIN or RST. */
  z.strictObject({ kind: z.literal('drop'), on, when, how: z.enum(['close', 'reset']).default('close'), ...selectors }),
  /** Ends the connection without an answer and does the work `by` later. */
  z.strictObject({
    kind: z.literal('late'),
    on,
    by: span,
    how: z.enum(['close', 'reset']).default('close'),
    ...selectors,
  }),
  /** Cuts the answer off in the middle. */
  z.strictObject({ kind: z.literal('cut'), on, ...selectors }),
  /** Revokes the call's token and refuses the call with 401; on `token` refuses the secret. */
  z.strictObject({
    kind: z.literal('revoke'),
    on: z.enum(['create', 'list', 'token', 'any']).default('create'),
    ...selectors,
  }),
  /** Simulates a bug in the service, which must still answer with an envelope. */
  z.strictObject({ kind: z.literal('crash'), on, when, ...selectors }),
  /** Shows orders in the list only `by` after they were stored. */
  z.strictObject({ kind: z.literal('lag'), on: z.literal('list').default('list'), by: span, ...selectors }),
  /** Limits the number of orders in the list. */
  z.strictObject({
    kind: z.literal('cap'),
    on: z.literal('list').default('list'),
    to: z.int().min(0),
    keep: z.enum(['oldest', 'newest']).default('newest'),
    ...selectors,
  }),
  /** Stops listening: refuses connections and closes open ones. */
  z
    .strictObject({
      kind: z.literal('outage'),
      address: z.enum(['all', 'api', 'auth']).default('all'),
      from: duration,
      until: duration,
    })
    .refine(({ from, until }) => until > from, { path: ['until'], error: 'must be later than from' }),
]);

/** The schema of fault files; config/rehearsals/ contains examples. */
export const faultFile = z.strictObject({
  /** The same seed affects the same attempts of the same orders. */
  seed: z.int().default(1),
  tokenLifetime: z.int().min(1).optional(),
  listShape: z.enum(['array', 'object']).optional(),
  listItems: z.boolean().optional(),
  faults: z.array(fault).default([]),
});

export type FaultFile = z.infer<typeof faultFile>;
/** A fault file before defaults are applied. */
export type FaultFileInput = z.input<typeof faultFile>;
export type Fault = FaultFile['faults'][number];
export type FaultKind = Fault['kind'];

/**
 * Reads the text of a fault file; `name` appears in messages.
 * Throws PoSyncError `faults-unreadable` with every problem and its line.
 */
export function loadFaults(text: string, name: string): FaultFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  if (document.errors.length > 0) {
    throw unreadable(
      name,
      document.errors.map((error) => `line ${lines.linePos(error.pos[0]).line}: ${firstLine(error.message)}`),
    );
  }
  const checked = faultFile.safeParse(document.toJS({ maxAliasCount: 10 }) ?? {});
  if (checked.success) return checked.data;
  throw unreadable(
    name,
    checked.error.issues.map(({ path, message }) => `${placeOf(document, lines, path)}${path.join('.')}: ${message}`),
  );
}

function unreadable(name: string, problems: readonly string[]): PoSyncError {
  return new PoSyncError('faults-unreadable', `${name} is not a valid fault file:\n  ${problems.join('\n  ')}`, {
    remedy: 'Correct these lines. config/rehearsals/ contains examples of every fault.',
    facts: { file: name },
  });
}

/** The line of the deepest existing node on the path to a problem. */
function placeOf(document: ReturnType<typeof parseDocument>, lines: LineCounter, path: readonly PropertyKey[]): string {
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node = document.getIn(path.slice(0, depth), true);
    const start = rangeStart(node);
    if (start !== undefined) return `line ${lines.linePos(start).line}: `;
  }
  return '';
}

function rangeStart(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range)) return undefined;
  const start: unknown = node.range[0];
  return typeof start === 'number' ? start : undefined;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function rangeOf([, first, dash, last]: RegExpExecArray): Between {
  const least = Number(first);
  if (dash === undefined) return { least, most: least };
  return { least, most: last ? Number(last) : Number.POSITIVE_INFINITY };
}

function millisecondsOf(value: string | number | undefined): number | undefined {
  if (typeof value === 'number') return value >= 0 ? value : undefined;
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const [, amount, unit = ''] = DURATION.exec(value) ?? [];
  const scale = UNITS[unit];
  return scale === undefined ? undefined : Number(amount) * scale;
}

function isValid(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}
