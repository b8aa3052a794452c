import type { OrderHistory } from '../../operate/orders/explain-order.ts';
import { isWaiting } from '../../operate/orders/explain-order.ts';
import type { AtApi } from '../../operations/run-environment.ts';
import { digestOf } from '../../order/digest.ts';
import { type Item, itemsIn } from '../../order/order.ts';
import { printable } from '../terminal/print.ts';

/** The items that the API has, below those of the file. */
export function atApiLines(
  atApi: AtApi | undefined,
  { content, appearances }: OrderHistory,
): string[] {
  if (atApi === undefined) return [];
  if ('trouble' in atApi)
    return [`  The API's list could not be read: ${printable(atApi.trouble)}.`];
  if (!atApi.listed) return ["  The API's list does not show this order now."];
  const { items } = atApi;
  if (items === undefined) return ["  The API's list shows this order now, without its items."];
  const own = content?.items ?? itemsIn(appearances.find(isWaiting)?.deadLetter?.payload);
  const isSame = digestOf({ items }) === digestOf({ items: [...own] });
  const same =
    own.length === 0
      ? ''
      : isSame
        ? ', the same items as in the file'
        : ', other items than in the file';
  return [
    `  The API's list shows it now${same}:`,
    ...itemTexts(items).map((text) => `    ${printable(text)}`),
  ];
}

const ITEMS_SHOWN = 20;

/** `3 × ART-7` for each item. */
export function itemTexts(items: readonly Item[]): string[] {
  const shown = items
    .slice(0, ITEMS_SHOWN)
    .map(({ articleCode, quantity }) => `${quantity} × ${articleCode}`);
  return items.length > shown.length
    ? [...shown, `… and ${items.length - shown.length} more`]
    : shown;
}
