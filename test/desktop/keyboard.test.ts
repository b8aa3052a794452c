import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import axe from 'axe-core';
import { expect, it } from 'vitest';
import { openOperator } from '../support/operator.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';
import { openBrowser, type Shown } from './browser.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';

const shows = (page: Shown, text: string) =>
  until(`the page shows ${text}`, () =>
    page.evaluate<boolean>(`document.body?.innerText.includes(${JSON.stringify(text)}) ?? false`),
  );

/** Presses Tab until an element has the focus, which must be seen. */
async function tabTo(page: Shown, selector: string): Promise<void> {
  await until(`the focus on ${selector}`, async () => {
    await page.press('Tab');
    return page.evaluate<boolean>(`document.activeElement.matches(${JSON.stringify(selector)})`);
  });
  const outline = "getComputedStyle(document.activeElement).outlineStyle !== 'none'";
  expect([selector, await page.evaluate<boolean>(outline)]).toEqual([selector, true]);
}

async function enterOn(page: Shown, selector: string): Promise<void> {
  await tabTo(page, selector);
  await page.press('Enter');
}

it('by keyboard alone delivery is paused and resumed, a file uploaded and sent, a cell corrected, a plan run', async () => {
  await using place = await openWorkplace();
  const person = await openOperator(place, place.start(['start']));
  await using browser = await openBrowser();
  const page = await browser.show(await person.link(), { width: 1200, height: 900 });
  await shows(page, 'may operate');
  await enterOn(page, 'form[action="/pause"] button');
  await shows(page, 'Resume delivery');
  await enterOn(page, 'form[action="/resume"] button');
  await shows(page, 'Delivery is running.');

  await enterOn(page, 'nav a[href="/upload"]');
  await shows(page, 'The upload sends nothing.');
  const file = path.join(place.folder, 'orders of anna.csv');
  await writeFile(file, `${HEAD}\nPO-1,NEW,A,1\nPO-2,NEW,B,none\nPO-3,NEW,C,none\n`);
  await tabTo(page, 'input[type=file]');
  await page.choose(file);
  await enterOn(page, 'form[enctype] button');
  await shows(page, '1 of 3 orders of orders of anna.csv will be sent.');
  await enterOn(page, 'form[action$="/send"] button');
  await until('the order', () => place.stored().size === 1);
  await until('the dead letters', async () => {
    const { body } = await person.call('GET', '/dead-letters/list');
    const { status } = await person.page('/dead-letters');
    const isRead = !JSON.stringify(body['deadLetters']).includes('"line":0');
    return status === 200 && body['total'] === 2 && isRead;
  });

  await enterOn(page, 'nav a[href="/dead-letters"]');
  await shows(page, '2 orders need a person.');
  await enterOn(page, 'a[href^="/dead-letters/"][href$="-1"]');
  await shows(page, 'Send the correction');
  await tabTo(page, 'input[value="none"]');
  await page.type('7');
  await enterOn(page, 'button[value=send]');
  await shows(page, 'Settled: accepted');
  expect(place.stored().get('PO-2')).toBe(1);

  await enterOn(page, 'nav a[href="/dead-letters"]');
  await shows(page, '1 order needs a person.');
  await enterOn(page, 'button[value=discard]');
  await enterOn(page, 'form[action$="/discard"] button');
  await until(
    'no dead letter',
    async () => (await person.call('GET', '/dead-letters/list')).body['total'] === 0,
  );
  // The policy of the pages stopped nothing.
  expect(page.complaints).toEqual([]);
});

type Item = { id: string; location: { line: number } };

type Violation = { id: string; impact: string; nodes: { html: string }[] };

/** What axe finds on a page that is complete; undefined until it has ended. */
async function examined(page: Shown): Promise<Violation[] | undefined> {
  if (await page.evaluate<boolean>("document.body.innerText.includes('One moment')"))
    return undefined;
  if (!(await page.evaluate<boolean>("'axe' in window")))
    await page.evaluate(
      `${axe.source}; axe.run().then((result) => { window.found = result.violations; }); 0`,
    );
  return await page.evaluate<Violation[] | undefined>('window.found');
}

it('no page has a serious fault, in both themes, on a phone, and while Redis is not reachable', async () => {
  await using redis = await startTestRedis();
  const faults = [
    { kind: 'answer', status: 400, message: 'articleCode X-9 is invalid', orders: ['PO-3'] },
  ];
  await using place = await openWorkplace({ redis: redis.url, faults: { faults } });
  const person = await openOperator(place, place.start(['start']));
  await place.drop(
    'orders.csv',
    `${HEAD}\nPO-1,NEW,A,1\nPO-3,NEW,X-9,1\nPO-4,NEW,<b>B</b>,none\nPO-4,NEW,C,\n`,
  );
  const id = await until('the dead letter', async () => {
    const { body } = await person.call('GET', '/dead-letters/list?order=PO-4');
    const { status } = await person.page('/dead-letters');
    if (status !== 200) return undefined;
    return ((body['deadLetters'] ?? []) as Item[]).find(({ location }) => location.line > 0)?.id;
  });
  const upload = await person.upload(
    'more.csv',
    `${HEAD}\nPO-1,NEW,A,9\nPO-20,NEW,A,1\nPO-21,NEW,A,x\n`,
  );
  const plan = await person.call('POST', '/dead-letters/discard', { dryRun: true });
  await using browser = await openBrowser();
  await shows(await browser.show(await person.link(), { width: 1200, height: 900 }), 'may operate');
  const origin = `http://127.0.0.1:${person.port}`;
  const found: unknown[] = [];

  async function look(to: string): Promise<void> {
    for (const [theme, size] of [
      ['light', { width: 1200, height: 900 }],
      ['dark', { width: 390, height: 800, dark: true }],
    ] as const) {
      const page = await browser.show(`${origin}${to}`, size);
      // A page that waits is loaded again automatically, and then axe starts anew.
      const violations = await until('axe', () => examined(page).catch(() => undefined));
      const serious = violations.filter(
        ({ impact }) => impact === 'serious' || impact === 'critical',
      );
      found.push(...serious.map((one) => [to, theme, one.id, one.nodes.map(({ html }) => html)]));
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (width > size.width) found.push([to, theme, 'wider than the window', width]);
      // A page that is shown keeps a connection, and a browser has six for an address.
      await page.evaluate("location.href = 'about:blank'; 0");
    }
  }

  await look(`/dead-letters/${encodeURIComponent(id)}`);
  await look('/upload');
  await look(upload.to);
  await look(`/plans/${String(plan.body['id'])}`);
  await look('/dead-letters');
  await look('/sources');
  for (const to of ['/', '/batches', '/login']) await look(to);
  await look('/batches/none');
  await look('/order?number=PO-3');
  await redis.kill();
  await until('Redis is not reachable', async () => (await person.page('/upload')).status === 503);
  await look('/dead-letters');
  await look('/');
  await look('/sources');
  expect(found).toEqual([]);
});
