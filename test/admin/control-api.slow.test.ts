import { mkdir, readFile, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlDocument, document, matchesDocument } from '../support/control-document.ts';
import { CLIENT_SECRET } from '../support/open-sandbox.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Running, type Workplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';

let place: Workplace;
let daemon: Running;
let port = 0;
let batch = '';

type Json = Record<string, unknown> & { items: Record<string, unknown>[] };

async function get(route: string, expected = 200): Promise<Json> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${route}`);
  const body = (await answer.json()) as Json;
  expect([route, answer.status, answer.status === expected ? '' : body['code']]).toEqual([
    route,
    expected,
    '',
  ]);
  if (expected === 200) matchesDocument('GET', route, 200, body);
  return body;
}

beforeAll(async () => {
  const faults = [
    {
      kind: 'answer',
      status: 400,
      message: 'articleCode X-9 is invalid',
      orders: ['PO-3', 'PO-5'],
    },
  ];
  place = await openWorkplace({ faults: { faults } });
  daemon = place.start(['start']);
  port = Number(await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]));
  await place.drop(
    'orders <b>.csv',
    `${[HEAD, 'PO-1,NEW,A,1', 'PO-2,NEW,A,1', 'PO-3,NEW,X-9,1', 'PO-4,NEW,B-44,none', 'PO-5,NEW,X-9,2', 'PO-5,NEW,C,3'].join('\n')}\n`,
  );
  batch = await until(
    'the report',
    async () => (await place.reportsNow()).find((one) => one.finishedAt)?.batch,
  );
  await until('the lists', async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/batches?state=finished`);
    return answer.status === 200 && ((await answer.json()) as Json).items.length === 1;
  });
});
afterAll(() => place[Symbol.asyncDispose]());

describe('the lists', () => {
  it('show the batch in the words of the command', async () => {
    const { items, next } = await get('batches');
    expect([items.length, next]).toEqual([1, null]);
    const shown = JSON.parse((await place.run(['batches', 'show', batch, '--json'])).out);
    expect(items[0]).toEqual(shown);
    expect(await get(`batches/${batch}`)).toEqual(shown);
    expect(shown).toMatchObject({ file: 'orders <b>.csv', state: 'finished', open: 3 });
  });

  it.each([
    ['open=true', 1],
    ['open=false', 1],
    ['state=waiting', 0],
    ['state=finished&source=inbox&q=ORDERS', 1],
    ['q=nothing', 0],
    ['source=erp', 0],
    ['since=2999-01-01', 0],
    ['since=2020-01-01T00:00Z', 1],
  ])('batches?%s has %i', async (query, expected) => {
    expect((await get(`batches?${query}`)).items).toHaveLength(expected);
  });

  it('show the orders of the batch, page by page and by outcome', async () => {
    const first = await get(`batches/${batch}/orders?limit=2`);
    expect(first.items.map((one) => [one['purchaseOrderNumber'], one['outcome']])).toEqual([
      ['PO-1', 'accepted'],
      ['PO-2', 'accepted'],
    ]);
    const second = await get(`batches/${batch}/orders?limit=2&after=${String(first['next'])}`);
    expect(second.items.map((one) => one['purchaseOrderNumber'])).toEqual(['PO-3', 'PO-4']);
    const rest = await get(`batches/${batch}/orders?limit=2&after=${String(second['next'])}`);
    expect([rest.items.length, rest['next']]).toEqual([1, null]);
    const refused = await get(`batches/${batch}/orders?outcome=refused`);
    expect(refused.items.map((one) => one['purchaseOrderNumber'])).toEqual(['PO-3', 'PO-5']);
  });

  it('show dead letters in pages, with the count of all that match', async () => {
    const first = await get('dead-letters?limit=2');
    expect(first).toMatchObject({ total: 3, kinds: { invalid: 1, refused: 2 } });
    expect(first.items.map((one) => one['purchaseOrderNumber'])).toEqual(['PO-3', 'PO-4']);
    expect(first.items.map((one) => one['items'])).toEqual(['X-9 × 1', 'B-44 × none']);
    const rest = await get(
      `dead-letters?limit=2&after=${encodeURIComponent(String(first['next']))}`,
    );
    expect([rest.items.map((one) => one['purchaseOrderNumber']), rest['next']]).toEqual([
      ['PO-5'],
      null,
    ]);
    expect(rest.items[0]).toMatchObject({ items: 'X-9 × 2, C × 3' });
  });

  it.each([
    ['q=x-9', ['PO-3', 'PO-5']],
    ['q=po-4', ['PO-4']],
    ['q=b-44', ['PO-4']],
    ['q=IS%20INVALID', ['PO-3', 'PO-5']],
    ['kind=invalid', ['PO-4']],
    ['kind=refused&q=po-5', ['PO-5']],
    ['source=erp', []],
    ['since=2999-01-01', []],
  ])('dead-letters?%s finds %j', async (query, expected) => {
    const { items, total } = await get(`dead-letters?${query}`);
    expect([items.map((one) => one['purchaseOrderNumber']), total]).toEqual([
      expected,
      expected.length,
    ]);
  });

  it('group dead letters by error, and a group selects its dead letters', async () => {
    const { items } = await get('dead-letters/groups');
    expect(items.map(({ kind, count, batches }) => [kind, count, batches])).toEqual([
      ['refused', 2, 1],
      ['invalid', 1, 1],
    ]);
    const { total } = await get(
      `dead-letters?signature=${encodeURIComponent(String(items[0]?.['signature']))}`,
    );
    expect(total).toBe(2);
  });

  it('show a complete dead letter', async () => {
    const { items } = await get('dead-letters?q=po-3');
    const letter = await get(`dead-letters/${encodeURIComponent(String(items[0]?.['id']))}`);
    expect(letter).toMatchObject({
      purchaseOrderNumber: 'PO-3',
      kind: 'refused',
      httpStatus: 400,
      payload: { items: [{ articleCode: 'X-9' }] },
      file: 'orders <b>.csv',
    });
  });

  it('show the history of an order as the command does', async () => {
    for (const number of ['PO-1', 'PO-3', 'PO-4']) {
      expect(await get(`order?number=${number}`)).toEqual(
        JSON.parse((await place.run(['explain', number, '--json'])).out),
      );
    }
    expect(await get('order?number=PO-1&reports=all')).toEqual(await get('order?number=PO-1'));
  });

  it('show status, sources, configuration and actions', async () => {
    expect(await get('status')).toMatchObject({
      status: { environment: 'staging', deadLetters: 3, pauses: [] },
    });
    const pace = await until('what was accepted', async () => {
      const read = await get('pace');
      const orders = (read['acceptedPerSecond'] as (number | null)[]).reduce<number>(
        (sum, one) => sum + 5 * (one ?? 0),
        0,
      );
      return orders === 2 && read;
    });
    const at = pace['at'] as number[];
    expect([pace['step'], pace['pauses']]).toEqual([5, []]);
    expect(at.length).toBeGreaterThan(700);
    const after = new Date((at.at(-3) ?? 0) * 1_000).toISOString();
    expect(((await get(`pace?after=${after}`))['at'] as number[]).slice(0, 2)).toEqual(
      at.slice(-2),
    );
    expect((await get('sources')).items).toMatchObject([{ name: 'inbox', state: 'ok' }]);
    expect(await get('config')).toMatchObject({ config: { environment: 'staging' } });
    expect((await get('actions')).items).toEqual([]);
  });
});

describe('a dead letter that is closed', () => {
  it('leaves the lists, which stay current without being read again', async () => {
    await place.run(['dead-letters', 'discard', '--order', 'PO-5', '--yes']);
    await until('the list', async () => (await get('dead-letters'))['total'] === 2);
    expect((await get('dead-letters?q=po-5')).items).toEqual([]);
    await until('the batch', async () => (await get(`batches/${batch}`))['open'] === 2);
    const { items } = await get(`batches/${batch}/orders?outcome=refused`);
    expect(items.map(({ outcome, closed }) => [outcome, closed])).toEqual([
      ['refused', undefined],
      ['refused', expect.objectContaining({ by: 'discarded' })],
    ]);
  });

  it('appears for a new file', async () => {
    await place.drop('more.csv', `${[HEAD, 'PO-6,NEW,C,none'].join('\n')}\n`);
    await until('the list', async () => (await get('dead-letters'))['total'] === 3);
    expect((await get('batches')).items).toHaveLength(2);
    expect((await get('dead-letters')).items[0]).toMatchObject({
      purchaseOrderNumber: 'PO-6',
      file: 'more.csv',
    });
  });
});

describe('files of a report', () => {
  it.each(['report.json', 'results.csv', 'dead-letters.json', 'fix.xlsx'])(
    '%s is a download with its bytes',
    async (name) => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/batches/${batch}/files/${name}`);
      expect(answer.headers.get('content-disposition')).toMatch(
        /^attachment; filename="[\w.-]+"(?:; filename\*=UTF-8''[\w.%-]+)?$/,
      );
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(bytes).toEqual(await readFile(path.join(place.reports, batch, name)));
    },
  );

  it('the page is a download without links to files that are not with it, and says where they are', async () => {
    const answer = await fetch(
      `http://127.0.0.1:${port}/api/v1/batches/${batch}/files/report.html`,
    );
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="[\w.-]+\.csv\.report\.html"/,
    );
    const [page, saved] = [
      await readFile(path.join(place.reports, batch, 'report.html'), 'utf8'),
      await answer.text(),
    ];
    const links = (text: string) =>
      [...text.matchAll(/ href="([^"]*)"/g)].map(([, address]) => address ?? '');
    expect(links(page)).toContain('fix.xlsx');
    expect(links(saved).filter((address) => !address.startsWith('http://'))).toEqual([]);
    expect(saved).toContain('Open <b>orders &lt;b&gt;.csv.fix.xlsx</b>.');
    expect(saved).toContain('<code>results.csv</code>');
    expect(saved).toContain('The files that it names are there, on the page of this file');
    expect(saved.length).toBeGreaterThan(page.length - 500);
  });

  it.each([
    '..%2fpo-sync.yaml',
    '..%2f..%2fpo-sync.yaml',
    'po-sync.yaml',
    '.',
    '%2e%2e%2freport.json',
    'REPORT.JSON',
    'report.json%00',
  ])('%s is refused', async (name) => {
    await get(`batches/${batch}/files/${name}`, 404);
  });

  it.each(['..', '..%2f..', '%2e%2e%2freports', `.%2f`, '20261121T071500Z-..%2f..%2fx'])(
    'of the batch %s are refused',
    async (name) => {
      await get(`batches/${name}/files/report.json`, 404);
    },
  );
});

describe('mistakes', () => {
  it.each([
    ['batches?frob=1', 400, 'parameter-wrong'],
    ['batches?limit=501', 400, 'parameter-wrong'],
    ['batches?limit=0', 400, 'parameter-wrong'],
    ['batches?state=frob', 400, 'parameter-wrong'],
    ['batches?since=yesterday', 400, 'parameter-wrong'],
    ['dead-letters?kind=Refused', 400, 'parameter-wrong'],
    ['dead-letters?q=' + 'x'.repeat(1001), 400, 'parameter-wrong'],
    ['actions?after=1', 400, 'parameter-wrong'],
    ['order', 400, 'parameter-wrong'],
    ['order?number=PO-404', 404, 'order-unknown'],
    ['order?number=..%2f..%2fetc', 404, 'order-unknown'],
    ['batches/frob', 404, 'batch-unknown'],
    ['batches/frob/orders', 404, 'batch-unknown'],
    ['dead-letters/frob~line%201', 404, 'dead-letter-unknown'],
    ['nothing', 404, 'not-found'],
  ])('%s is answered with %i and a code', async (route, status, code) => {
    const body = await get(route, status);
    expect(body).toMatchObject({
      code,
      status,
      type: `urn:po-sync:${code}`,
      detail: expect.any(String),
    });
  });
});

it('every documented path exists, and every path of the API is documented', async () => {
  const served = (await get('openapi.json')) as unknown as ControlDocument;
  expect(served).toEqual(document);
  const source = await Promise.all(
    [
      'api/status-routes',
      'api/batch-routes',
      'api/dead-letter-routes',
      'api/fix-routes',
      'api/upload-routes',
      'api/plan-routes',
      'http/sign-in',
    ].map((name) =>
      readFile(path.resolve(import.meta.dirname, `../../src/admin/${name}.ts`), 'utf8'),
    ),
  );
  const routes = source.flatMap((text) =>
    [...text.matchAll(/method: '(\w+)',\s+path: '\/api\/v1(\/[^']+)'/g)].map(
      ([, method = '', route = '']) => `${method} ${route.replace(/:(\w+)/g, '{$1}')}`,
    ),
  );
  const acts = await readFile(
    path.resolve(import.meta.dirname, '../../src/admin/api/act-routes.ts'),
    'utf8',
  );
  const posts = [...acts.matchAll(/\['\w+', '(\/[^']+)', '\w+'\]/g)].map(
    ([, route = '']) => `POST ${route.replace(/:(\w+)/g, '{$1}')}`,
  );
  expect(posts).toHaveLength(7);
  const documented = Object.entries(document.paths).flatMap(([route, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${route}`),
  );
  expect(documented.filter((one) => !one.endsWith('.json')).sort()).toEqual(
    [...routes, ...posts].sort(),
  );
});

it('no answer contains a secret', async () => {
  for (const route of [
    'status',
    'config',
    'sources',
    'batches',
    'actions',
    'dead-letters',
    `batches/${batch}`,
  ]) {
    const text = JSON.stringify(await get(route));
    expect(text).not.toContain(CLIENT_SECRET);
  }
});

describe('what is in the inbox and its folders', () => {
  const json = async (...args: string[]) => JSON.parse((await place.run([...args, '--json'])).out);
  const openNow = async (): Promise<string[]> => {
    const { items } = await get('batches?open=true&state=unreadable');
    return items.map(({ file }) => String(file));
  };

  it('an unreadable file waits for a person everywhere until it is removed from failed/', async () => {
    await place.drop('broken.csv', `${HEAD}\nPO-9,NEW,"A,1\n`);
    await until('it waits in the list', async () => (await openNow()).includes('broken.csv'));
    const found = await json('batches', 'show', 'broken.csv');
    expect(found.settledPath).toMatch(/failed.*broken\.csv$/);
    expect((await json('status')).unreadable).toMatchObject([{ file: 'broken.csv' }]);
    expect((await place.run(['status'])).out).toContain(
      'remove it from failed/ in its inbox, or from done/ if it was changed later.',
    );
    expect((await place.run(['batches', 'list', '--open'])).out).toContain(
      'remove it from failed/ in its inbox, or from done/ if it was changed later.',
    );
    expect((await place.run(['batches', 'show', 'broken.csv'])).out).toContain(
      `${found.error.remedy} To dismiss it, remove it:\n  ${found.settledPath}\n`,
    );
    const { code, out } = await place.run(['batches', 'cancel', found.batch, '--yes', '--json']);
    const remedy = `${found.error.remedy} To dismiss it, remove ${found.settledPath}.`;
    expect([code, JSON.parse(out).error]).toMatchObject([1, { code: 'batch-finished', remedy }]);
    const page = (name: string) =>
      fetch(`http://127.0.0.1:${port}/${name}`).then((answer) => answer.text());
    const dismiss = 'remove it from failed/ in its inbox, or from done/ if it was changed later.';
    await until('the overview says how', async () => (await page('')).includes(dismiss));
    expect(await page(`batches/${found.batch}`)).toContain(
      `Delete it: <code>${found.settledPath}</code>`,
    );

    await rm(found.settledPath);
    expect((await json('status')).unreadable).toEqual([]);
    const open = (await json('batches', 'list', '--open')).batches.map(
      ({ file }: { file: string }) => file,
    );
    expect(open).toContain('orders <b>.csv');
    expect(open).not.toContain('broken.csv');
    await until('it is gone from the list', async () => (await openNow()).length === 0);
    await until('it is gone from the overview', async () => {
      const { status } = await get('status');
      return (status as { unreadable: unknown[] }).unreadable.length === 0;
    });
  });

  it('folders and links are named by status and by the page of the sources', async () => {
    await mkdir(path.join(place.inbox, 'june\u202e'));
    await symlink('elsewhere.csv', path.join(place.inbox, 'link.csv'));
    for (let i = 0; i < 5; i += 1) await mkdir(path.join(place.inbox, `more-${i}`));
    const [source] = (await json('status')).sources;
    expect(source.ignored.total).toBe(7);
    expect(source.ignored.entries).toHaveLength(5);
    for (const { name, kind } of source.ignored.entries)
      expect(kind).toBe(name === 'link.csv' ? 'link' : 'folder');
    const { out } = await place.run(['status']);
    expect(out).toMatch(/Not read\n {2}inbox: .*\((folder|link)\).* and 2 more\n/);
    expect(out).toContain('move the files themselves into the inbox.');
    expect(out).not.toContain('\u202e');
    await until('the page names them', async () => {
      const page = await fetch(`http://127.0.0.1:${port}/sources`);
      return /and 2 more.*move the files themselves/s.test(await page.text());
    });
    expect((await get('sources')).items).toMatchObject([{ ignored: { total: 7 } }]);
    await get('status');
  });
});
