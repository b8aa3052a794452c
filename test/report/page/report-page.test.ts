import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sentence } from '../../../src/order/sentence.ts';
import { html, type PageLinks } from '../../../src/report/page/html.ts';
import { reportPage } from '../../../src/report/page/report-page.ts';
import type { Report } from '../../../src/report/report.ts';
import { addOrder, newStory } from '../../../src/report/story.ts';
import type { ReportedOrder } from '../../../src/report/write-report.ts';
import { NUMBER_TAKEN } from '../../../src/wording/problem.ts';
import { answered } from '../../support/pause.ts';
import { dead, done, problem, reportOf, rows, wrong } from '../../support/reported.ts';

function pageOf(
  orders: readonly ReportedOrder[],
  more: Partial<Report> = {},
  links: PageLinks = {},
): string {
  const story = newStory();
  for (const { result, deadLetter } of orders) addOrder(story, result, deadLetter);
  return reportPage({ report: reportOf(orders, more), story, hasFix: story.open > 0, ...links });
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
      'The order needed you',
    ],
    [
      'all need a person',
      [dead(order(2), 'refused', '400', 'No'), dead(order(3), 'refused', '400', 'No')],
      {},
      'All 2 orders needed you',
    ],
    [
      'one needs a person',
      [done(order(2)), dead(order(3), 'refused', '400', 'No')],
      {},
      '1 of 2 orders needed you',
    ],
    ['duplicates only', [done(order(2), 'duplicate')], {}, 'Nothing in this file needed you'],
    ['no orders', [], {}, 'This file has no orders'],
    ['unreadable', [], { state: 'unreadable', format: null }, 'This file could not be read'],
    ['cancelled', [done(order(2), 'cancelled')], { state: 'cancelled' }, 'This file was cancelled'],
    [
      'cancelled when all was accepted',
      [done(order(2))],
      { state: 'cancelled' },
      'This file was cancelled too late',
    ],
  ];
  it.each(cases)('%s', (_, orders, more, verdict) => {
    expect(pageOf(orders, more)).toContain(`<h1>${verdict}</h1>`);
  });
});

it('what to do about a kind of error is said once, in its title', () => {
  const held = (line: number) =>
    wrong(
      order(line),
      problem(line, { field: '', code: 'number-known', facts: { state: 'accepted' } }),
    );
  const text = textOf(pageOf([held(2), held(4), held(6)]));
  expect(text.split(NUMBER_TAKEN).length - 1).toBe(1);
});

it('the number of an order is shown once, also where it is the wrong value', () => {
  const total = (line: number, value: string) =>
    wrong(rows(line, ['Summe', '', '9']), problem(line, { value }));
  expect(pageOf([total(2, 'Summe')])).not.toContain('>Value</th>');
  expect(pageOf([total(2, 'Summe'), total(3, '9')])).toContain('>Value</th>');
});

it('a printed row of a table is not split across two pages', () => {
  const print = pageOf([done(order(2))]).split('@media print')[1] ?? '';
  expect(print).toMatch(/[,{] tr[^{}]*\{ break-inside: avoid; \}/);
});

it('outcomes that occurred have a tile with their number', () => {
  const text = textOf(
    pageOf([done(order(2)), done(order(3)), dead(order(4), 'inDoubt', 'inDoubt', 'Unknown')]),
  );
  expect(text).toContain('2 accepted created at the API');
  expect(text).toContain('1 in doubt may or may not exist at the API');
  expect(text).not.toContain('duplicate');
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
  expect(text).toContain('MENGE is not a whole number');
  expect(text).toContain('API answer 400 · seen 2026-11-21 07:15:04 UTC');
  expect(text).toContain('code not-whole · seen');
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

it.each(['failed', 'inDoubt', 'conflict'] as const)(
  'an order shows its first items: %s',
  (kind) => {
    const items = [1, 2].map((quantity) => ({ articleCode: `A-${quantity}`, quantity }));
    const one = dead(order(2), kind, 'x', 'No');
    if (one.deadLetter) Object.assign(one.deadLetter, { payload: { items } });
    const shown = textOf(pageOf([one]));
    expect(shown).toContain('Line Order Items 2 PO-2 A-1 × 1, A-2 × 2');
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

it('pauses are part of the timeline, in order of time', () => {
  const pauses = [
    {
      ...answered('http-503', 'HTTP 503'),
      message: sentence('the API answered 503'),
      from: '2026-11-21T07:16:00Z',
      to: '2026-11-21T07:17:30Z',
    },
  ];
  const text = textOf(pageOf([done(order(2))], { pauses }));
  expect(text).toMatch(
    /07:15:04 UTC First outcome \S+ 07:16:00 UTC Paused for 1 min 30 s: the API answered 503 \S+ 07:18:09 UTC Last outcome/,
  );
});

it('the time until the last outcome agrees with the times that are shown', () => {
  const [startedAt, finishedAt] = ['2026-11-21T07:15:01.900Z', '2026-11-21T07:15:33.100Z'];
  expect(textOf(pageOf([done(order(2))], { startedAt, finishedAt }))).toContain(
    '07:15:33 UTC Last outcome, after 32 s',
  );
  const soon = { startedAt, finishedAt: '2026-11-21T07:15:01.950Z' };
  expect(textOf(pageOf([done(order(2))], soon))).toContain('Last outcome, after less than 1 s');
});

it('an outcome that is older than the file is no part of the timeline', () => {
  expect(textOf(pageOf([done(order(2))], { startedAt: '2026-11-21T07:15:30Z' }))).not.toContain(
    'First outcome',
  );
});

it('a pause names no network error, which is for operators', () => {
  const pause = { from: '2026-11-21T07:16:00Z', to: '2026-11-21T07:17:30Z' };
  const shown = (code: string, message: string) =>
    textOf(
      pageOf([done(order(2))], {
        pauses: [{ ...answered(code, message), message: sentence(message), ...pause }],
      }),
    );
  expect(shown('api-down', 'could not be sent: connect ECONNREFUSED 127.0.0.1:1')).toMatch(
    /Paused for 1 min 30 s: the order API gave no usable answer (?!.*ECONN)/,
  );
  expect(shown('operator', 'paused by anna: stock-taking')).toContain(
    'Paused for 1 min 30 s: paused by anna: stock-taking',
  );
});

it('a pause that lasts longer than the batch is not shown as one that continues', () => {
  const [from, message] = ['2026-11-21T07:16:00Z', 'HTTP 503'];
  const pauses = [{ ...answered('http-503', message), message: sentence(message), from, to: null }];
  const one = [done(order(2))];
  expect(textOf(pageOf(one, { pauses }))).toContain(
    'Paused until after the last outcome: HTTP 503',
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
  const page = reportPage({ report: reportOf([]), story, hasFix: false });
  expect(page.length).toBeLessThan(1_000_000);
  const shown = [...story.groups.values()].reduce((sum, group) => sum + group.count, 0);
  expect(shown).toBe(10_000);
  expect(textOf(page)).toContain('with other errors: see');
});

describe('an unreadable file', () => {
  const error = {
    code: 'unreadable-format',
    message: 'The file is a PDF.',
    remedy: 'Drop CSV, JSON or XLSX.',
  };

  it('has the remedy of its error', () => {
    const text = textOf(
      pageOf([], { state: 'unreadable', format: null, error }, { inbox: '/srv/inbox' }),
    );
    expect(text).toContain('No orders were sent.');
    expect(text).toContain(
      'Drop CSV, JSON or XLSX. The inbox is /srv/inbox . Orders that the API already has',
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

it('says that it shows the file as it was finished, and what is to be done at most in two steps', () => {
  const kinds = ['invalid', 'conflict', 'refused', 'failed', 'inDoubt'] as const;
  const all = kinds.map((kind, i) => dead(order(i + 2), kind, kind, 'No'));
  const page = pageOf(all);
  expect(page).toContain('<a href="../open/open.html">open.html</a>');
  expect(textOf(page)).toContain('shows the file as it was finished 2026-11-21 07:18:09 UTC');
  expect(textOf(page)).toMatch(/Correct what is still listed.*for your operator: po-sync/);
  expect(page.split('<ol><li>')[1]?.split('</ol>')[0]?.match(/<li>/g)).toHaveLength(1);
  expect(pageOf([done(order(2))])).not.toContain('What to do next');
});

it('every time is UTC in the text and machine-readable for the script', () => {
  const page = pageOf([done(order(2))]);
  expect(page).toContain(
    'taken <time datetime="2026-11-21T07:15:00.000Z">2026-11-21 07:15:00 UTC</time>',
  );
});

it('what was restored or guessed is shown before the errors', () => {
  const page = pageOf([dead(order(2), 'refused', '400', 'No')], {
    warnings: ['5 cells were restored'],
  });
  expect(page.indexOf('5 cells were restored')).toBeGreaterThan(0);
  expect(page.indexOf('5 cells were restored')).toBeLessThan(page.indexOf('id="errors"'));
});

describe('hostile texts', () => {
  const everywhere = (text: string) => {
    const broken = wrong(rows(2, [text, text, text]), problem(2, { field: text, value: text }));
    const report: Partial<Report> = {
      file: text,
      source: text,
      environment: text,
      batch: text,
      sha256: text,
      warnings: [text],
      pauses: [{ ...answered(text, text), message: sentence(text), from: text, to: text }],
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
