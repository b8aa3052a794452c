import { isUtf8 } from 'node:buffer';
import { toError } from '../core/errors.ts';
import type { NewOrder } from './database.ts';
import { purchaseOrderSchema } from './schemas.ts';

/** An order read from a body, or the message that explains why the body is invalid (error code 400, API part 7). */
export type ReadOrder =
  | { ok: true; order: NewOrder }
  | { ok: false; number: string; message: string };

const INVALID = 'The request parameters are invalid';
const MOST_SHOWN = 20;

/** Reads the body of POST /purchase-orders. The message of a refusal names each invalid parameter with its reason. */
export function readOrder(body: Buffer): ReadOrder {
  if (body.length === 0) return refused('the body is empty and must be a JSON object');
  if (!isUtf8(body)) return refused('the body is not UTF-8');
  const parsed = parse(body.toString('utf8'));
  if ('error' in parsed) return refused(`the body is not JSON (${parsed.error})`);
  return readParsed(parsed.value);
}

/** Checks a parsed order against the schema. */
export function readParsed(value: unknown): ReadOrder {
  const checked = purchaseOrderSchema.safeParse(value);
  if (!checked.success) return refused(sentence(checked.error.issues), numberIn(value));
  const { purchaseOrderNumber: number, items } = checked.data;
  return { ok: true, order: { number, items: JSON.stringify(items) } };
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
