import type { NewOrder } from './order-store.ts';

/** A text that is in JSON what it is in itself: printable ASCII without quotes and backslashes. */
const TEXT = '"[ !#-\\[\\]-~]{1,256}"';
const QUANTITY = '[1-9][0-9]{0,14}';
const ITEM = `\\{"articleCode":${TEXT},"quantity":${QUANTITY}\\}`;
const ORDER = new RegExp(
  `^\\{"purchaseOrderNumber":(${TEXT}),"orderState":"NEW","items":(\\[${ITEM}(?:,${ITEM})*\\])\\}$`,
);
const LONGEST = 16 * 1024;

/**
 * The order in a body that is written as plainly as most clients write it: the fields in their usual order, no blanks,
 * ASCII, whole quantities. Undefined for every other body, which the schema then judges.
 * It takes a third of the time of parsing, checking and writing the items down again.
 */
export function plainOrder(body: Buffer): NewOrder | undefined {
  if (body.length > LONGEST) return undefined;
  const [, number, items] = ORDER.exec(body.toString('latin1')) ?? [];
  if (number === undefined || items === undefined) return undefined;
  return { number: number.slice(1, -1), state: 'NEW', items };
}
