import { access, mkdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noOutcomes } from '../../src/order/outcome.ts';
import type { Report } from '../../src/report/report.ts';
import { type ReportedOrder, writeProgress, writeReport } from '../../src/report/write-report.ts';
import { fileWaitJson } from '../../src/wording/file-wait.ts';
import { refusals } from '../support/refusals.ts';
import { AT, dead, done, inputOf, problem, reportOf, rows, wrong } from '../support/reported.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { type Browser, type Look, openBrowser } from './browser.ts';

// report.html as people meet it. The pictures stay in a folder that is named at the end: look at them.

const PICTURES = path.join(tmpdir(), 'po-sync-pictures');
const BIDI = '\u202Egnp.exe\u202C \u2066left\u2069 שלום مرحبا';
const HTML =
  '"><img src=x onerror=alert(1)><script>alert(1)</script><style>*{display:none}</style>&lt;';
const LONG = 'W'.repeat(4_000);
const WIDE = 'Stückgutübernahmebestätigungsnummer '.repeat(40);

const one = (line: number, number = `PO-${line}`) => rows(line, [number, 'A', '1']);
const usual = Array.from({ length: 40 }, (_, i) => done(one(i + 100)));

const LATER = '20261122T080000Z-inbox-orders-00000000';

function settled(
  order: ReportedOrder,
  by: { by: string; who?: string; batch?: string },
): ReportedOrder {
  const { deadLetter } = order;
  return deadLetter
    ? { ...order, deadLetter: { ...deadLetter, closed: { at: AT, ...by } } }
    : order;
}

function conflicting(records: ReturnType<typeof rows>): ReportedOrder {
  const order = dead(
    records,
    'conflict',
    'other-content',
    'this number is accepted with different items',
  );
  const content = (quantity: number) => ({
    purchaseOrderNumber: 'PO-22',
    orderState: 'NEW' as const,
    items: [
      { articleCode: 'ART-1', quantity },
      { articleCode: 'ART-2', quantity: 1 },
    ],
  });
  const { deadLetter } = order;
  return deadLetter
    ? { ...order, deadLetter: { ...deadLetter, payload: content(5), known: content(3) } }
    : order;
}

const PAGES: Record<string, [ReportedOrder[], Partial<Report>?]> = {
  fixed: [
    [
      ...usual,
      ...Array.from({ length: 14 }, (_, i) =>
        wrong(one(i + 2), problem(i + 2, { value: `${i},5` })),
      ),
      dead(one(20), 'refused', '400', 'articleCode ART-7 is unknown'),
      dead(one(21), 'refused', '400', 'articleCode ART-9 is unknown'),
      conflicting(one(22)),
      settled(dead(one(26), 'refused', '400', 'articleCode ART-7 is unknown'), {
        by: 'discarded',
        who: 'anna',
      }),
      dead(one(23), 'failed', '500', 'Internal server error'),
      dead(one(24), 'inDoubt', 'in-doubt', 'the list could not be read'),
      done(one(25), 'duplicate'),
    ],
    {
      pauses: [
        {
          reason: 'the API answered 503: closed for the night',
          from: '2026-11-21T07:16:00.000Z',
          to: '2026-11-21T07:17:30.000Z',
        },
      ],
      warnings: ['The column NOTE is not used.'],
    },
  ],
  hostile: [
    [
      wrong(
        rows(2, [HTML, HTML, HTML]),
        problem(2, { field: HTML, value: HTML, message: HTML, code: HTML }),
      ),
      wrong(rows(3, [BIDI, BIDI, BIDI]), problem(3, { field: BIDI, value: BIDI, message: BIDI })),
      wrong(rows(4, [LONG, LONG, LONG]), problem(4, { field: LONG, value: LONG, message: LONG })),
      wrong(
        rows(5, [WIDE]),
        problem(5, { value: WIDE, message: WIDE }),
        problem(5, { field: 'B', value: LONG }),
      ),
      dead(rows(6, [LONG]), 'refused', LONG, LONG),
      dead(rows(7, [HTML]), 'failed', '500', `${HTML} ${BIDI}`),
    ],
    {
      file: `${HTML}${LONG}.csv`,
      source: LONG,
      warnings: [LONG, HTML],
      pauses: [{ reason: LONG, from: '2026-11-21T07:15:30.000Z', to: null }],
    },
  ],
  many: [
    Array.from({ length: 500 }, (_, i) =>
      i % 2 === 0
        ? wrong(
            one(i + 2),
            problem(i + 2, { value: `${i},5` }),
            problem(i + 2, { field: 'MATNR', code: 'empty', value: '', message: 'is empty' }),
          )
        : dead(
            one(i + 2),
            'refused',
            '400',
            `articleCode is unknown, kind ${'abcdefghij'[i % 10]}${'klmnopqrst'[(i >> 4) % 10]}`,
          ),
    ),
  ],
  few: [
    [done(one(2)), wrong(one(3), problem(3, { value: 'zero' }))],
    { inbox: `/srv/${'purchasing-orders/'.repeat(6)}inbox` },
  ],
  columns: [
    [
      wrong(one(2), problem(2, { value: 'zero' })),
      wrong(one(3), problem(3, { code: 'empty', field: 'MATNR', value: '', message: 'is empty' })),
      ...['4', '5'].map((value, i) =>
        wrong(
          one(i + 4),
          problem(i + 4, { code: 'two', field: `F${i}`, value, message: `is "${value}"` }),
        ),
      ),
      wrong(
        one(6),
        problem(6, { code: 'three', value: 'x', message: 'is x' }),
        problem(6, { field: 'B', value: 'y', message: 'is y' }),
      ),
      dead(one(7), 'failed', '500', 'Internal server error'),
      conflicting(one(8)),
      settled(dead(one(9), 'refused', '400', 'articleCode ART-7 is unknown'), {
        by: 'discarded',
        who: 'anna',
      }),
    ].map((of, i) => {
      // The items of some were read, as those of a quantity that is wrong.
      if (i < 5 && of.deadLetter) Object.assign(of.deadLetter, { itemsRead: ['A × 1'] });
      return of;
    }),
  ],
  well: [usual],
  settled: [
    [
      ...usual,
      settled(dead(one(2), 'refused', '400', 'articleCode ART-7 is unknown'), {
        by: 'discarded',
        who: 'anna',
      }),
      settled(dead(one(3), 'refused', '400', 'articleCode ART-7 is unknown'), {
        by: 'accepted',
        batch: LATER,
      }),
      settled(conflicting(one(4)), { by: 'discarded', who: 'Anna (token)' }),
    ],
  ],
  held: [
    Array.from({ length: 45 }, (_, i) => dead(one(i + 2), 'refused', '400', 'No')),
    {
      state: 'waiting',
      finishedAt: null,
      waits: {
        ...fileWaitJson({ ...refusals('articleCode ART-7 is unknown'), since: 0 }),
        since: AT,
      },
      counts: { records: 300, orders: 300, ...noOutcomes(), refused: 45 },
    },
  ],
  empty: [
    [],
    {
      state: 'unreadable',
      format: null,
      bytes: 0,
      error: {
        code: 'unreadable-empty',
        message: 'The file is empty.',
        remedy: 'Drop the complete file again.',
      },
      inbox: '/srv/po/inbox',
    },
  ],
  unreadable: [
    [],
    {
      state: 'unreadable',
      format: null,
      error: {
        code: 'unreadable-structure',
        message: 'A quote that opens in line 7 is never closed.',
        line: 7,
        column: 12,
        remedy: 'Close the quote, or set `quote: none` in the mapping.',
      },
      inbox: '/srv/po/inbox',
    },
  ],
};

const LOOKS: Record<string, Look> = {
  wide: { width: 1280, height: 900 },
  phone: { width: 390, height: 844 },
  dark: { width: 1280, height: 900, dark: true },
  'phone-dark': { width: 390, height: 844, dark: true },
  paper: { width: 720, height: 1000, paper: true },
};

/** Boxes whose text does not fit into them and cannot be scrolled to, and those that are wider than the page. */
const CLIPPED = `(() => {
  const found = [];
  for (const one of document.querySelectorAll('main *')) {
    const style = getComputedStyle(one);
    if (style.position === 'absolute' || one.closest('svg')) continue;
    const box = one.getBoundingClientRect();
    if (box.width === 0) continue;
    const isCut = style.overflow !== 'visible' && (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1);
    if (isCut || box.right > innerWidth + 0.5 || box.left < -0.5) found.push(one.tagName + '.' + one.className);
  }
  return found;
})()`;

/** Texts that are hard to read on what is behind them: WCAG contrast below 4.5. */
const FAINT = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
  const behind = (one) => { for (let at = one; at; at = at.parentElement) { const color = rgb(getComputedStyle(at).backgroundColor); if (color[3] > 0) return color; } return [255, 255, 255]; };
  const found = new Set();
  for (const one of document.querySelectorAll('main *')) {
    if (![...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '')) continue;
    const [a, b] = [light(rgb(getComputedStyle(one).color)), light(behind(one))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) found.add(one.tagName + '.' + one.className);
  }
  return [...found];
})()`;

/** The space in pixels between each line above a rule that folds something out and that rule. */
const ABOVE_RULES = `[...document.querySelectorAll('p + details')].map((one) => one.getBoundingClientRect().top - one.previousElementSibling.getBoundingClientRect().bottom)`;

let browser: Browser;
let temp: Awaited<ReturnType<typeof makeTempFolder>>;
beforeAll(async () => {
  temp = await makeTempFolder();
  browser = await openBrowser();
  await mkdir(PICTURES, { recursive: true });
  // The page `settled` links it.
  await writeReport(inputOf(path.join(temp.path, LATER), usual));
  for (const [name, [orders, more = {}]] of Object.entries(PAGES)) {
    const report = reportOf(orders, more);
    if (report.finishedAt === null) {
      await writeProgress(path.join(temp.path, name), report);
      continue;
    }
    const shape = report.state === 'unreadable' ? { shape: undefined } : {};
    await writeReport(inputOf(path.join(temp.path, name), orders, { report, ...shape }));
  }
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await temp[Symbol.asyncDispose]();
  console.info(`pictures: ${PICTURES}`);
});

describe.each(Object.keys(PAGES))('the page of a report: %s', (name) => {
  const file = () => path.join(temp.path, name, 'report.html');

  it.each(Object.entries(LOOKS))(
    'on %s fits, is readable, loads nothing and logs no error',
    async (look, how) => {
      const page = await browser.show(file(), how);
      await page.evaluate(
        `document.querySelectorAll('details').forEach((one) => { one.open = true; })`,
      );
      await page.picture(path.join(PICTURES, `${name}-${look}.png`));
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
      expect(await page.evaluate(CLIPPED)).toEqual([]);
      expect(await page.evaluate(FAINT)).toEqual([]);
      expect(Math.min(...(await page.evaluate<number[]>(ABOVE_RULES)))).toBeGreaterThan(8);
      expect(page.requests).toEqual([]);
      expect(page.complaints).toEqual([]);
      expect(await page.evaluate('document.images.length')).toBe(0);
      expect(await page.evaluate('[...document.scripts].map(({ src }) => src)')).toEqual(['']);
    },
  );

  it('prints', async () => {
    const page = await browser.show(file(), { width: 1280, height: 900 });
    const pdf = path.join(PICTURES, `${name}.pdf`);
    await page.print(pdf);
    const printed = await readFile(pdf, 'latin1');
    expect(printed.slice(0, 5)).toBe('%PDF-');
    if (name === 'few' || name === 'well')
      expect(printed.match(/\/Type \/Page\b/g)).toHaveLength(1);
    // A little less than A4 between its margins: the reader's zone may have a longer name.
    const paper = await browser.show(file(), { width: 640, height: 900, paper: true });
    const isCut =
      '(time) => time.getBoundingClientRect().right > time.closest("td").getBoundingClientRect().right';
    expect(
      await paper.evaluate(`[...document.querySelectorAll('td time')].filter(${isCut}).length`),
    ).toBe(0);
    const kept = (what: string) =>
      paper.evaluate<string[]>(
        `[...document.querySelectorAll('${what}')].map((one) => getComputedStyle(one).breakInside)`,
      );
    // Kept together, what can be tall would leave the page before it half empty. A row of a table is read as one line.
    expect(new Set(await kept('footer, .next li, .group'))).toEqual(new Set(['auto']));
    expect((await kept('tr')).filter((one) => one !== 'avoid')).toEqual([]);
  });

  it('links to files that exist', async () => {
    const page = await browser.show(file(), { width: 1280, height: 900 });
    const links = await page.evaluate<string[]>(
      `[...document.links].map((one) => one.getAttribute('href'))`,
    );
    for (const link of links) await access(path.join(temp.path, name, link));
    const isOver = PAGES[name]?.[1]?.finishedAt !== null;
    const isOpen = PAGES[name]?.[0].some(
      ({ deadLetter }) => deadLetter && deadLetter.closed === undefined,
    );
    expect(links.includes('fix.xlsx')).toBe(isOver && isOpen);
  });
});

it.each(['wide', 'paper'])(
  'the first columns of every card are at the same place: %s',
  async (look) => {
    const page = await browser.show(
      path.join(temp.path, 'columns', 'report.html'),
      LOOKS[look] ?? { width: 0, height: 0 },
    );
    const places = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.group > table')].map((one) => [...one.querySelectorAll('tbody tr:first-child td')].slice(0, 2).map((td) => { const { left, right } = td.getBoundingClientRect(); return left.toFixed() + ' to ' + right.toFixed(); }).join(', '))`,
    );
    expect(places.length).toBeGreaterThan(5);
    expect([...new Set(places)]).toHaveLength(1);
  },
);

it('shows times in the zone of the reader, with UTC on hover', async () => {
  const page = await browser.show(path.join(temp.path, 'well', 'report.html'), {
    width: 1280,
    height: 900,
  });
  const [shown, title] = await page.evaluate<string[]>(
    `(() => { const time = document.querySelector('.lead time'); return [time.textContent, time.title]; })()`,
  );
  expect(title).toBe('2026-11-21 07:15:00 UTC');
  expect(shown).toMatch(/^2026-11-21 \d\d:15:00 (?:UTC|GMT[+-]\d+)$/);
  expect(await page.evaluate(`document.querySelector('[data-zone]').textContent`)).not.toBe('');
});

it('on a phone every part of a value is to the right of its label', async () => {
  const page = await browser.show(path.join(temp.path, 'fixed', 'report.html'), {
    width: 390,
    height: 844,
  });
  const lefts = await page.evaluate<number[]>(
    `[...document.querySelectorAll('.wide td > div, .wide td .item, .wide td time')].map((one) => one.getBoundingClientRect().left)`,
  );
  expect(lefts.length).toBeGreaterThan(10);
  expect(Math.min(...lefts)).toBeGreaterThan(100);
});

it('prints what a screen shows after a click', async () => {
  const page = await browser.show(path.join(temp.path, 'fixed', 'report.html'), {
    width: 720,
    height: 1000,
    paper: true,
  });
  const heights = await page.evaluate<number[]>(
    `[...document.querySelectorAll('details tr')].map((one) => one.getBoundingClientRect().height)`,
  );
  expect(heights.length).toBeGreaterThan(3);
  expect(Math.min(...heights.slice(1))).toBeGreaterThan(5);
});
