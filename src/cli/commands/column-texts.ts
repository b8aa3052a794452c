import type { ColumnUse } from '../../operate/orders/check-file.ts';
import { shorten } from '../../order/text.ts';

/** What happens to the columns of a file, one line each kind: `MENGE is quantity`, `ignored: WERKS, EKORG`. */
export function columnTexts(columns: readonly ColumnUse[]): string[] {
  const named = (use: string) =>
    columns.filter((one) => one.use === use).map(({ column }) => shorten(column.trim(), 40));
  const sent = columns.filter(({ use }) => use !== 'ignored' && use !== 'undeclared');
  const texts = sent.map(({ column, use }) => `${shorten(column.trim(), 40)} is ${use}`);
  const line = (title: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${title}: ${names.join(', ')}`];
  return [
    ...line('columns', texts),
    ...line('ignored', named('ignored')),
    ...line('not declared', named('undeclared')),
  ];
}
