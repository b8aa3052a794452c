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
const send = (upload: Record<string, unknown>, sha256 = upload['sha256']) =>
  person.call('POST', `/uploads/${String(upload['id'])}/send`, { sha256 });

it('a preview counts new, duplicate, conflict and invalid, sends nothing, and what was previewed is sent once', async () => {
  const rows = ['PO-1,NEW,A,1', 'PO-2,NEW,A,9', 'PO-3,NEW,A,1', 'PO-4,NEW,A,none', 'PO-5,NEW,B,2'];
  const upload = await person.upload(
    'source=inbox&name=..%2F..%2Fwon%C2%ADder.csv',
    `${[HEAD, ...rows].join('\n')}\n`,
  );
  expect(upload).toMatchObject({ state: 'ready', name: 'won-der.csv', source: 'inbox' });
  expect(upload['preview']).toMatchObject({
    orders: 5,
    new: 2,
    duplicate: 1,
    conflict: 1,
    invalid: 1,
    waiting: 0,
    conflicts: ['PO-2'],
    differences: [{ purchaseOrderNumber: 'PO-2', items: 'A × 9', known: 'A × 1' }],
    list: 'ok',
    problems: [{ purchaseOrderNumber: 'PO-4', field: 'quantity', value: 'none' }],
    first: { purchaseOrderNumber: 'PO-3' },
  });
  expect(place.stored().size).toBe(2);
  expect((await uploads()).length).toBe(1);

  const page = await person.page(`/upload/${String(upload['id'])}`);
  expect(page.text).toMatch(/<b>2<\/b>new: will be sent/);
  expect(page.text).toContain(
    'the list of the API. po-sync itself knew each duplicate and conflict.',
  );
  expect(page.text).toMatch(
    /data-title="in this file"><div>A × 9<.*data-title="already known"><div>A × 1</,
  );
  expect(page.text).toContain('2 orders need a person and can be corrected.');
  expect(page.text).toContain('<dt>format</dt><dd>CSV, delimiter comma, utf-8</dd>');
  expect((await send(upload, '0'.repeat(64))).body['code']).toBe('upload-other');
  const answers = await Promise.all([send(upload), send(upload)]);
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 409]);
  const batch = String(answers.find(({ status }) => status === 201)?.body['batch']);
  await until('the orders', () => place.stored().size === 4);
  const report = await until('the report', async () => {
    return (await place.reportsNow()).find(
      (one) => one.batch === batch && one.state === 'finished',
    );
  });
  expect(report.counts).toMatchObject({ accepted: 2, duplicate: 1, conflict: 1, invalid: 1 });
  expect([...place.stored().values()]).toEqual([1, 1, 1, 1]);
  expect(await uploads()).toEqual([]);
  // The report is written before the ledger closes the batch, and the page reads the ledger.
  const sent = await until('the end of the batch', async () => {
    const now = await person.page(`/upload/${String(upload['id'])}`);
    return now.text.includes('finished</span>') && now;
  });
  expect(sent.text).toContain('shows what became of each order');
  expect(sent.text).not.toContain('will be sent');
  expect(sent.text).toContain('5/5 orders have an outcome');

  const { body: actions } = await person.call('GET', '/actions?limit=1');
  const who = (actions['items'] as { who: string; what: string }[])[0]?.who ?? '';
  expect([report.by, who === '']).toEqual([who, false]);
  const accepted = (await person.call('GET', '/explain?order=PO-3')).body;
  expect(accepted).toMatchObject({
    accepted: { batch, by: who },
    appearances: [{ batch, by: who }],
  });
  expect((await person.call('GET', '/explain?order=PO-4')).body).toMatchObject({
    appearances: [{ batch, by: who }],
  });
  expect((await person.call('GET', '/explain?order=PO-1')).body['accepted']).not.toHaveProperty(
    'by',
  );
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

it('the page of an upload that was sent says how far it is, and loads again until it is finished', async () => {
  await place.run(['pause', '--reason', 'stock-taking']);
  const upload = await person.upload('name=far.csv', `${HEAD}\nPO-71,NEW,A,1\nPO-72,NEW,A,1\n`);
  await send(upload);
  const load = async () => {
    const reply = await fetch(`http://127.0.0.1:${person.port}/upload/${String(upload['id'])}`, {
      headers: { accept: 'text/html', cookie: person.cookie, connection: 'close' },
    });
    return { refresh: reply.headers.get('refresh'), text: await reply.text() };
  };
  const waiting = await until('what waits', async () => {
    const now = await load();
    return now.text.includes('0/2 orders have an outcome') && now;
  });
  expect(waiting.refresh).toMatch(/^2; url=\/upload\//);
  expect(waiting.text).toMatch(/<a href="\/batches\/[^"]*">The page of far\.csv</);
  await place.run(['resume']);
  const end = await until('the result', async () => {
    const now = await load();
    return now.refresh === null && now;
  });
  expect(end.text).toContain('2/2 orders have an outcome');
});

it('a stored file that somebody changed since its preview is not sent', async () => {
  const upload = await person.upload('source=inbox&name=changed.csv', `${HEAD}\nPO-70,NEW,A,1\n`);
  const [folder = ''] = await uploads();
  const stored = path.join(place.folder, 'data', 'uploads', folder, 'changed.csv');
  await writeFile(
    stored,
    (await readFile(stored, 'utf8')).replace('PO-70,NEW,A,1', 'PO-70,NEW,A,1 '),
  );
  expect((await send(upload)).body['code']).toBe('upload-other');
  await person.call('DELETE', `/uploads/${String(upload['id'])}`);
});

it('when the ledger changed since the preview, nothing is sent and a new preview is shown', async () => {
  const upload = await person.upload('name=later.csv', `${HEAD}\nPO-11,NEW,A,1\nPO-12,NEW,A,1\n`);
  expect(upload['preview']).toMatchObject({ new: 2 });
  await place.drop('between.csv', `${HEAD}\nPO-11,NEW,A,7\n`);
  await until('the other order', () => place.stored().has('PO-11'));
  const late = await send(upload);
  expect([late.status, late.body['code']]).toEqual([409, 'preview-outdated']);
  const { body: again } = await person.call('GET', `/uploads/${String(upload['id'])}`);
  expect(again).toMatchObject({ state: 'ready', changed: true, preview: { new: 1, conflict: 1 } });
  expect((await person.page(`/upload/${String(upload['id'])}`)).text).toContain(
    'Orders changed after',
  );
  expect(place.stored().has('PO-12')).toBe(false);
  expect((await send(upload)).status).toBe(201);
  await until('the order', () => place.stored().has('PO-12'));
});

it('an order that only the list of the API has is not sent', async () => {
  await place.api.create(goodOrder('PO-21'), await place.api.token());
  const [{ articleCode = '', quantity = 0 } = {}] = (goodOrder('PO-21')['items'] ?? []) as {
    articleCode?: string;
    quantity?: number;
  }[];
  const upload = await person.upload(
    'name=l.csv',
    `${HEAD}\nPO-21,NEW,${articleCode},${quantity}\nPO-22,NEW,A,1\n`,
  );
  expect(upload['preview']).toMatchObject({ new: 1, duplicate: 1, onlyListed: 1 });
  expect((await person.page(`/upload/${String(upload['id'])}`)).text).toContain(
    'Of the duplicates and conflicts, 1 is known only from the list of the API: another program sent it, or',
  );
  expect((await send(upload)).status).toBe(201);
  await until('the other order', () => place.stored().has('PO-22'));
  const { body } = await person.call('GET', '/explain?order=PO-21');
  expect([body['state'], place.stored().get('PO-21')]).toEqual(['accepted', 1]);
});

it('a file that nobody sent is on the pages Overview and "Orders that need you" until it is removed', async () => {
  const upload = await person.upload('source=inbox&name=left.csv', `${HEAD}\nPO-31,NEW,A,1\n`);
  const path = `/upload/${String(upload['id'])}`;
  for (const page of ['/', '/dead-letters'])
    expect((await person.page(page)).text).toContain(
      `1 uploaded file was not sent yet: <a href="${path}">left.csv</a>.`,
    );
  const other = await person.upload('source=inbox&name=left2.csv', `${HEAD}\nPO-32,NEW,A,1\n`);
  expect((await person.page('/')).text).toContain(
    '2 uploaded files were not sent yet: <a href="/upload">Show them</a>.',
  );
  for (const { id } of [upload, other]) await person.call('DELETE', `/uploads/${String(id)}`);
  expect((await person.page('/')).text).not.toContain('not sent yet');
});

it('the preview of a file that has only a header says so, and has nothing to send', async () => {
  const upload = await person.upload('source=inbox&name=header.csv', `${HEAD}\n`);
  const { text } = await person.page(`/upload/${String(upload['id'])}`);
  expect(text).toContain('This file has no orders, only a header. There is nothing to send.');
  expect(text).toContain('Remove the file</button>');
  expect(text).not.toContain('Submit without new orders');
  expect((await person.page('/')).text).not.toContain('not sent yet');
  await person.call('DELETE', `/uploads/${String(upload['id'])}`);
});

it('cancelling removes the file; it is unknown then', async () => {
  const upload = await person.upload('name=a.csv', `${HEAD}\nPO-31,NEW,A,1\n`);
  const removed = await person.call('DELETE', `/uploads/${String(upload['id'])}`);
  expect(removed.body).toEqual({ removed: true });
  expect(await uploads()).toEqual([]);
  expect((await send(upload)).body['code']).toBe('upload-unknown');
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
  const upload = await person.upload('name=x.csv', content);
  expect(upload).toMatchObject({ state: 'failed', trouble: { code: expect.stringMatching(code) } });
  expect((await send(upload)).body['code']).toBe('upload-not-ready');
  await person.call('DELETE', `/uploads/${String(upload['id'])}`);
});

it('a file that its source does not read comes with a mapping for it, as text', async () => {
  const rows = ['4711,<b>A-1,2,x', '4712,<b>A-2,3,y', '4713,<b>A-1,4,x'];
  const upload = await person.upload(
    'name=other.csv',
    `Bestellnummer,Artikelnummer,Menge,Status\n${rows.join('\n')}\n`,
  );
  expect(upload).toMatchObject({ state: 'failed', trouble: { code: 'unreadable-header' } });
  expect(upload['proposal']).toMatch(/Bestellnummer: +\{ is: purchaseOrderNumber, like: /);
  const { text } = await person.page(`/upload/${String(upload['id'])}`);
  expect(text).toContain('A mapping for this file');
  expect(text).not.toContain('<b>A-');
  await person.call('DELETE', `/uploads/${String(upload['id'])}`);
});

it('the preview of a file with a column that nobody declared says that it would wait, with its values', async () => {
  const upload = await person.upload('name=more.csv', `${HEAD},plant\nPO-88,NEW,A,1,N\n`);
  const { text } = await person.page(`/upload/${String(upload['id'])}`);
  expect(text).toContain('The file would wait: its mapping does not declare');
  expect(text).toContain('plant: ignore  # 1× &quot;N&quot;');
  await person.call('DELETE', `/uploads/${String(upload['id'])}`);
});

it('what is empty, too large, or for no source is refused and leaves nothing', async () => {
  expect((await person.upload('name=x.csv', ''))['code']).toBe('upload-empty');
  expect((await person.upload('source=frob', 'a'))['code']).toBe('source-unknown');
  expect((await person.upload('name=x.csv', Buffer.alloc(64 * 1024 * 1024 + 1, 'a')))['code']).toBe(
    'upload-too-large',
  );
  expect(await uploads()).toEqual([]);
});

it('in a protected environment nothing is sent without its name', async () => {
  await using guarded = await openWorkplace({ env: { PO_SYNC_CONFIRM: 'staging' } });
  const config = await readFile(guarded.config, 'utf8');
  await writeFile(guarded.config, config.replace('{ baseUrl:', '{ protected: true, baseUrl:'));
  const one = await openOperator(guarded, guarded.start(['start']));
  const upload = await one.upload('name=a.csv', `${HEAD}\nPO-41,NEW,A,1\n`);
  const sendWith = (confirm: object) =>
    one.call('POST', `/uploads/${String(upload['id'])}/send`, {
      sha256: upload['sha256'],
      ...confirm,
    });
  for (const confirm of [{}, { confirm: 'production' }, { confirm: true }]) {
    const { status, body } = await sendWith(confirm);
    expect([status, body['code']]).toEqual([403, 'confirmation-missing']);
    expect(body['remedy']).toBe('Send "confirm":"staging" in the body to confirm.');
  }
  expect(guarded.stored().size).toBe(0);
  expect((await sendWith({ confirm: 'staging' })).status).toBe(201);
  await until('the order', () => guarded.stored().has('PO-41'));
});

it('of uploads that arrive at once, only as many as may be kept are', async () => {
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      person.upload(`name=at-once-${n}.csv`, `${HEAD}\nPO-8${n},NEW,A,1\n`),
    ),
  );
  expect(answers.filter(({ code }) => code === 'too-many-uploads')).toHaveLength(10);
  expect(await uploads()).toHaveLength(20);
  const ids = answers.flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
  await Promise.all(ids.map((id) => person.call('DELETE', `/uploads/${id}`)));
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
