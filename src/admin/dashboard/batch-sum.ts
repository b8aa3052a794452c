import { count, orders } from '../../core/format.ts';
import { type Html, html } from '../../report/page/html.ts';
import type { BatchSum } from '../api/batch-routes.ts';
import { cell, table } from './parts.ts';

/** How many orders arrived in the files that match, on all pages of the list. */
export function sumTable({ files, fixFiles }: { files: BatchSum; fixFiles: BatchSum }): Html {
  const row = (title: string, sum: BatchSum) => {
    const shown = { ...sum, orders: sum.orders - sum.nameless };
    return [html`${title}`, ...SUMMED.map((name) => cell(shown[name]))];
  };
  const both = [row('files', files), ...(fixFiles.files === 0 ? [] : [row('fix files', fixFiles)])];
  const all = (name: keyof BatchSum) => files[name] + fixFiles[name];
  const left = all('orders') - all('accepted') - all('duplicate') - all('cancelled') - all('needPerson');
  const waiting = left > 0 ? html`, ${orders(left)} without an outcome yet` : undefined;
  const titles = ['sum', ...SUMMED.map((name) => SUM_TITLES[name] ?? name)];
  return html`${table('Sum of all that match', titles, both)}<p>Accepted, with those of fix files: ${count(all('accepted'))} different ${all('accepted') === 1 ? 'order' : 'orders'}${waiting}.</p><p class="quiet">An order is accepted only once, but the other columns may count it again: as a duplicate, if it came again unchanged; as one that needed a person, if it came again with other content or with an error; and in each file and fix file in which it was wrong. Therefore do not subtract the accepted orders from the others.</p>`;
}

const SUM_TITLES: Partial<Record<keyof BatchSum, string>> = {
  files: 'number',
  nameless: 'rows without a number',
  needPerson: 'needed a person',
  open: 'still open',
};
const SUMMED = ['files', 'orders', 'nameless', 'accepted', 'duplicate', 'cancelled', 'needPerson', 'open'] as const;
