import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noOutcomes } from '../../../src/order/outcome.ts';
import { html } from '../../../src/report/page/html.ts';
import { reportPage } from '../../../src/report/page/report-page.ts';
import type { Report } from '../../../src/report/report.ts';
import { addOrder, newStory } from '../../../src/report/story.ts';
import { type ReportedOrder, sentFacts } from '../../../src/report/write-report.ts';
import { fileWaitJson } from '../../../src/wording/file-wait.ts';
import { refusals } from '../../support/refusals.ts';
import { AT, dead, done, problem, reportOf, rows, wrong } from '../../support/reported.ts';

function pageOf(orders: readonly ReportedOrder[], more: Partial<Report> = {}): string {
  const story = newStory();
  for (const { result, deadLetter } of orders) addOrder(story, result, deadLetter);
  const fixFiles = story.open > 0 ? ['fix.xlsx'] : [];
  return reportPage({ report: reportOf(orders, more), story, fixFiles });
}

/** The text of the page. */
function textOf(page: string): string {
  const body = page.slice(page.indexOf('<main>'), page.indexOf('</main>'));
  return body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

const order = (line: number) => rows(line, [`PO-${line}`, 'A', '1']);
const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(1)</script>'&lt; {{7*7}} \u202E`;

describe('the first line says how the batch is', () => {
  const cases: [string, ReportedOrder[], Partial<Report>, string][] = [
    ['all accepted', [done(order(2)), done(order(3))], {}, 'All 2 orders were accepted'],
    ['one accepted', [done(order(2))], {}, 'The order was accepted'],
    [
      'the only one needs a person',
      [dead(order(2), 'refused', '400', 'No')],
      {},
      'The order needs you',
    ],
    [
      'all need a person',
      [dead(order(2), 'refused', '400', 'No'), dead(order(3), 'refused', '400', 'No')],
      {},
      'All 2 orders need you',
    ],
    [
      'one needs a person',
      [done(order(2)), dead(order(3), 'refused', '400', 'No')],
      {},
      '1 of 2 orders needs you',
    ],
    ['duplicates only', [done(order(2), 'duplicate')], {}, 'Nothing here needs you'],
    ['no orders', [], {}, 'This file has no orders'],
    ['unreadable', [], { state: 'unreadable', format: null }, 'This file could not be read'],
    ['held', [], { state: 'waiting', finishedAt: null }, 'This file waits'],
    ['running', [], { state: 'running', finishedAt: null }, 'This batch is in progress'],
  ];
  it.each(cases)('%s', (_, orders, more, verdict) => {
    expect(pageOf(orders, more)).toContain(`<h1>${verdict}</h1>`);
  });
});

it('what all messages of a group end with is said once, in its title', () => {
  const doubt = (line: number) =>
    `a row of this order may be missing: line ${line} has no order number and may belong to this order. If it does, correct it. If this order is complete without it, write confirmed`;
  const held = (line: number) =>
    wrong(order(line), problem(line, { code: 'row-in-doubt', message: doubt(line + 1) }));
  const text = textOf(pageOf([held(2), held(4), held(6)]));
  expect(text.split('If this order is complete without it').length - 1).toBe(1);
  expect(text.split('and may belong to this order.').length - 1).toBe(4);
});

it('the number of an order is shown once, also where it is the wrong value', () => {
  const total = (line: number, value: string) =>
    wrong(rows(line, ['Summe', '', '9']), problem(line, { value }));
  expect(pageOf([total(2, 'Summe')])).not.toContain('>Value</th>');
  expect(pageOf([total(2, 'Summe'), total(3, '9')])).toContain('>Value</th>');
});

it('a line says how many orders of the file went out, at first and later', () => {
  const one = dead(order(2), 'refused', '400', 'No');
  const orders = [
    one,
    done(order(3)),
    done(order(4), 'duplicate'),
    wrong(rows(5, ['', 'A', '1']), problem(5)),
  ];
  const said = '1 of 3 orders went out; 1 had been ordered before.';
  expect(textOf(pageOf(orders, { nameless: 1 }))).toContain(said);
  const acceptedLater = { orders: 2, ofRows: 1 };
  const later = '3 of 4 orders went out: 1 at first and 2 later; 1 had been ordered before.';
  expect(textOf(pageOf(orders, { nameless: 1, acceptedLater }))).toContain(later);
  const two = { acceptedLater: { orders: 1, ofRows: 0 } };
  expect(textOf(pageOf([one, done(order(3))], two))).toContain(
    'All 2 orders went out: 1 at first and 1 later.',
  );
  expect(textOf(pageOf([done(order(3))]))).not.toContain('went out');
  expect(textOf(pageOf([one]))).not.toContain('went out');
  expect(
    textOf(pageOf([one, done(order(3))], { state: 'running', finishedAt: null })),
  ).not.toContain('went out');
});

it('a line counts orders as ordered before that are held because of an accepted order', () => {
  const conflict = dead(
    order(2),
    'conflict',
    'other-content',
    'this number is already accepted with different items, x',
  );
  const waits = dead(
    order(3),
    'conflict',
    'other-content',
    'this number is already in progress with different items, x',
  );
  const held = (line: number, code: string, message: string) =>
    wrong(order(line), problem(line, { code, message }));
  const orders = [
    conflict,
    waits,
    held(
      6,
      'already-corrected',
      'line 6 of a.csv was already sent as PO-60, from b: if PO-6 is the same order, discard it',
    ),
    held(
      7,
      'already-corrected',
      'line 7 of a.csv was already sent as PO-70, from b: leave this row out of this order',
    ),
    held(8, 'number-known', 'this number is already accepted from "a.csv". Compare both'),
    dead(order(9), 'refused', '400', 'this number is already accepted'),
    done(order(10)),
  ];
  const said = (all: readonly ReportedOrder[]) => {
    const story = newStory();
    for (const { result, deadLetter } of all) addOrder(story, result, deadLetter);
    const report = reportOf(all);
    return textOf(
      reportPage({
        report: { ...report, ...sentFacts(story.later, story.listed, report.counts.duplicate) },
        story,
        fixFiles: [],
      }),
    );
  };
  expect(said(orders)).toContain(
    '1 of 7 orders went out; 3 had been ordered before, but not exactly as in this file.',
  );
  const same = done(order(11), 'duplicate');
  const unsent = done(order(12), 'duplicate');
  const with2 = [...orders, { ...same, result: { ...same.result, code: 'duplicate' } }, unsent];
  expect(said(with2)).toContain(
    '1 of 9 orders went out; 1 had been ordered before, and 3 more not exactly as in this file.',
  );
});

it('a line of a cancelled file says that none of its orders went out', () => {
  const withdrawn = [done(order(2), 'cancelled'), done(order(3), 'cancelled')];
  expect(textOf(pageOf(withdrawn))).toContain(
    'None of its 2 orders went out from this file: 2 were withdrawn.',
  );
  expect(textOf(pageOf([...withdrawn, done(order(4))]))).toContain(
    '1 of 3 orders went out from this file; 2 were withdrawn.',
  );
  const discarded = { discarded: 1, open: 0 };
  expect(
    textOf(pageOf([...withdrawn, dead(order(4), 'refused', '400', 'No')], discarded)),
  ).toContain('None of its 3 orders went out from this file: 2 were withdrawn; 1 was discarded.');
  expect(
    textOf(pageOf([done(order(2)), dead(order(3), 'refused', '400', 'No')], discarded)),
  ).toContain('1 of 2 orders went out; 1 was discarded.');
});

it('a file of which no order went out says what became of them, and which file has them', () => {
  const same = (line: number, file: string) => {
    const { order: of, result } = done(rows(line, [`${line}`, 'A', '1']), 'duplicate');
    const message =
      file === ''
        ? 'the API already had this order'
        : `the same order is in "${file}" (batch b-${file})`;
    return { order: of, result: { ...result, code: 'duplicate', message } };
  };
  const said = (...all: ReportedOrder[]) => {
    const story = newStory();
    for (const { result, deadLetter } of all) addOrder(story, result, deadLetter);
    const report = reportOf(all, { file: 'own.csv' });
    const facts = sentFacts(story.later, story.listed, report.counts.duplicate);
    const page = reportPage({
      report: { ...report, ...facts, open: story.open },
      story,
      fixFiles: [],
    });
    return textOf(page).replaceAll('&quot;', '"');
  };
  const wrong = dead(order(9), 'invalid', 'row-invalid', 'No');
  expect(said(same(2, 'week-48.csv'), same(3, 'week-48.csv'), wrong)).toContain(
    'None of its 3 orders went out from this file: 2 had been ordered before in "week-48.csv"; 1 needs you.',
  );
  // An order that had been ordered otherwise needs a person, too, and is named once.
  const message = 'this number is already accepted with other items, in "week-48.csv"';
  const otherwise = dead(rows(8, ['8', 'A', '1']), 'conflict', 'other-content', message);
  expect(said(same(2, 'week-48.csv'), otherwise, wrong)).toContain(
    '1 had been ordered before in "week-48.csv", and 1 more not exactly as in this file; 1 needs you.',
  );
  expect(said(same(2, 'week-48.csv'), otherwise)).toContain(
    'and 1 more not exactly as in this file.',
  );
  expect(said(same(2, 'a.csv'), same(3, 'b.csv'))).toContain(
    'None of its 2 orders went out from this file: 2 had been ordered before in "a.csv", "b.csv".',
  );
  expect(said(same(2, 'a.csv'))).toContain(
    'Its order did not go out from this file: 1 had been ordered before in "a.csv".',
  );
  expect(said(same(2, 'a.csv'), done(order(3)))).toContain(
    '1 of 2 orders went out; 1 had been ordered before in "a.csv".',
  );
  // Its own name is that of an earlier file.
  expect(said(same(2, 'own.csv'), same(3, 'b.csv'))).toContain(
    'this file: 2 had been ordered before in an earlier file of the same name, "b.csv".',
  );
  const dropped = (line: number, at: string) => {
    const of = same(line, 'own.csv');
    const message = `the same order is in "own.csv" (batch ${at}-inbox-own-1a2b3c4d)`;
    return { ...of, result: { ...of.result, message } };
  };
  const [monday, tuesday] = ['20261123T071500Z', '20261124T071500Z'];
  expect(said(dropped(2, monday), dropped(3, monday))).toContain(
    '2 had been ordered before in an earlier file of the same name (2026-11-23 07:15 UTC).',
  );
  expect(said(dropped(2, monday), dropped(3, tuesday), dropped(4, tuesday))).toContain(
    '3 had been ordered before in an earlier file of the same name.',
  );
  // No file is named as that of all where one has no file, or there are many.
  const plain = 'had been ordered before.';
  expect(said(same(2, 'a.csv'), same(3, ''))).toContain(`from this file: 2 ${plain}`);
  expect(said(...['a', 'b', 'c', 'd'].map((name, i) => same(i + 2, name)))).toContain(
    `from this file: 4 ${plain}`,
  );
  // The first line of the page says it all.
  expect(said(wrong)).not.toContain('from this file');
});

it('says of a decimal sign that it does not decide about quantities that can be read in two ways', () => {
  const format = (more: Partial<NonNullable<Report['format']>>) =>
    textOf(pageOf([done(order(2))], { format: { type: 'csv', delimiter: ';', ...more } }));
  const decides = 'in quantities that can be read in only one way';
  expect(format({ decimal: ',' })).toContain(`CSV, delimiter semicolon, decimal comma ${decides}`);
  expect(format({ decimal: '.' })).toContain(`decimal point ${decides}`);
  expect(format({})).not.toContain(decides);
  expect(format({ decimal: ',', decimalSet: true })).toContain('decimal comma');
  expect(format({ decimal: ',', decimalSet: true })).not.toContain(decides);
  // Only its mapping sets that of a workbook.
  expect(format({ type: 'xlsx', decimal: ',' })).not.toContain(decides);
});

it('a printed row of a table is not split across two pages', () => {
  const print = pageOf([done(order(2))]).split('@media print')[1] ?? '';
  expect(print).toMatch(/[,{] tr[^{}]*\{ break-inside: avoid; \}/);
});

it('the lead says that the others are done', () => {
  const one = dead(order(2), 'refused', '400', 'No');
  expect(textOf(pageOf([one, done(order(3))]))).toContain('The other order is done.');
  expect(textOf(pageOf([one, done(order(3)), done(order(4))]))).toContain('The others are done.');
  expect(textOf(pageOf([one]))).not.toMatch(/The (?:other order is|others are) done/);
});

it('the step that says to correct orders says what to do with _do, and where a correction shows that waits for a pause', () => {
  const said =
    'During a pause, the dashboard shows whether somebody sent a correction already: this page changes when po-sync has read it, but a copy or a download of this page does not.';
  expect(textOf(pageOf([dead(order(2), 'refused', '400', 'No')]))).toContain(said);
  expect(textOf(pageOf([dead(order(2), 'refused', '400', 'No')]))).toMatch(
    /To send a row or an order as it is, write send into _do ;/,
  );
  expect(textOf(pageOf([dead(order(2), 'inDoubt', 'inDoubt', 'Unknown')]))).not.toContain(said);
});

it('a conflict begins with the old copy, which is probable where the same file was read before', () => {
  const one = dead(order(2), 'conflict', 'other-content', 'this number is already accepted');
  expect(textOf(pageOf([one]))).toContain(
    'If your file is an old copy of your list, discard it in the dashboard',
  );
  const repeats = { batch: 'first', file: 'orders.csv', at: AT };
  expect(textOf(pageOf([one], { repeats }))).toContain(
    'read before, so this is probably an old copy: if so, discard it',
  );
});

it('a refused order with several items says that the API does not say which item', () => {
  const refused = (message: string, ...articles: string[]) => {
    const one = dead(rows(16, ['7', 'A', '1'], ['7', 'B', '2']), 'refused', '400', message);
    const items = articles.map((articleCode) => ({ articleCode, quantity: 1 }));
    return one.deadLetter ? { ...one, deadLetter: { ...one.deadLetter, payload: { items } } } : one;
  };
  const said = 'does not say which item: check all items.';
  expect(textOf(pageOf([refused('The article does not exist.', 'TIN', 'TEA')]))).toContain(said);
  expect(textOf(pageOf([refused('The article does not exist.', 'TIN')]))).not.toContain(said);
  expect(textOf(pageOf([refused('The article TEA does not exist.', 'TIN', 'TEA')]))).not.toContain(
    said,
  );
});

it('outcomes that occurred have a tile with their number; the others share one line', () => {
  const text = textOf(
    pageOf([done(order(2)), done(order(3)), dead(order(4), 'inDoubt', 'inDoubt', 'Unknown')]),
  );
  expect(text).toContain('2 accepted created at the API');
  expect(text).toContain('1 in doubt may or may not exist at the API');
  expect(text).toContain('None: duplicate, conflict, invalid, refused, failed, cancelled.');
});

it('errors are grouped by signature, the largest group first', () => {
  const text = textOf(
    pageOf([
      wrong(order(2), problem(2)),
      dead(order(3), 'refused', '400', 'Article X1 is unknown'),
      dead(order(4), 'refused', '400', 'Article X2 is unknown'),
    ]),
  );
  const [first, second] = [text.indexOf('2 orders refused'), text.indexOf('1 order invalid')];
  expect(first).toBeGreaterThan(0);
  expect(second).toBeGreaterThan(first);
  expect(text).toContain('MENGE: The quantity must be a whole number above zero.');
  expect(text).toContain('API answer 400 · seen 2026-11-21 07:15:04 UTC');
  expect(text).toContain('code quantity-not-whole · seen');
});

it('two times that read the same are one', () => {
  const one = dead(order(3), 'refused', '400', 'Article X1 is unknown');
  Object.assign(one.deadLetter ?? {}, {
    firstAt: '2026-11-21T07:15:04.100Z',
    lastAt: '2026-11-21T07:15:04.900Z',
  });
  const text = textOf(pageOf([one]));
  expect(text).toContain('API answer 400 · seen 2026-11-21 07:15:04 UTC');
});

it('rows without a number are not counted as orders, and a person learns where to enter it', () => {
  const missing = (line: number) =>
    problem(line, { field: 'PO_NO', code: 'missing', value: '', message: 'is empty' });
  const orders = [
    wrong(rows(2, ['PO-2', 'A', '1']), problem(2, { code: 'row-in-doubt' })),
    wrong(rows(3, ['', 'B', '1']), missing(3)),
    wrong(rows(4, ['', 'C', '1']), missing(4)),
  ];
  const text = textOf(pageOf([done(order(5)), ...orders]));
  expect(text).toContain('Outcomes of 2 orders and 2 rows without an order number');
  expect(text).toContain(
    '3 invalid failed a check; never sent; 1 order and 2 rows without an order number',
  );
  expect(text).toContain('1 order and 2 rows without an order number need you');
  expect(text).toContain('Correct 1 order and 2 rows without an order number.');
  expect(text).toContain('2 rows without an order number invalid');
  expect(text).toContain('PO_NO is empty');
  expect(text).toContain('Enter the order number in every row.');
  expect(text).not.toContain('(empty)');
  expect(textOf(pageOf([done(order(5)), orders[1] ?? done(order(3))]))).toContain(
    '1 row without an order number needs you',
  );
});

it('a refused order shows its first items, because the API may not say which is wrong', () => {
  const one = dead(order(2), 'refused', '400', 'Unknown article code');
  const items = Array.from({ length: 7 }, (_, i) => ({ articleCode: `A-${i}`, quantity: i + 1 }));
  if (one.deadLetter)
    Object.assign(one.deadLetter, { payload: { purchaseOrderNumber: 'PO-2', items } });
  expect(textOf(pageOf([one]))).toContain(
    'Line Order Items 2 PO-2 A-0 × 1, A-1 × 2, A-2 × 3, A-3 × 4, A-4 × 5 and 2 more',
  );
  // On a phone, its table is stacked.
  expect(pageOf([one])).toContain('<table class="wide">');
});

it.each(['failed', 'inDoubt', 'conflict', 'invalid'] as const)(
  'an order shows its first items: %s',
  (kind) => {
    const items = [1, 2].map((quantity) => ({ articleCode: `A-${quantity}`, quantity }));
    const read =
      kind === 'invalid' ? { itemsRead: ['A-1 × 1', 'A-2 × two'] } : { payload: { items } };
    const one = dead(order(2), kind, 'x', 'No');
    if (one.deadLetter) Object.assign(one.deadLetter, read);
    const shown = textOf(pageOf([one]));
    expect(shown).toContain(
      `Line Order Items 2 PO-2 A-1 × 1, A-2 × ${kind === 'invalid' ? 'two' : 2}`,
    );
  },
);

it('a group shows its first 50 orders and says where the others are', () => {
  const page = pageOf(
    Array.from({ length: 60 }, (_, index) => dead(order(index + 2), 'refused', '400', 'No')),
  );
  expect(page.match(/PO-\d+/g)).toHaveLength(50);
  expect(textOf(page)).toContain('40 more');
  expect(textOf(page)).toContain('10 more in dead-letters.json');
});

describe('what to do next', () => {
  it('the fix file is linked when orders can be corrected', () => {
    expect(pageOf([wrong(order(2), problem(2))])).toContain('href="fix.xlsx"');
  });

  it('the fix file is linked for a conflict alone', () => {
    expect(pageOf([dead(order(2), 'conflict', 'conflict', 'Other content')])).toContain(
      'href="fix.xlsx"',
    );
  });

  it('each kind has its step, with the order number in its command', () => {
    const kinds = (['conflict', 'failed', 'inDoubt'] as const).map((kind, index) =>
      dead(order(index + 2), kind, kind, kind),
    );
    const text = textOf(pageOf(kinds));
    expect(text).toContain('Settle 1 order in conflict.');
    expect(text).toMatch(
      /discard it in the dashboard, or ask your operator\..* For your operator: po-sync/,
    );
    expect(text).toContain('1 order in conflict');
    expect(text).toMatch(
      /po-sync\s+dead-letters\s+retry\s+--batch\s+20261121T071500Z-inbox-orders-3f2a91c0\s+--kind\s+failed/,
    );
    expect(text).toMatch(/po-sync\s+dead-letters\s+discard\s+--order\s+PO-2/);
    expect(text).toMatch(/po-sync\s+dead-letters\s+resolve\s+PO-4\s+--as\s+accepted/);
  });

  it('one command discards several orders in conflict, ten at most', () => {
    const conflicts = (most: number) =>
      textOf(
        pageOf(
          Array.from({ length: most }, (_, i) =>
            dead(order(i + 2), 'conflict', 'conflict', 'Other content'),
          ),
        ),
      );
    expect(conflicts(2)).toMatch(
      /po-sync dead-letters discard --order PO-\d --order PO-\d Leave out each order that you keep\./,
    );
    const many = conflicts(12);
    expect(many.match(/dead-letters discard/g)).toHaveLength(1);
    expect(many.match(/--order/g)).toHaveLength(10);
    expect(many).toContain('and the same for 2 more.');
  });

  it('there are no steps when everything is settled', () => {
    const one = dead(order(2), 'refused', '400', 'No');
    if (one.deadLetter) one.deadLetter.closed = { at: AT, by: 'discard' };
    const page = pageOf([one]);
    expect(page).not.toContain('What to do next');
    expect(textOf(page)).toContain('all settled since');
  });
});

it('pauses are part of the timeline, in order of time', () => {
  const pauses = [
    { reason: 'the API answered 503', from: '2026-11-21T07:16:00Z', to: '2026-11-21T07:17:30Z' },
  ];
  const text = textOf(pageOf([done(order(2))], { pauses }));
  expect(text).toMatch(
    /07:15:04 First outcome 07:16:00 Paused for 1 min 30 s: the API answered 503 07:18:09 Last outcome/,
  );
});

it('the time until the last outcome agrees with the times that are shown', () => {
  const [startedAt, finishedAt] = ['2026-11-21T07:15:01.900Z', '2026-11-21T07:15:33.100Z'];
  expect(textOf(pageOf([done(order(2))], { startedAt, finishedAt }))).toContain(
    '07:15:33 Last outcome, after 32 s',
  );
  const soon = { startedAt, finishedAt: '2026-11-21T07:15:01.950Z' };
  expect(textOf(pageOf([done(order(2))], soon))).toContain('Last outcome, after less than 1 s');
});

it('an outcome that is older than the file is no part of the timeline', () => {
  expect(textOf(pageOf([done(order(2))], { startedAt: '2026-11-21T07:15:30Z' }))).not.toContain(
    'First outcome',
  );
});

it('the orders that need no person are listed, up to 2,000 of each outcome, with the place of the others', () => {
  const all = (many: number) =>
    Array.from({ length: many }, (_, at) => done(rows(at + 2, [`N-${at}`, 'A', '1'])));
  expect(textOf(pageOf(all(100)))).toMatch(/Orders: accepted N-0 N-1 .*N-98 N-99 Timeline/);
  // All numbers of a list have one form.
  const many = pageOf(all(141));
  expect(textOf(many)).toMatch(
    /Orders: accepted N-0 , N-1 , .*N-99 , N-100 , N-101 .*, N-140 Timeline/,
  );
  expect(many).not.toContain('<ul class="orders">');
  const page = pageOf(all(2_130), { help: 'https://orders.example/for-clerks' });
  expect(textOf(page)).toMatch(
    /, N-1999 130 more on the page of this file in the dashboard ?, and in results\.csv in/,
  );
  expect(page).toMatch(/<a href="https:\/\/orders\.example\/batches\/[^"]+">page of this file/);
  expect(page.length).toBeLessThan(100_000);
  expect(page).toContain('.numbers bdi { display: inline-block;');
  expect(textOf(page)).not.toContain('N-2000');
  expect(textOf(pageOf([dead(order(2), 'refused', '400', 'No')]))).not.toContain('Orders: ');
  expect(textOf(pageOf([done(order(2), 'duplicate')]))).not.toContain('in a spreadsheet');
});

it('orders that were withdrawn are not called done, also when nothing else waits', () => {
  const counts = { records: 4, orders: 4, ...noOutcomes(), refused: 1, accepted: 1, cancelled: 2 };
  const one = dead(order(2), 'refused', '400', 'No');
  const lead =
    '1 order of this file was accepted, and po-sync cannot withdraw it, because the order API cannot do it: if it is wrong, inform the supplier. The page of this file in the dashboard has a download with its articles and quantities. 2 orders were withdrawn, and this file did not send them. To send them, correct the complete file and drop it again, unless they are in another file already. No order is sent twice.';
  expect(textOf(pageOf([one], { counts }))).toContain(`1 order is done. ${lead}`);
  expect(pageOf([one], { counts, help: 'https://orders.example/for-clerks' })).toMatch(
    /inform the supplier\. The <a href="https:\/\/orders\.example\/batches\/[^"]+">page of this file in the dashboard<\/a> has a download/,
  );
  const rest = 'If the complete file was wrong, discard 1 order too.';
  const instead = 'If you correct your own file instead, drop the complete file again.';
  for (const part of [rest, instead]) {
    expect(textOf(pageOf([one], { counts }))).toContain(part);
    expect(textOf(pageOf([one]))).not.toContain(part);
  }
  const ofExport = textOf(pageOf([one], { counts, isExport: true }));
  expect(ofExport).toContain(
    'If they are to be sent, have them corrected in the program that writes the export',
  );
  expect(ofExport).toContain('Cancelled orders that are still in the export are sent as soon as');
  expect(ofExport).not.toContain('drop the complete file again');
  if (one.deadLetter) one.deadLetter.closed = { at: AT, by: 'discard' };
  expect(textOf(pageOf([one], { counts }))).toContain(`has been settled since. ${lead}`);
  const page = pageOf([], { counts: { ...counts, accepted: 8, refused: 0 } });
  expect(page).toMatch(
    /<header class="neutral">.*<h1>Partly cancelled: 8 orders were accepted<\/h1>/s,
  );
  expect(textOf(page)).toContain(
    '8 orders of this file were accepted, and po-sync cannot withdraw them',
  );
});

it('a cancellation that came when all orders had been sent is not green, and names who cancelled and when', () => {
  const cancelledBy = { at: '2026-11-21T07:15:10Z', who: 'anna' };
  const pages = (...orders: ReportedOrder[]) => pageOf(orders, { cancelledBy });
  const all = pages(done(order(2)), done(order(3)));
  expect(all).toMatch(
    /<header class="neutral">.*<h1>Cancelled too late: all 2 orders were accepted<\/h1>/s,
  );
  expect(textOf(all)).toMatch(
    /cannot withdraw them,.*if they are wrong, inform the supplier\..*Cancelled by anna/,
  );
  const one = dead(order(4), 'invalid', 'row-invalid', 'No');
  const open = pages(done(order(2)), one);
  expect(open).toMatch(/<header class="care">.*<h1>1 of 2 orders needs you<\/h1>/s);
  expect(textOf(open)).toMatch(
    /cancelled too late\. 1 order of .*inform the supplier.*discard 1 order too.*tion does not close.*Cancelled by/,
  );
  if (one.deadLetter) one.deadLetter.closed = { at: AT, by: 'discarded' };
  const settled = pages(done(order(2)), one);
  expect(settled).toMatch(
    /<header class="neutral">.*<h1>Cancelled too late: 1 order was accepted<\/h1>/s,
  );
  expect(textOf(settled)).toMatch(
    /has been settled since\. 1 order of this file was accepted, and po-sync cannot/,
  );
  expect(textOf(pages(done(order(2), 'duplicate')))).toMatch(
    /Nothing here needs you.*Cancelled by anna/,
  );
});

it('orders that were withdrawn and sent by another file need not be dropped again', () => {
  const counts = { records: 3, orders: 3, ...noOutcomes(), cancelled: 3 };
  const shown = (sentElsewhere: number) =>
    textOf(
      reportPage({
        report: reportOf([], { counts }),
        story: { ...newStory(), sentElsewhere },
        fixFiles: [],
      }),
    );
  expect(shown(1)).toContain(
    'did not send them. 1 was accepted in another file. To send the others, correct',
  );
  expect(shown(3)).toContain(
    'did not send them. All were accepted in another file. None of its 3 orders went out from this file: 3 were withdrawn. Outcomes',
  );
});

it('a pause names no network error, which is for operators', () => {
  const times = { from: '2026-11-21T07:16:00Z', to: '2026-11-21T07:17:30Z' };
  const shown = (reason: string) =>
    textOf(pageOf([done(order(2))], { pauses: [{ reason, ...times }] }));
  for (const reason of [
    'could not be sent: connect ECONNREFUSED 127.0.0.1:18510',
    'the token endpoint http://127.0.0.1:1/oauth2/token does not answer: connect ECONNREFUSED 127.0.0.1:1',
  ]) {
    expect(shown(reason)).toMatch(
      /Paused for 1 min 30 s: the order API cannot be reached (?!.*ECONN)/,
    );
  }
  expect(shown('no complete answer: socket hang up')).toContain(
    'the order API gave no complete answer',
  );
});

it("an operator's pause says once that it is one", () => {
  const pauses = [
    {
      reason: 'paused by anna: stock-taking',
      from: '2026-11-21T07:16:00Z',
      to: '2026-11-21T07:17:30Z',
    },
  ];
  expect(textOf(pageOf([done(order(2))], { pauses }))).toContain(
    'Paused for 1 min 30 s by anna: stock-taking',
  );
});

it('a pause that lasts longer than the batch is not shown as one that continues', () => {
  const pauses = [{ reason: 'HTTP 503', from: '2026-11-21T07:16:00Z', to: null }];
  const one = [done(order(2))];
  expect(textOf(pageOf(one, { pauses }))).toContain(
    'Paused until after the last outcome: HTTP 503',
  );
  expect(textOf(pageOf(one, { pauses, state: 'waiting', finishedAt: null }))).toContain(
    'Paused since then: HTTP 503',
  );
});

it('the size is bounded for many kinds, many orders and long texts', () => {
  const story = newStory();
  for (let index = 0; index < 10_000; index += 1) {
    const kind = `${String.fromCharCode(97 + (index % 26))}${String.fromCharCode(97 + (Math.floor(index / 26) % 26))}`;
    const { result, deadLetter } = dead(
      order(index + 2),
      'refused',
      kind,
      `${kind} ${'long '.repeat(400)}`,
    );
    const items = Array.from({ length: 20 }, (_, at) => ({
      articleCode: `${at}`.padEnd(60, 'x'),
      quantity: 1,
    }));
    addOrder(story, result, deadLetter && { ...deadLetter, payload: { items } });
  }
  const page = reportPage({ report: reportOf([]), story, fixFiles: [] });
  expect(page.length).toBeLessThan(1_000_000);
  const shown = [...story.groups.values()].reduce((sum, group) => sum + group.count, 0);
  expect(shown).toBe(10_000);
  expect(textOf(page)).toContain('with other errors: see');
});

describe('a held batch', () => {
  const waits = { ...fileWaitJson({ ...refusals('article X-9 is unknown'), since: 0 }), since: AT };
  const more: Partial<Report> = { state: 'waiting', finishedAt: null, waits };

  it('says why and since when', () => {
    const text = textOf(pageOf([], more));
    expect(text).toContain(
      '40 of the last 40 answers are the same refusal: article X-9 is unknown',
    );
    expect(text).toContain('Waits since 2026-11-21 07:15:04 UTC');
    expect(text).toContain('Show this page to your operator , who decides. Do not drop the file');
    expect(text).toMatch(
      /To send it as it is .*batches release .*To put it away .*batches cancel /,
    );
  });

  it('names the articles that occur in all or at least three of the refused orders, not one that is only in two, and counts the others', () => {
    const items = (...codes: string[]) => ({
      items: codes.map((articleCode) => ({ articleCode, quantity: 1 })),
    });
    const refused = [items('X-1', 'A'), items('X-1', 'X-2'), items('X-2', 'X-1')].map(
      (payload, i) => {
        const one = dead(order(i + 2), 'refused', '400', 'articleCode is not known');
        return one.deadLetter ? { ...one, deadLetter: { ...one.deadLetter, payload } } : one;
      },
    );
    expect(textOf(pageOf(refused, more))).toContain(
      'What went wrong so far articleCode is not known 3 orders refused Most frequent articles in these orders: X-1 in 3 orders. Other articles in these orders: 2. The API refused the complete order and does not say which item: check all items. API answer 400',
    );
  });

  it('draws the orders without an outcome as empty part of the bar', () => {
    const refused = Array.from({ length: 45 }, (_, index) =>
      dead(order(index + 2), 'refused', '400', 'No'),
    );
    const counts = { ...reportOf(refused).counts, orders: 300 };
    const page = reportPage({
      report: reportOf(refused, { ...more, counts }),
      story: newStory(),
      fixFiles: [],
    });
    expect(page).toContain('aria-label="45 refused, 255 without an outcome yet"');
    expect(page).toContain('<rect class="hatched" x="0.000%" width="15.000%"');
    expect(page).toContain('<rect class="waiting" x="15.000%" width="85.000%"');
    expect(textOf(page)).toContain('45 of 300 orders have an outcome.');
  });

  it('has no bar while the number of orders is not known', () => {
    const refused = [dead(order(2), 'refused', '400', 'No')];
    const counts = { ...reportOf(refused).counts, orders: 0 };
    expect(pageOf(refused, { ...more, counts })).not.toContain('class="bar"');
  });
});

const HELP = 'https://po-sync.example.com/for-clerks';

it.each<[string, ReportedOrder[], Partial<Report>]>([
  ['finished, with orders that need you', [dead(order(2), 'refused', '400', 'No')], {}],
  ['finished, with nothing to do', [done(order(2))], {}],
  [
    'held',
    [],
    {
      state: 'waiting',
      finishedAt: null,
      waits: { ...fileWaitJson({ ...refusals('the same refusal'), since: 0 }), since: AT },
    },
  ],
  [
    'unreadable',
    [],
    { state: 'unreadable', format: null, error: { code: 'unreadable-empty', message: 'Empty.' } },
  ],
])(
  'the page of a file links the help of the dashboard where it is known: %s',
  (_, orders, more) => {
    const page = pageOf(orders, { ...more, help: HELP });
    expect(page.split(`<a href="${HELP}">Help</a>`)).toHaveLength(2);
    // Not in the part that is folded.
    expect(page.replace(/<details.*?<\/details>/gs, '')).toContain(HELP);
    expect(textOf(page)).toContain(
      'All situations are explained on the page Help of the dashboard.',
    );
    expect(textOf(pageOf(orders, more))).not.toContain('All situations');
  },
);

it('the page says of a dashboard on loopback where its help can be opened', () => {
  const text = textOf(pageOf([done(order(2))], { help: 'http://127.0.0.1:9464/for-clerks' }));
  expect(text).toContain('the page Help of the dashboard, on the machine on which po-sync runs.');
});

describe('an unreadable file', () => {
  const error = {
    code: 'unreadable-format',
    message: 'The file is a PDF.',
    remedy: 'Drop CSV, JSON or XLSX.',
  };

  it('has the remedy of its error', () => {
    const text = textOf(
      pageOf([], { state: 'unreadable', format: null, error, inbox: '/srv/inbox' }),
    );
    expect(text).toContain('No orders were sent.');
    expect(text).toContain(
      'Drop CSV, JSON or XLSX. The inbox is /srv/inbox . Orders that the API already has',
    );
  });

  it('shows the line that its error names', () => {
    const named = { ...error, line: 3, text: 'U-2,"A 12" pipe,<4>' };
    const page = pageOf([], { state: 'unreadable', format: null, error: named });
    expect(page).toContain('<code class="line">U-2,&quot;A 12&quot; pipe,&lt;4&gt;</code>');
    expect(pageOf([], { state: 'unreadable', error })).not.toContain('<code class="line">');
  });

  it('is to be dropped again when its remedy does not say so', () => {
    const text = textOf(
      pageOf([], { state: 'unreadable', error: { ...error, remedy: 'Set encoding.' } }),
    );
    expect(text).toContain(
      'Set encoding. Drop the complete file again into an inbox (none is configured',
    );
  });

  it('does not claim that nothing was sent when orders have an outcome', () => {
    const text = textOf(pageOf([done(order(2)), done(order(3))], { state: 'unreadable', error }));
    expect(text).toContain('2 orders had their outcome before that; the rest was not sent.');
    expect(text).not.toContain('No orders were sent');
  });
});

it('a conflict shows the items of this file next to the known ones', () => {
  const one = dead(order(2), 'conflict', 'other-content', 'known with other items');
  const content = (quantity: number) => ({
    purchaseOrderNumber: 'PO-2',
    orderState: 'NEW' as const,
    items: [
      { articleCode: 'B', quantity: 1 },
      { articleCode: 'A', quantity },
    ],
  });
  if (one.deadLetter) Object.assign(one.deadLetter, { payload: content(5), known: content(3) });
  const text = textOf(pageOf([one]));
  expect(text).toContain('Line Order In this file Already known 2 PO-2 A × 5 B × 1 A × 3 B × 1');
  expect(pageOf([one])).toContain('<col class="data items"><col class="data items"></colgroup>');
  expect(pageOf([one]).match(/(?<=item other">)[^<]*/g)).toEqual(['A × 5', 'A × 3']);
});

describe('settled dead letters', () => {
  const closed = (line: number, by: NonNullable<ReportedOrder['deadLetter']>['closed']) => {
    const one = dead(order(line), 'refused', '400', 'No');
    return one.deadLetter && by ? { ...one, deadLetter: { ...one.deadLetter, closed: by } } : one;
  };

  it('say who or what settled each', () => {
    const text = textOf(
      pageOf([
        closed(2, { at: AT, by: 'discarded', who: 'anna' }),
        closed(3, { at: AT, by: 'accepted', batch: 'B-7' }),
        closed(4, undefined),
        closed(5, { at: AT, by: 'accepted', batch: 'B-8', file: 'b.csv' }),
        closed(6, { at: AT, by: 'fixed', batch: 'B-9', waitsIn: 'B-9', file: 'c.csv' }),
      ]),
    );
    expect(text).toContain('2 PO-2 discarded by anna, 2026-11-21 07:15:04 UTC');
    expect(text).toContain('3 PO-3 accepted in batch B-7 , 2026-11-21 07:15:04 UTC');
    expect(text).toContain('4 PO-4 open');
    expect(text).toContain('5 PO-5 accepted in b.csv (batch B-8 ) , 2026-11-21 07:15:04 UTC');
    expect(text).toContain('6 PO-6 still open in c.csv (batch B-9 ) , where its rows came back');
    expect(text).toContain('1 order came back and still waits in c.csv (batch B-9 ) .');
    expect(text).toMatch(/Continue with the newer report\..*Correct 1 order\./);
    expect(text).toContain(
      'If that report says that nothing needs you now, a correction is in progress there: wait for it.',
    );
  });

  it('say a number only of the file that has it, where a later file settled the order', () => {
    const fixed = { at: AT, by: 'fixed', batch: 'B-7', file: 'a.csv', number: 'PO-8' };
    const end = { at: AT, by: 'accepted', batch: 'B-9', file: 'c.csv' };
    const text = textOf(
      pageOf([
        closed(2, { ...fixed, end }),
        closed(3, { ...fixed, end: { ...end, batch: 'B-7', file: 'a.csv' } }),
      ]),
    );
    expect(text).toMatch(
      /2 PO-2 came back in a\.csv \(batch B-7 \) , at first as PO-8 , .*; then accepted in c\.csv/,
    );
    expect(text).toMatch(
      /3 PO-3 came back in a\.csv \(batch B-7 \) as PO-8 , .*; then accepted there/,
    );
  });

  it('are shown after those that need somebody, and named where the accepted orders are listed', () => {
    const open = dead(order(9), 'refused', '400', 'Other');
    const later = [closed(2, { at: AT, by: 'accepted' }), closed(3, { at: AT, by: 'accepted' })];
    const text = textOf(pageOf([done(order(7)), ...later, open]));
    expect(text).toMatch(
      /What went wrong Other 1 order refused .* No 2 orders refused all settled since /,
    );
    expect(text).toContain(
      'PO-7 Orders that were accepted later, after a correction, are listed under',
    );
    expect(textOf(pageOf([done(order(7)), open]))).not.toContain('accepted later');
  });

  it('are not drawn as open ones', () => {
    const some = pageOf([closed(2, { at: AT, by: 'accepted' }), closed(3, undefined)]);
    expect(some).toContain('<rect class="hatched" x="0.000%" width="50.000%"');
    expect(some).toContain('<rect class="idle" x="50.000%" width="50.000%"');
    const all = pageOf([closed(2, { at: AT, by: 'accepted' })]);
    expect(all).not.toContain('<rect class="hatched"');
    expect(all).toContain('<li class="idle"><span class="number">1</span>');
  });
});

it('every time is UTC in the text and machine-readable for the script', () => {
  const page = pageOf([done(order(2))]);
  expect(page).toContain(
    'taken <time datetime="2026-11-21T07:15:00.000Z">2026-11-21 07:15:00 UTC</time>',
  );
  expect(page).toContain('data-day="2026-11-21T07:15:00.000Z">07:18:09</time>');
});

it('what was restored or guessed is shown before the errors', () => {
  const page = pageOf([dead(order(2), 'refused', '400', 'No')], {
    warnings: ['5 cells were restored'],
  });
  expect(page.indexOf('5 cells were restored')).toBeGreaterThan(0);
  expect(page.indexOf('5 cells were restored')).toBeLessThan(page.indexOf('id="errors"'));
});

it('an order number that a shell would split is quoted in its command', () => {
  const text = textOf(
    pageOf([dead(rows(2, ["7 'x'", 'A', '1']), 'inDoubt', 'in-doubt', 'Unknown')]),
  );
  expect(text).toContain("'7 &#39;\\&#39;&#39;x&#39;\\&#39;&#39;'".replaceAll("'", '&#39;'));
});

describe('hostile texts', () => {
  const everywhere = (text: string) => {
    const broken = wrong(
      rows(2, [text, text, text]),
      problem(2, { field: text, code: text, value: text, message: text }),
    );
    const report: Partial<Report> = {
      file: text,
      source: text,
      environment: text,
      batch: text,
      sha256: text,
      warnings: [text],
      pauses: [{ reason: text, from: text, to: text }],
      error: { code: text, message: text },
      format: { type: 'csv', delimiter: text, encoding: text },
    };
    return pageOf([broken, dead(rows(3, [text]), 'failed', text, text)], report);
  };
  const tagsOf = (page: string) => page.match(/<[a-z!/][^\s>]*/gi)?.join(' ');
  const harmless = everywhere('plain');

  it('add no element and no attribute in any field', () => {
    const page = everywhere(HOSTILE);
    expect(tagsOf(page)).toBe(tagsOf(harmless));
    expect(page).not.toContain('<img');
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(page).not.toContain('\u202e');
  });

  it('add no element, independent of their characters', () => {
    const unit = fc.constantFrom(
      '<',
      '>',
      '"',
      "'",
      '&',
      '/',
      '=',
      ' ',
      'a',
      '-',
      '!',
      '\u2028',
      '\0',
    );
    fc.assert(
      fc.property(
        fc.string({ unit, minLength: 1 }),
        (text) => tagsOf(everywhere(`x${text}`)) === tagsOf(harmless),
      ),
      { numRuns: 200 },
    );
  });
});

it('the policy allows only the style and the script of the page, by their hashes', () => {
  const page = pageOf([done(order(2))]);
  expect(page).toMatch(
    /content="default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; script-src 'sha256-[A-Za-z0-9+/]{43}='; base-uri 'none'; form-action 'none'"/,
  );
  expect(page.match(/<script/g)).toHaveLength(1);
  expect(page).not.toMatch(/<script\s|<link|<img|<iframe|@import|url\((?!#)|\sstyle="/);
  const script = /<script>([\s\S]*?)<\/script>/.exec(page)?.[1] ?? '';
  expect(page).toContain(
    `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  expect(script).not.toMatch(/fetch|XMLHttp|import|innerHTML|eval/);
});

it('text is escaped in attributes and in elements', () => {
  expect(html`<a title="${'"<&\''}">${'<b>'}</a>`.markup).toBe(
    '<a title="&quot;&lt;&amp;&#39;">&lt;b&gt;</a>',
  );
});
