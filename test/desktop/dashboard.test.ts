import { expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';
import { openBrowser } from './browser.ts';

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
  await until('the page follows the state', () => page.requests.some((url) => url.endsWith('/api/v1/status')));
  await place.run(['pause', '--reason', 'stock-taking']);
  await shows('stock-taking');
  await place.drop('orders.csv', csvOf(20));
  await shows('orders.csv');
  await page.evaluate(`document.querySelector('form[action="/environment/resume"] button').click()`);
  await shows('Delivery is running.');
  await until('every order is stored', () => place.stored().size === 20);
  await shows('None. See all batches.');
  expect(page.complaints).toEqual([]);
  expect(page.requests.filter((url) => !url.startsWith(new URL(link).origin) && !url.startsWith('data:'))).toEqual([]);
});
