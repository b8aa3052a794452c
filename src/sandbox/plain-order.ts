import type { Item } from '../order/order.ts';
import type { PurchaseOrder } from './contract.ts';

/** What the schema asks of a text, in one look: not empty, at most 256 characters, no control, no lone surrogate. */
const TEXT = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

/**
 * The order in a value that is exactly one: these fields, nothing else, nothing wrong.
 * Everything else is undefined here and for the schema to judge; this only spares the common case its price.
 */
export function plainOrder(value: unknown): PurchaseOrder | undefined {
  if (!isObject(value) || Object.keys(value).length !== 3) return undefined;
  const { purchaseOrderNumber, orderState, items } = value;
  if (orderState !== 'NEW' || !isText(purchaseOrderNumber)) return undefined;
  if (!Array.isArray(items) || items.length === 0 || !items.every(isPlainItem)) return undefined;
  return { purchaseOrderNumber, orderState, items };
}

function isPlainItem(value: unknown): value is Item {
  if (!isObject(value) || Object.keys(value).length !== 2) return false;
  const { articleCode, quantity } = value;
  return isText(articleCode) && typeof quantity === 'number' && quantity > 0 && quantity <= Number.MAX_SAFE_INTEGER;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && TEXT.test(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
