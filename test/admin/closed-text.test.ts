import { expect, it } from 'vitest';
import { closedText } from '../../src/admin/dashboard/corrections-page.ts';

const own = {
  location: { line: 38 },
  batch: '20261126T215900Z-inbox-thursday-0badcafe',
  file: 'thursday.csv',
};
const later = {
  at: '2026-11-26T22:00:00.000Z',
  by: 'accepted',
  batch: '20261126T220000Z-inbox-thursday-1a6f8094',
};

it('an order that another file of the same name settled shows the end of that batch', () => {
  expect(closedText({ ...later, file: 'thursday.csv' }, own).markup).toContain(
    '>thursday.csv (1a6f8094)</a>',
  );
  expect(closedText({ ...later, file: 'friday.csv' }, own).markup).toContain('>friday.csv</a>');
  expect(closedText({ ...later, batch: own.batch, file: own.file }, own).markup).toContain(
    '>thursday.csv</a>',
  );
});

it('two later files of the same name show which is which', () => {
  const first = {
    at: later.at,
    by: 'fixed',
    batch: '20260101T000000Z-inbox-fix-5b4cc677',
    file: 'line-2.fix.csv',
  };
  const twice = closedText({ ...first, end: { ...later, file: first.file } }, own).markup.replace(
    /<[^>]*>/g,
    '',
  );
  expect(twice).toBe(
    'came back in line-2.fix.csv (5b4cc677); then accepted in line-2.fix.csv (1a6f8094)',
  );
  const other = closedText({ ...first, end: { ...later, file: 'b.csv' } }, own).markup.replace(
    /<[^>]*>/g,
    '',
  );
  expect(other).toBe('came back in line-2.fix.csv; then accepted in b.csv');
});

it('a file whose name is not known is named by its batch, once', () => {
  expect(closedText(later, { location: own.location }).markup).toContain(`>${later.batch}</a>`);
});

it('more than three changes of an order are folded, so that a list of corrections fits a phone', () => {
  const change = (i: number) => ({ place: 'line 38', field: `F${i}`, from: 'a', to: 'b' });
  const markupOf = (count: number) =>
    closedText({ ...later, changes: Array.from({ length: count }, (_, i) => change(i)) }, own)
      .markup;
  expect(markupOf(3)).not.toContain('<details>');
  expect(markupOf(4)).toContain('<details><summary>4 changes</summary><ul class="changes">');
});
