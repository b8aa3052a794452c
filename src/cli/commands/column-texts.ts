import { count } from '../../core/format.ts';
import type { StatusValues } from '../../operate/orders/check-file.ts';
import { shorten } from '../../order/text.ts';
import { MOST_LOOKED_AT } from '../../parse/format.ts';

/** `Status: OFFEN 98 sent and 1 held, erledigt 12 held`. */
export function statusText({ column, values, more }: StatusValues): string {
  const texts = values.map(({ value, sent, known, held, leftOut = 0 }) => {
    const shown =
      value === '' ? '(empty)' : /^[\p{L}\p{N} _.-]+$/u.test(value) ? value : JSON.stringify(value);
    const ends: [number, string][] = [
      [sent, 'sent'],
      [known, 'known'],
      [held, 'held'],
      [leftOut, 'left out'],
    ];
    return `${shown} ${ends.flatMap(([number, end]) => (number > 0 ? [`${count(number)} ${end}`] : [])).join(' and ')}`;
  });
  return `${column}: ${texts.join(', ')}${more > 0 ? `, other values ${count(more)}` : ''}`;
}

/** Columns or keys that are named. */
const MOST_NAMED = 10;

/** `columns that are not sent: Remark`, or of the keys of many objects, of which only the first are known; "" for none. */
export function notSentText(
  unused: readonly string[],
  what: 'columns' | 'keys',
  records: number,
): string {
  const names = unused.slice(0, MOST_NAMED).map((name) => shorten(name.trim(), 40));
  const more = unused.length > MOST_NAMED ? ` and ${unused.length - MOST_NAMED} more` : '';
  const first =
    what === 'keys' && records > MOST_LOOKED_AT ? ` of the first ${MOST_LOOKED_AT} objects` : '';
  return names.length === 0 ? '' : `${what}${first} that are not sent: ${names.join(', ')}${more}`;
}
