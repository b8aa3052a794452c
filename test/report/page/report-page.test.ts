import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html } from '../../../src/report/page/html.ts';
import { reportPage } from '../../../src/report/page/report-page.ts';
import type { Report } from '../../../src/report/report.ts';
import { addOrder, newStory } from '../../../src/report/story.ts';
import type { ReportedOrder } from '../../../src/report/write-report.ts';
import { AT, dead, done, problem, reportOf, rows, wrong } from '../../support/reported.ts';

function pageOf(orders: readonly ReportedOrder[], more: Partial<Report> = {}): string {
  const story = newStory();
  for (const { result, deadLetter } of orders) addOrder(story, result, deadLetter);
  const fixFile = story.open > 0 ? 'dead-letters.csv' : undefined;
  return reportPage({ report: reportOf(orders, more), story, fixFile });
}

/** The page's words, as a reader meets them. */
function textOf(page: string): string {
  const body = page.slice(page.indexOf('<main>'));
  return body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

const order = (line: number) => rows(line, [`PO-${line}`, 'A', '1']);
const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(1)</script>'&lt; {{7*7}} \u202E`;

describe('the first line says how it stands', () => {
  const cases: [string, ReportedOrder[], Partial<Report>, string][] = [
    ['all accepted', [done(order(2)), done(order(3))], {}, 'All 2 orders were accepted'],
    ['one accepted', [done(order(2))], {}, 'The order was accepted'],
    ['one needs a person', [done(order(2)), dead(order(3), 'refused', '400', 'No')], {}, '1 of 2 orders needs you'],
    ['duplicates only', [done(order(2), 'duplicate')], {}, 'Nothing here needs you'],
    ['no orders', [], {}, 'This file held no orders'],
    ['unreadable', [], { state: 'unreadable', format: null }, 'This file could not be read'],
    ['held', [], { state: 'held', finishedAt: null }, 'This batch is held'],
    ['running', [], { state: 'running', finishedAt: null }, 'This batch is under way'],
  ];
  it.each(cases)('%s', (_, orders, more, verdict) => {
    expect(pageOf(orders, more)).toContain(`<h1>${verdict}</h1>`);
  });
});

it('shows the outcomes that occurred with their numbers, the others in one line', () => {
  const text = textOf(pageOf([done(order(2)), done(order(3)), dead(order(4), 'inDoubt', 'inDoubt', 'Unknown')]));
  expect(text).toContain('2 accepted the API has them');
  expect(text).toContain('1 in doubt may or may not exist at the API');
  expect(text).toContain('None duplicate, conflict, invalid, refused, failed, cancelled.');
});

it('groups errors by signature, the largest group first', () => {
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
  expect(text).toContain('400 · seen 2026-11-21 07:15:04 UTC');
});

it('shows the first fifty orders of a group and says where the others are', () => {
  const page = pageOf(Array.from({ length: 60 }, (_, index) => dead(order(index + 2), 'refused', '400', 'No')));
  expect(page.match(/PO-\d+/g)).toHaveLength(50);
  expect(textOf(page)).toContain('40 more');
  expect(textOf(page)).toContain('And 10 more in dead-letters.json');
});

describe('what to do next', () => {
  it('links the fix file for what can be mended', () => {
    expect(pageOf([wrong(order(2), problem(2))])).toContain('href="dead-letters.csv"');
  });

  it('links the fix file also for a conflict alone', () => {
    expect(pageOf([dead(order(2), 'conflict', 'conflict', 'Other content')])).toContain('href="dead-letters.csv"');
  });

  it('says for each kind what its person does', () => {
    const kinds = (['conflict', 'failed', 'inDoubt'] as const).map((kind, index) =>
      dead(order(index + 2), kind, kind, kind),
    );
    const text = textOf(pageOf(kinds));
    expect(text).toContain('Settle 1 order in conflict.');
    expect(text).toMatch(
      /po-sync\s+dead-letters\s+retry\s+--batch\s+20261121T071500Z-inbox-orders-3f2a91c0\s+--kind\s+failed/,
    );
    expect(text).toMatch(/po-sync\s+dead-letters\s+resolve\s+NUMBER\s+--as\s+accepted/);
  });

  it('has nothing to say once all is settled', () => {
    const one = dead(order(2), 'refused', '400', 'No');
    if (one.deadLetter) one.deadLetter.closed = { at: AT, by: 'discard' };
    const page = pageOf([one]);
    expect(page).not.toContain('What to do next');
    expect(textOf(page)).toContain('all settled since');
  });
});

it('tells pauses in the sequence of time', () => {
  const pauses = [{ reason: 'the API answered 503', from: '2026-11-21T07:16:00Z', to: '2026-11-21T07:17:30Z' }];
  const text = textOf(pageOf([done(order(2))], { pauses }));
  expect(text).toMatch(
    /07:15:04 First outcome 07:16:00 Paused for 1 min 30 s: the API answered 503 07:18:09 Last outcome/,
  );
});

it('bounds its size: many kinds, many orders, long texts', () => {
  const story = newStory();
  for (let index = 0; index < 10_000; index += 1) {
    const kind = `${String.fromCharCode(97 + (index % 26))}${String.fromCharCode(97 + (Math.floor(index / 26) % 26))}`;
    const { result, deadLetter } = dead(order(index + 2), 'refused', kind, `${kind} ${'long '.repeat(400)}`);
    addOrder(story, result, deadLetter);
  }
  const page = reportPage({ report: reportOf([]), story, fixFile: undefined });
  expect(page.length).toBeLessThan(1_000_000);
  const told = [...story.groups.values()].reduce((sum, group) => sum + group.count, 0);
  expect(told).toBe(10_000);
  expect(textOf(page)).toContain('Further kinds of errors with');
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

  it('add no element and no attribute, wherever they stand', () => {
    const page = everywhere(HOSTILE);
    expect(tagsOf(page)).toBe(tagsOf(harmless));
    expect(page).not.toContain('<img');
    expect(page).not.toContain('<script');
    expect(page).not.toContain('\u202e');
  });

  it('whatever they are made of', () => {
    const unit = fc.constantFrom('<', '>', '"', "'", '&', '/', '=', ' ', 'a', '-', '!', '\u2028', '\0');
    fc.assert(
      fc.property(fc.string({ unit, minLength: 1 }), (text) => tagsOf(everywhere(`x${text}`)) === tagsOf(harmless)),
      { numRuns: 200 },
    );
  });
});

it('runs no script and loads nothing, by its own policy', () => {
  const page = pageOf([done(order(2))]);
  expect(page).toMatch(
    /content="default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; base-uri 'none'; form-action 'none'"/,
  );
  expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|url\((?!#)|\sstyle="/);
});

it('escapes a text in an attribute and in an element', () => {
  expect(html`<a title="${'"<&\''}">${'<b>'}</a>`.markup).toBe('<a title="&quot;&lt;&amp;&#39;">&lt;b&gt;</a>');
});
