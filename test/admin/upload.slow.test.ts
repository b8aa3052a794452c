import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { goodOrder } from '../support/open-sandbox.ts';
import { type Operator, openOperator } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';

let place: Workplace;
let person: Operator;

beforeAll(async () => {
  place = await openWorkplace();
  person = await openOperator(place, place.start(['start']));
  await place.drop('first.csv', `${HEAD}\nPO-1,NEW,A,1\nPO-2,NEW,A,1\n`);
  await until('the first orders', () => place.stored().size === 2);
  await until('their ledger', async () => (await place.reportsNow())[0]?.state === 'finished');
});
afterAll(() => place[Symbol.asyncDispose]());

const uploads = () => readdir(path.join(place.folder, 'data', 'uploads')).catch((): string[] => []);
type Upload = Awaited<ReturnType<Operator['upload']>>;

/** Submits what was previewed; what the page says then. */
async function send({ to, plan }: Upload): Promise<string> {
  const answer = await person.submit(`${to}/send`, { plan });
  return (await person.page(answer.headers.get('location') ?? '')).text;
}
const remove = ({ to }: Pick<Upload, 'to'>) => person.submit(`${to}/cancel`, {});
const explained = async (order: string) =>
  (await person.call('GET', `/explain?order=${order}`)).body;

it('a preview counts new, duplicate, conflict and invalid, sends nothing, and what was previewed is sent once', async () => {
  const rows = ['PO-1,NEW,A,1', 'PO-2,NEW,A,9', 'PO-3,NEW,A,1', 'PO-4,NEW,A,none', 'PO-5,NEW,B,2'];
  const content = `${[HEAD, ...rows].join('\n')}\n`;
  const name = 'file=..%2F..%2Fwon%C2%ADder.csv';
  const { body: preview } = await person.file(`dryRun=true&${name}`, content);
  expect(preview).toMatchObject({
    file: 'won-der.csv',
    source: 'inbox',
    orders: 5,
    new: 2,
    duplicate: 1,
    conflict: 1,
    invalid: 1,
    waiting: 0,
    list: 'ok',
    problems: [{ purchaseOrderNumber: 'PO-4', field: 'quantity', value: 'none' }],
    toSend: [{ purchaseOrderNumber: 'PO-3' }, { purchaseOrderNumber: 'PO-5' }],
  });
  const upload = await person.upload('../../won\u00adder.csv', content);
  expect(place.stored().size).toBe(2);
  expect((await uploads()).length).toBe(1);
  expect(upload.text).toMatch(/<b>2<\/b>new: will be sent/);
  expect(upload.text).toContain('2 orders need a person and can be corrected.');
  expect(upload.text).toMatch(/<dt>format<\/dt><dd>CSV, delimiter .*, utf-8<\/dd>/);
  expect(await send({ ...upload, plan: '0' })).toContain('changed since the preview');
  const answers = await Promise.all([send(upload), send(upload)]);
  expect(answers.filter((text) => text.includes('is submitted as batch')).length).toBe(1);
  await until('the orders', () => place.stored().size === 4);
  const { batch, ...report } = await until('the report', async () => {
    return (await place.reportsNow()).find(
      (one) => one.file === 'won-der.csv' && one.state === 'finished',
    );
  });
  expect(report.counts).toMatchObject({ accepted: 2, duplicate: 1, conflict: 1, invalid: 1 });
  expect([...place.stored().values()]).toEqual([1, 1, 1, 1]);
  expect(await uploads()).toEqual([]);
  expect((await person.page(upload.to)).status).toBe(404);

  const who = report.by ?? '';
  expect(who).not.toBe('');
  expect(await explained('PO-3')).toMatchObject({
    accepted: { batch, by: who },
    appearances: [{ batch, by: who }],
  });
  expect(await explained('PO-4')).toMatchObject({ appearances: [{ batch, by: who }] });
  expect((await explained('PO-1'))['accepted']).not.toHaveProperty('by');
  for (const page of [`/order?number=PO-3`, '/order?number=PO-4']) {
    expect((await person.page(page)).text).toContain(`, line `);
    expect((await person.page(page)).text).toContain(`, submitted by ${who}`);
  }
  const shown = await until('the lists', async () => {
    const { status, text } = await person.page(`/batches/${batch}`);
    return status === 200 && text;
  });
  expect(shown).toMatch(new RegExp(`submitted by</dt>\\s*<dd>${who}`));
  expect((await place.run(['explain', 'PO-3'])).out).toContain(`, submitted by ${who}`);
});

it('a stored file that somebody changed since its preview is not sent', async () => {
  const upload = await person.upload('changed.csv', `${HEAD}\nPO-70,NEW,A,1\n`);
  const [folder = ''] = await uploads();
  const stored = path.join(place.folder, 'data', 'uploads', folder, 'changed.csv');
  await writeFile(
    stored,
    (await readFile(stored, 'utf8')).replace('PO-70,NEW,A,1', 'PO-70,NEW,A,1 '),
  );
  expect(await send(upload)).toContain('The file or the ledger changed since the preview');
  expect(place.stored().has('PO-70')).toBe(false);
  await remove(upload);
});

it('when the ledger changed since the preview, nothing is sent and a new preview is shown', async () => {
  const content = `${HEAD}\nPO-11,NEW,A,1\nPO-12,NEW,A,1\n`;
  const { body: before } = await person.file('dryRun=true&file=later.csv', content);
  const upload = await person.upload('later.csv', content);
  expect(before).toMatchObject({ new: 2 });
  await place.drop('between.csv', `${HEAD}\nPO-11,NEW,A,7\n`);
  await until('the other order', () => place.stored().has('PO-11'));
  const late = await person.file(`file=later.csv&plan=${String(before['id'])}`, content);
  expect([late.status, late.body['code']]).toEqual([409, 'preview-outdated']);
  expect(await send(upload)).toContain('Orders changed after');
  expect(place.stored().has('PO-12')).toBe(false);
  const { text } = await person.page(upload.to);
  expect(text).toMatch(/<b>1<\/b>new: will be sent/);
  const plan = /name="plan" value="(\w+)"/.exec(text)?.[1] ?? '';
  expect(await send({ ...upload, plan })).toContain('is submitted as batch');
  await until('the order', () => place.stored().has('PO-12'));
});

it('a file is sent by a command, exactly as its dry run showed it', async () => {
  const file = path.join(place.folder, 'by hand.csv');
  await writeFile(file, `${HEAD}\nPO-61,NEW,A,1\nPO-62,NEW,A,none\n`);
  const words = ['batches', 'send', 'by hand.csv', '--json'];
  const dry = await place.run([...words, '--dry-run']);
  const { id } = JSON.parse(dry.out) as { id: string };
  expect([dry.code, place.stored().has('PO-61')]).toEqual([2, false]);
  const shown = await place.run(['batches', 'send', 'by hand.csv', '--dry-run']);
  expect(shown.out).toMatch(/1 {2}new: would be sent\n.*1 {2}invalid.*line:3: quantity/s);
  expect((await place.run([...words, '--yes', '--plan', 'other'])).out).toContain(
    'preview-outdated',
  );
  const sent = await place.run([...words, '--yes', '--plan', id]);
  expect(JSON.parse(sent.out)).toMatchObject({ file: 'by hand.csv', new: 1 });
  await until('the order', () => place.stored().get('PO-61') === 1);
  expect(await readFile(file, 'utf8')).toContain('PO-61');
  expect(await uploads()).toEqual([]);
});

it('an order that only the list of the API has is not sent', async () => {
  await place.api.create(goodOrder('PO-21'), await place.api.token());
  const [{ articleCode = '', quantity = 0 } = {}] = (goodOrder('PO-21')['items'] ?? []) as {
    articleCode?: string;
    quantity?: number;
  }[];
  const content = `${HEAD}\nPO-21,NEW,${articleCode},${quantity}\nPO-22,NEW,A,1\n`;
  const upload = await person.upload('l.csv', content);
  expect(upload.text).toMatch(/<b>1<\/b>new: .*<b>1<\/b>duplicate/);
  expect(await send(upload)).toContain('is submitted as batch');
  await until('the other order', () => place.stored().has('PO-22'));
  expect([(await explained('PO-21'))['state'], place.stored().get('PO-21')]).toEqual([
    'accepted',
    1,
  ]);
});

it('the preview of a file that has only a header says so, and has nothing to send', async () => {
  const upload = await person.upload('header.csv', `${HEAD}\n`);
  const { text } = upload;
  expect(text).toContain('This file has no orders. There is nothing to send.');
  expect(text).toContain('Remove the file</button>');
  expect(text).not.toContain('Submit without new orders');
  await remove(upload);
});

it('cancelling removes the file; it is unknown then', async () => {
  const upload = await person.upload('a.csv', `${HEAD}\nPO-31,NEW,A,1\n`);
  await remove(upload);
  expect(await uploads()).toEqual([]);
  expect(await send(upload)).toContain('Upload not found.');
});

it.each([
  ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), /^unreadable-/],
  ['a page', '<!doctype html><title>x</title>', /^unreadable-/],
  ['a gzip of nothing that grows', gzipSync(Buffer.alloc(32 * 1024 * 1024)), /^unreadable-/],
  [
    'a truncated workbook',
    Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(200)]),
    /^unreadable-/,
  ],
])('%s is stored, is not read as orders, and cannot be sent', async (_, content, code) => {
  const upload = await person.upload('x.csv', content);
  expect(upload.text).toContain('role="alert"');
  expect([upload.to, await uploads()]).toEqual(['', []]);
  const { status, body } = await person.file('file=x.csv', content);
  expect([status, body['code']]).toEqual([expect.any(Number), expect.stringMatching(code)]);
});

it('a file that its source does not read comes with a mapping for it, as text', async () => {
  const rows = ['4711,<b>A-1,2,x', '4712,<b>A-2,3,y', '4713,<b>A-1,4,x'];
  const upload = await person.upload(
    'other.csv',
    `Bestellnummer,Artikelnummer,Menge,Status\n${rows.join('\n')}\n`,
  );
  const { text } = upload;
  expect(text).toMatch(/Bestellnummer: +\{ is: purchaseOrderNumber, like: /);
  expect(text).toContain('A mapping for this file');
  expect(text).not.toContain('<b>A-');
  await remove(upload);
});

it('the preview of a file with a column that nobody declared says that it would wait, with its values', async () => {
  const upload = await person.upload('more.csv', `${HEAD},plant\nPO-88,NEW,A,1,N\n`);
  const { text } = upload;
  expect(text).toContain('The file would wait: its mapping does not declare');
  expect(text).toContain('plant: ignore # 1× &quot;N&quot;');
  await remove(upload);
});

it('what is empty, too large, or for no source is refused and leaves nothing', async () => {
  for (const [query, content, code] of [
    ['file=x.csv', '', 'upload-empty'],
    ['file=x.csv&source=frob', 'a', 'source-unknown'],
    ['file=x.csv', Buffer.alloc(64 * 1024 * 1024 + 1, 'a'), 'upload-too-large'],
  ] as const)
    expect((await person.file(query, content)).body['code']).toBe(code);
  expect((await person.upload('x.csv', '')).text).toContain('The file is empty.');
  expect(await uploads()).toEqual([]);
});

it('in a protected environment nothing is sent without its name', async () => {
  await using guarded = await openWorkplace({ env: { PO_SYNC_CONFIRM: 'staging' } });
  const config = await readFile(guarded.config, 'utf8');
  await writeFile(guarded.config, config.replace('{ baseUrl:', '{ protected: true, baseUrl:'));
  const one = await openOperator(guarded, guarded.start(['start']));
  const content = `${HEAD}\nPO-41,NEW,A,1\n`;
  const upload = await one.upload('a.csv', content);
  for (const confirm of ['', 'production']) {
    const { status, body } = await one.file(`file=a.csv&confirm=${confirm}`, content);
    expect([status, body['code']]).toEqual([403, 'confirmation-missing']);
    await one.submit(`${upload.to}/send`, { plan: upload.plan, confirm });
  }
  expect((await one.page(upload.to)).text).toContain(`value="${upload.plan}"`);
  expect(guarded.stored().size).toBe(0);
  await one.submit(`${upload.to}/send`, { plan: upload.plan, confirm: 'staging' });
  await until('the order', () => guarded.stored().has('PO-41'));
});

it('of uploads that arrive at once, the last ones are kept', async () => {
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      person.upload(`at-once-${n}.csv`, `${HEAD}\nPO-8${n},NEW,A,1\n`),
    ),
  );
  expect(await uploads()).toHaveLength(20);
  await Promise.all(answers.filter(({ plan }) => plan !== '').map(remove));
});

it('the page uploads without JavaScript, and shows no markup or hidden character of a name', async () => {
  const form = new FormData();
  form.set('source', 'inbox');
  form.set('file', new Blob([`${HEAD}\n"=<b>\u202e",NEW,A,x\n`]), '<img src=x>\u202e.csv');
  const answer = await fetch(`http://127.0.0.1:${person.port}/upload`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: person.cookie, 'sec-fetch-site': 'same-origin' },
    body: form,
  });
  const to = answer.headers.get('location') ?? '';
  expect([answer.status, to]).toEqual([303, expect.stringMatching(/^\/upload\/[0-9a-f-]{36}$/)]);
  const { text } = await until('the preview', async () => {
    const page = await person.page(to);
    return page.text.includes('is being checked') ? undefined : page;
  });
  expect(text).toContain('<b>1</b>invalid');
  expect(text).not.toMatch(/<img|<b>\\|\u202e/);
  const removed = await person.submit(`${to}/cancel`, { back: '/upload' });
  expect(removed.status).toBe(303);
});
