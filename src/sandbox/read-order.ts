import { isUtf8 } from 'node:buffer';
import { toError } from '../core/errors.ts';
import type { NewOrder } from './order-store.ts';
import { TEXT_LIMIT } from './sandbox-options.ts';
import { type OrderRules, orderSchemas } from './schemas.ts';

/** An order read from a body, or the message that explains why the body is invalid (error code 400, API part 7). */
export type ReadOrder =
  | { ok: true; order: NewOrder }
  | { ok: false; number: string; message: string };

const INVALID = 'The request parameters are invalid';
const MOST_SHOWN = 20;

/** Reads the body of POST /purchase-orders. The message of a refusal names each invalid parameter with its reason. */
export type OrderReader = (body: Buffer) => ReadOrder;

/** Creates the reader for an environment's rules. */
export function createOrderReader(rules: OrderRules): OrderReader {
  const { order: schema } = orderSchemas(rules);
  // The fast path knows one limit only.
  const isDefault = rules.textLimit === TEXT_LIMIT;
  return (body) => {
    const plain = isDefault ? plainOrder(body, rules.blankText) : undefined;
    if (plain !== undefined) return { ok: true, order: plain };
    if (body.length === 0) return refused('the body is empty and must be a JSON object');
    if (!isUtf8(body)) return refused('the body is not UTF-8');
    const parsed = parse(body.toString('utf8'));
    if ('error' in parsed) return refused(`the body is not JSON (${parsed.error})`);
    return readParsed(parsed.value, schema);
  };
}

/** Checks a parsed order against the schema. */
export function readParsed(
  value: unknown,
  schema: ReturnType<typeof orderSchemas>['order'],
): ReadOrder {
  const checked = schema.safeParse(value);
  if (!checked.success) return refused(sentence(checked.error.issues), numberIn(value));
  const { purchaseOrderNumber: number, orderState: state, items } = checked.data;
  return { ok: true, order: { number, state, items: JSON.stringify(items) } };
}

function refused(why: string, number = ''): ReadOrder {
  return { ok: false, number, message: `${INVALID}: ${why}.` };
}

function parse(text: string): { value: unknown } | { error: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: toError(error).message.slice(0, 120) };
  }
}

function sentence(issues: readonly { path: readonly PropertyKey[]; message: string }[]): string {
  const shown = issues
    .slice(0, MOST_SHOWN)
    .map((issue) => `${nameOf(issue.path)} ${issue.message}`);
  const more = issues.length - shown.length;
  return more === 0 ? shown.join('; ') : `${shown.join('; ')}; and ${more} more`;
}

function nameOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the body';
  return path
    .map((step, at) =>
      typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${String(step)}`,
    )
    .join('');
}

/** The order number in a refused body, for the record. */
function numberIn(value: unknown): string {
  if (typeof value !== 'object' || value === null || !('purchaseOrderNumber' in value)) return '';
  return typeof value.purchaseOrderNumber === 'string'
    ? value.purchaseOrderNumber.slice(0, 256)
    : '';
}

/** A JSON string without escapes: printable ASCII without quotes and backslashes. */
const TEXT = '"[ !#-\\[\\]-~]{1,256}"';
const QUANTITY = '[1-9][0-9]{0,14}';
const ITEM = `\\{"articleCode":${TEXT},"quantity":${QUANTITY}\\}`;
const ORDER = new RegExp(
  `^\\{"purchaseOrderNumber":(${TEXT}),"orderState":"NEW","items":(\\[${ITEM}(?:,${ITEM})*\\])\\}$`,
);
const LONGEST = 16 * 1024;

/**
 * Reads a body in the form that most clients write: fields in the usual order, no spaces, ASCII, integer quantities.
 * Returns undefined for every other body, which the schema then checks. Takes a third of the time of the general path.
 */
export function plainOrder(
  body: Buffer,
  blankText: OrderRules['blankText'] = 'accept',
): NewOrder | undefined {
  if (body.length > LONGEST) return undefined;
  const text = body.toString('latin1');
  const [, number, items] = ORDER.exec(text) ?? [];
  if (number === undefined || items === undefined) return undefined;
  if (blankText === 'refuse' && /:" +"/.test(text)) return undefined;
  return { number: number.slice(1, -1), state: 'NEW', items };
}
