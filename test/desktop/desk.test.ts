import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openOperator } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';
import { openBrowser, type Shown } from './browser.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';
const PICTURES = process.env['PICTURES'];

/** Saves what a person sees, where somebody asked for it. */
async function picture(page: Shown, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  await page.picture(path.join(PICTURES, `${name}.png`));
}

it('a file is uploaded, previewed and sent; a dead letter is found by its article, corrected in the page, accepted, closed', async () => {
  const faults = [
    { kind: 'answer', status: 400, message: 'articleCode ART-7 is unknown', articles: ['ART-7'] },
  ];
  await using place = await openWorkplace({ faults: { faults } });
  const person = await openOperator(place, place.start(['start']));
  const link = await person.link();
  const origin = new URL(link).origin;
  await using browser = await openBrowser();
  const page = await browser.show(link, { width: 1200, height: 900 });
  const shows = (text: string) =>
    until(`the page shows ${text}`, () =>
      page.evaluate<boolean>(`document.body?.innerText.includes(${JSON.stringify(text)}) ?? false`),
    );
  const open = (to: string) => page.evaluate(`location.assign(${JSON.stringify(to)})`);
  const press = (selector: string) =>
    page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);

  await shows('may operate');
  await open('/upload');
  await shows('The upload sends nothing.');
  await picture(page, 'upload');
  const rows = ['PO-1,NEW,ART-1,1', 'PO-2,NEW,ART-7,3', 'PO-3,NEW,ART-3,2', 'PO-4,NEW,ART-4,none'];
  // A person chooses the file in a dialog of the browser.
  await page.evaluate(`(() => {
    const chosen = new DataTransfer();
    chosen.items.add(new File([${JSON.stringify(`${[HEAD, ...rows].join('\n')}\n`)}], 'orders of anna.csv'));
    document.querySelector('input[type=file]').files = chosen.files;
    document.querySelector('form[enctype] button').click();
  })()`);
  await shows('3 of 4 orders of orders of anna.csv will be sent.');
  await picture(page, 'preview');
  expect(place.stored().size).toBe(0);
  await press('form[action$="/send"] button');
  await shows('shows what became of each order');
  await until('the orders', () => place.stored().size === 2);

  await open('/dead-letters?q=art-7');
  await until('the dead letter', async () => {
    const { body } = await person.call('GET', '/dead-letters?q=art-7');
    return body['total'] === 1 && !JSON.stringify(body['items']).includes('~#');
  });
  await open('/dead-letters?q=art-7');
  await shows('1 order needs a person.');
  await picture(page, 'dead-letters');
  await press('a[href^="/dead-letters/"][href*="line"]');
  await shows('Send the correction');
  await picture(page, 'fix');
  await page.evaluate(`document.querySelector('input[value="3"]').value = 'five'`);
  await press('button[value=check]');
  await shows('was: 3');
  await picture(page, 'fix-checked');
  await page.evaluate(`document.querySelector('input[aria-invalid]').value = '5'`);
  await page.evaluate(`document.querySelector('input[value="ART-7"]').value = 'ART-8'`);
  await press('button[value=send]');
  await shows('Settled: accepted');
  await picture(page, 'fix-closed');
  expect(place.stored().get('PO-2')).toBe(1);
  await open('/order?number=PO-2');
  await shows('corrected by');
  await until('the changes', async () =>
    (await person.page('/order?number=PO-2')).text.includes('quantity: 3'),
  );
  await open('/order?number=PO-2');
  await shows('quantity: 3 → 5');
  await picture(page, 'order');
  await until('the list', async () =>
    (await person.page('/corrections')).text.includes('articleCode: ART-7'),
  );
  await open('/corrections');
  await shows('articleCode: ART-7 → ART-8');
  await picture(page, 'corrections');
  expect(page.complaints.filter((text) => !/\b(?:422|503)\b/.test(text))).toEqual([]);
  expect(
    page.requests.filter((url) => !url.startsWith(origin) && !url.startsWith('data:')),
  ).toEqual([]);

  if (PICTURES === undefined) return;
  await place.drop('more.csv', `${HEAD}\nPO-8,NEW,<b>X</b>,1.5\nPO-8,NEW,A,\nPO-9,NEW,B,none\n`);
  const id = await until('the dead letter', async () => {
    const { body } = await person.call('GET', '/dead-letters?q=PO-8');
    return ((body['items'] ?? []) as { id: string }[]).find((one) => !one.id.includes('~#'))?.id;
  });
  const upload = await person.upload(
    'name=more.csv',
    `${HEAD}\nPO-1,NEW,A,9\nPO-20,NEW,A,1\nPO-21,NEW,A,x\n`,
  );
  const plan = await person.call('POST', '/plans', { action: 'discard' });
  for (const [look, size] of [
    ['dark', { width: 1200, height: 900, dark: true }],
    ['phone', { width: 390, height: 800 }],
  ] as const) {
    for (const [name, to] of [
      ['upload', '/upload'],
      ['preview', `/upload/${String(upload['id'])}`],
      ['fix', `/dead-letters/${encodeURIComponent(id)}`],
      ['dead-letters', '/dead-letters'],
      ['corrections', '/corrections'],
      ['order', '/order?number=PO-2'],
      ['plan', `/plans/${String(plan.body['id'])}`],
    ] as const) {
      const shown = await browser.show(`${origin}${to}`, size);
      await picture(shown, `${name}-${look}`);
    }
  }
  await writeFile(path.join(PICTURES, 'done'), '');
});
