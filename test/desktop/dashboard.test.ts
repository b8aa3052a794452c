import axe from 'axe-core';
import { expect, it } from 'vitest';
import { openOperator } from '../support/operator.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';
import { openBrowser, type Shown } from './browser.ts';

/** The state that the header shows. */
const HEADER = `document.querySelector('#state').innerText.replace(/\\s+/g, ' ')`;

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';

it('a one-time link signs in; the page follows a pause, ends it by its button, and its policy stops nothing', async () => {
  await using place = await openWorkplace();
  const daemon = place.start(['start']);
  await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
  const link = await until('the link', async () => {
    return (JSON.parse((await place.run(['dashboard', '--json'])).out) as { url?: string }).url;
  });
  await using browser = await openBrowser();
  const page = await browser.show(link, { width: 1200, height: 900 });
  const shows = (text: string) =>
    until(`the page shows ${text}`, () =>
      page.evaluate<boolean>(`document.body.innerText.includes(${JSON.stringify(text)})`),
    );

  await shows('may operate');
  expect(await page.evaluate('location.pathname + location.hash')).toBe('/');
  await until('the page follows the state', () =>
    page.requests.some((url) => url.endsWith('/api/v1/status')),
  );
  await place.run(['pause', '--reason', 'stock-taking']);
  await shows('stock-taking');
  await place.drop('orders.csv', csvOf(20));
  await shows('orders.csv');
  await page.evaluate(
    `document.querySelector('form[action="/environment/resume"] button').click()`,
  );
  await shows('Delivery is running.');
  await until('every order is stored', () => place.stored().size === 20);
  await shows('None. See all batches.');
  expect(page.complaints).toEqual([]);
  expect(
    page.requests.filter(
      (url) => !url.startsWith(new URL(link).origin) && !url.startsWith('data:'),
    ),
  ).toEqual([]);
});

it('a page that is open says of an API that is away what the server says, without words of the network', async () => {
  await using place = await openWorkplace();
  const daemon = place.start(['start']);
  const port = await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
  await place.drop('first.csv', csvOf(1));
  await until('the first order', () => place.stored().size === 1);
  await using browser = await openBrowser();
  const page = await browser.show(`http://127.0.0.1:${port}/environment`, {
    width: 1200,
    height: 900,
  });
  await shows(page, 'Delivering');
  await place.api[Symbol.asyncDispose]();
  await place.drop('waits.csv', csvOf(2).replaceAll('PO-', 'NEXT-'));
  await shows(page, 'the order API cannot be reached');
  expect(await page.evaluate(HEADER)).toMatch(
    /^Paused since .*\d.*: the order API cannot be reached$/,
  );
  const again = await browser.show(`http://127.0.0.1:${port}/environment`, {
    width: 1200,
    height: 900,
  });
  await until(
    'the server says the same',
    async () => (await again.evaluate(HEADER)) === (await page.evaluate(HEADER)),
  );
  expect(await page.evaluate('document.body.innerText')).not.toContain('ECONN');
});

const shows = (page: Shown, text: string) =>
  until(`the page shows ${text}`, () =>
    page.evaluate<boolean>(`document.body.innerText.includes(${JSON.stringify(text)})`),
  );

it('the times of an open overview continue without loading it again, and its header follows', async () => {
  await using place = await openWorkplace();
  const daemon = place.start(['start']);
  const port = await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
  await place.run(['pause', '--reason', 'stock-taking']);
  await place.drop('orders.csv', csvOf(2));
  await using browser = await openBrowser();
  const page = await browser.show(`http://127.0.0.1:${port}/`, { width: 1200, height: 900 });
  await shows(page, 'Orders that wait');
  await until('a first reading that nothing loads again', () =>
    page.evaluate<boolean>('window.isRead = true'),
  );
  const ages = `[...document.querySelectorAll('main .box, main table td')].map((part) => part.innerText)
    .filter((text) => / (?:s|min)\\b/.test(text))`;
  const first = await page.evaluate<string[]>(ages);
  expect(first.join()).toMatch(
    /Paused since .* \((?:\d+|less than 1) s ago\) by .*: stock-taking.*orders\.csv.* ago/s,
  );
  const stated = await page.evaluate<string>(HEADER);
  expect(stated).toMatch(/^Paused since .*\d.* by .*: stock-taking$/);
  await until('other times', async () => {
    const now = await page.evaluate<string[]>(ages);
    return now.length === first.length && now.every((text, i) => text !== first[i]);
  });
  expect(await page.evaluate(HEADER)).toBe(stated);
  await page.evaluate('document.querySelector("#state").textContent = "Paused before"');
  await until('the header follows the box', async () => (await page.evaluate(HEADER)) === stated);
  expect(await page.evaluate('window.isRead')).toBe(true);
});

it('the figures of an open overview are of one moment while orders are sent', async () => {
  const faults = { faults: [{ kind: 'delay', by: '50ms' }] };
  await using place = await openWorkplace({ faults, delivery: ', concurrency: 4' });
  const daemon = place.start(['start']);
  const port = await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
  await place.drop('long.csv', csvOf(2000));
  await until('the first orders', () => place.stored().size > 0);
  await using browser = await openBrowser();
  const page = await browser.show(`http://127.0.0.1:${port}/`, { width: 1200, height: 900 });
  await shows(page, 'long.csv');
  const seen = new Set<string>();
  await until('several figures', async () => {
    const cells = `['done', 'accepted'].map((name) => document.querySelector('td[data-title=' + name + ']')?.innerText.trim())`;
    const [done, accepted] = await page.evaluate<(string | null)[]>(cells);
    if (done && accepted) expect(done).toMatch(new RegExp(`^${accepted} of 2,000`));
    seen.add(String(accepted));
    return seen.size >= 4;
  });
});

it('the figures of an open page of a batch are of one moment', async () => {
  const faults = { faults: [{ kind: 'delay', by: '200ms' }] };
  await using place = await openWorkplace({ faults, delivery: ', concurrency: 1' });
  const daemon = place.start(['start']);
  const port = await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
  await place.drop('long.csv', csvOf(2000));
  await until('the first orders', () => place.stored().size > 0);
  const batch = (await place.reportsNow())[0]?.batch;
  await using browser = await openBrowser();
  const page = await browser.show(`http://127.0.0.1:${port}/batches/${batch}`, {
    width: 1200,
    height: 900,
  });
  await shows(page, 'Outcomes');
  const seen = new Set<string>();
  await until('several figures', async () => {
    const [done = '', bar, accepted] = await page.evaluate<(string | undefined)[]>(`[
      document.querySelector('.progress')?.innerText.trim(),
      String(document.querySelector('.progress progress')?.value),
      document.querySelector('td[data-title=orders]')?.innerText.trim(),
    ]`);
    if (!accepted) return false;
    expect([done, bar]).toEqual([`${accepted} of 2,000`, accepted]);
    seen.add(accepted);
    return seen.size >= 4;
  });
});

it('a spreadsheet has the times of its page', async () => {
  await using place = await openWorkplace();
  const daemon = place.start(['start']);
  const port = await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
  await place.drop('list.xlsx.csv', csvOf(2).replace(/,\d+\n$/, ',none\n'));
  await until('the report', async () => (await place.reportsNow())[0]?.open === 1);
  await using browser = await openBrowser();
  const page = await browser.show(`http://127.0.0.1:${port}/dead-letters`, {
    width: 1200,
    height: 900,
  });
  const others = `[...document.querySelectorAll('a[href*="list.xlsx"]')].map((link) => link.search).join()`;
  const zone = await until('the zone of the download', () =>
    page.evaluate<string | false>(
      `new URL(document.querySelector('a[href*=".xlsx"]')?.href ?? 'http://a').searchParams.get('zone') ?? false`,
    ),
  );
  expect(zone).toBe(
    await page.evaluate<string>('Intl.DateTimeFormat().resolvedOptions().timeZone'),
  );
  // The page of a batch whose name contains that of a workbook takes no such parameter.
  expect(await page.evaluate<string>(others)).not.toContain('zone');
});

/** What the plots show: their pixels, and what a screen reader says. */
const PLOTS = `[...document.querySelectorAll('.plots canvas')].map((canvas) => [
  canvas.toDataURL(),
  canvas.getAttribute('aria-label'),
])`;

it('the plots move while a batch runs, and the page says so while Redis or the daemon is not reachable, and recovers', async () => {
  await using redis = await startTestRedis();
  await using place = await openWorkplace({ redis: redis.url });
  const daemon = place.start(['start']);
  const port = await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
  await using browser = await openBrowser();
  const page = await browser.show(`http://127.0.0.1:${port}/?minutes=5`, {
    width: 1200,
    height: 900,
  });
  const plots = () => page.evaluate<[pixels: string, label: string][]>(PLOTS);
  const before = await until('three plots', async () => {
    const found = await plots();
    return found.length === 3 && found.every(([, label]) => label !== null) && found;
  });
  expect(before[0]?.[1]).toMatch(/^Orders per second: (?:0|–) and (?:0|–) at the end$/);
  const orders = csvOf(300).replaceAll('PO-', 'FIRST-');
  await place.drop('orders.csv', orders);
  await until('accepted orders', async () =>
    /^(?!0|–)/.test(await page.evaluate('document.querySelector("[data-pace]").textContent')),
  );
  // Loading the page again, because a batch ended, draws them again.
  const after = await until('the plots moved', async () => {
    const found = await plots();
    return (
      /^Answer time of the API, ms: [\d.]+ and [\d.]+ at the end$/.test(found[1]?.[1] ?? '') &&
      found
    );
  });
  for (const i of [0, 1, 2]) expect(after[i]?.[0], String(i)).not.toBe(before[i]?.[0]);

  await redis.kill();
  await shows(page, 'Redis is not reachable');
  await redis.restart();
  await shows(page, 'Delivering');
  await until('plots after the page was loaded again', async () => (await plots()).length === 3);
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  await shows(page, 'No connection to this daemon');
  expect(page.complaints.filter((one) => !/Failed to load resource/.test(one))).toEqual([]);
});

it('no page has a serious fault for people who use a screen reader or a keyboard, in either theme', async () => {
  const faults = [
    { kind: 'answer', status: 400, message: 'articleCode X-9 is invalid', orders: ['PO-3'] },
  ];
  await using place = await openWorkplace({ faults: { faults } });
  const daemon = place.start(['start']);
  const port = await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
  await place.drop(
    'orders.csv',
    `${[HEAD, 'PO-1,NEW,A,1', 'PO-3,NEW,X-9,1', 'PO-4,NEW,B,none'].join('\n')}\n`,
  );
  const batch = await until(
    'the report',
    async () => (await place.reportsNow()).find((one) => one.finishedAt)?.batch,
  );
  const link = (JSON.parse((await place.run(['dashboard', '--json'])).out) as { url: string }).url;
  await using browser = await openBrowser();
  const first = await browser.show(link, { width: 1200, height: 900 });
  await shows(first, 'may operate');
  const listed = await first.evaluate<string[]>(
    "[...document.querySelectorAll('nav a')].map((one) => one.pathname)",
  );
  const id = encodeURIComponent(`${batch}~line 3`);
  const pages = [
    ...listed,
    `/batches/${batch}`,
    `/dead-letters/${id}`,
    '/order?number=PO-3',
    '/order?number=none',
    '/login',
  ];
  expect(pages.length).toBeGreaterThan(9);
  const found: unknown[] = [];
  for (const path of pages) {
    for (const dark of [false, true]) {
      const width = path === '/' && dark ? 390 : 1200;
      const page = await browser.show(`http://127.0.0.1:${port}${path}`, {
        width,
        height: 900,
        dark,
      });
      await until('the page is built', () =>
        page.evaluate<boolean>("!document.body.innerText.includes('One moment')"),
      );
      // The policy of the page allows no script of ours; the protocol of the browser does.
      await page.evaluate(
        `${axe.source}; axe.run().then((result) => { window.found = result.violations; }); 0`,
      );
      const violations = await until('axe', () =>
        page.evaluate<Violation[] | undefined>('window.found'),
      );
      const serious = violations.filter(
        ({ impact }) => impact === 'serious' || impact === 'critical',
      );
      found.push(
        ...serious.map(({ id, nodes }) => [path, dark, id, nodes.map(({ html }) => html)]),
      );
    }
  }
  expect(found).toEqual([]);
});

type Violation = { id: string; impact: string; nodes: { html: string }[] };

it('no page is wider than a phone, no very long word hides another column, and what acts is not printed', async () => {
  await using place = await openWorkplace();
  const word = 'Übernahme2026'.repeat(12);
  const rows = [`${word},NEW,${word},none`, 'PO-1,NEW,A,1'];
  const person = await openOperator(place, place.start(['start']));
  await place.drop(`${'long-'.repeat(20)}.csv`, `${[HEAD, ...rows].join('\n')}\n`);
  await place.drop('letter.csv', 'no columns\n');
  await until(
    'two reports',
    async () => (await place.reportsNow()).filter((one) => one.finishedAt).length === 2,
  );
  const reports = await place.reportsNow();
  const [batch, unreadable] = ['long-', 'letter'].map(
    (name) => reports.find(({ file }) => file.startsWith(name))?.batch,
  );
  await using browser = await openBrowser();
  await shows(await browser.show(await person.link(), { width: 1200, height: 900 }), 'may operate');
  const pages = ['/', '/batches', `/batches/${batch}`, '/dead-letters', '/upload'];
  const letter = `/dead-letters/${encodeURIComponent(`${batch}~line 2`)}`;
  for (const path of [...pages, letter]) {
    for (const width of [390, 1280]) {
      const page = await browser.show(`http://127.0.0.1:${person.port}${path}`, {
        width,
        height: 900,
      });
      await until('the page is built', () =>
        page.evaluate<boolean>("!document.body.innerText.includes('One moment')"),
      );
      expect([path, width, await page.evaluate(WIDER)]).toEqual([path, width, []]);
    }
    const paper = await browser.show(`http://127.0.0.1:${person.port}${path}`, {
      width: 720,
      height: 900,
      paper: true,
    });
    const printed = `[...document.querySelectorAll('nav, button')].filter((one) => one.checkVisibility()).length`;
    expect([path, await paper.evaluate(printed)]).toEqual([path, 0]);
    expect([path, await paper.evaluate(WIDER)]).toEqual([path, []]);
  }
  const filtered = `http://127.0.0.1:${person.port}/dead-letters?q=bernahme&kind=invalid`;
  const paper = await browser.show(filtered, { width: 720, height: 900, paper: true });
  await shows(paper, 'needs a person');
  expect(await paper.evaluate(PRINTED_FIELDS)).toEqual(['q', 'kind']);
  await shows(paper, 'as of ');
  const list = await browser.show(`http://127.0.0.1:${person.port}/batches`, {
    width: 720,
    height: 900,
    paper: true,
  });
  const age = `getComputedStyle(document.querySelector('time[data-ago]'), '::after').content`;
  expect(await until('the list', () => list.evaluate<string>(age))).toMatch(/20\d\d/);
  expect((await person.page(`/batches/${unreadable}`)).text).not.toMatch(
    /<h2>(?:Outcomes|Orders)</,
  );
  expect((await person.page('/batches')).text).toMatch(/<span class="badge doubt">finished/);
});

/** Filters that are seen: a printed list says what it leaves out. */
const PRINTED_FIELDS = `[...document.querySelectorAll('.filters label :is(input, select)')].filter((one) => one.checkVisibility()).map(({ name }) => name)`;

/** Parts that a person must scroll sideways, without code and configuration. */
const WIDER = `[document.documentElement, ...document.querySelectorAll('.scroll, select, .act')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 || one.getBoundingClientRect().right > innerWidth + 1)
  .map(({ outerHTML }) => outerHTML.slice(0, 200))`;

it('on a phone, the menu shows all pages, and takes less than a fifth of the screen', async () => {
  await using place = await openWorkplace();
  const daemon = place.start(['start']);
  const port = await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
  await using browser = await openBrowser();
  for (const path of ['/', '/sources', '/for-clerks']) {
    const page = await browser.show(`http://127.0.0.1:${port}${path}`, { width: 390, height: 844 });
    const [header, end, wide] = await page.evaluate<[number, number, number]>(`[
      document.querySelector('header').offsetHeight,
      Math.max(...[...document.querySelectorAll('nav a')].map((one) => one.getBoundingClientRect().right)),
      document.documentElement.scrollWidth,
    ]`);
    expect(header).toBeLessThan(844 / 5);
    expect(end).toBeLessThanOrEqual(390);
    expect(wide).toBe(390);
  }
});
