import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plain } from '../support/plain.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Running, type Workplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';
/** Markup, a text that runs backwards, and a quote, in every place that data can reach. */
const EVIL = `<img src=x onerror=alert(1)>`;

let place: Workplace;
let daemon: Running;
let port = 0;
let batch = '';
let cookie = '';

const at = (path: string) => `http://127.0.0.1:${port}${path}`;

/** Signs in with a link that `po-sync dashboard` printed. Returns the cookie. */
async function signIn(link: string): Promise<string> {
  const answer = await fetch(new URL('/api/v1/session', link), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ code: link.split('#')[1] }),
  });
  expect(answer.status).toBe(201);
  return answer.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
}

async function page(path: string, expected = 200): Promise<string> {
  const answer = await fetch(at(path), { headers: { accept: 'text/html', cookie } });
  const text = await answer.text();
  expect([path, answer.status]).toEqual([path, expected]);
  return text;
}

/** The forms of a page: where they lead, and their hidden fields. */
function formsIn(text: string): { action: string; fields: Record<string, string> }[] {
  return [...text.matchAll(/<form method="post" action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(
    ([, action = '', body = '']) => ({
      action: plain(action),
      fields: Object.fromEntries(
        [...body.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(
          ([, name = '', value = '']) => [name, plain(value)],
        ),
      ),
    }),
  );
}

/** The id of the dead letter on a line. */
async function letterOn(line: number): Promise<string> {
  const list = await fetch(at(`/api/v1/dead-letters/list?batch=${batch}`), { headers: { cookie } });
  const { deadLetters } = (await list.json()) as {
    deadLetters: { id: string; location: { line: number } }[];
  };
  return deadLetters.find(({ location }) => location.line === line)?.id ?? '';
}

/** Submits a form of a page as a browser does, and returns the page that it leads to. */
async function submit(
  path: string,
  action: string,
  fields: Record<string, string> = {},
): Promise<string> {
  const form = formsIn(await page(path)).find((one) => one.action.startsWith(action));
  expect(form, `${path} has a form for ${action}`).toBeDefined();
  const answer = await fetch(at(form?.action ?? ''), {
    method: 'POST',
    redirect: 'manual',
    headers: {
      cookie,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ ...form?.fields, ...fields }).toString(),
  });
  expect(answer.status).toBe(303);
  return page(answer.headers.get('location') ?? '');
}

beforeAll(async () => {
  const faults = [
    { kind: 'answer', status: 400, message: `articleCode ${EVIL} is invalid`, orders: ['PO-3'] },
  ];
  place = await openWorkplace({ faults: { faults } });
  daemon = place.start(['start']);
  port = Number(await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]));
  const rows = [
    'PO-1,NEW,A,1',
    'PO-3,NEW,X-9,1',
    `PO-4,NEW,"${EVIL}",none`,
    `"=${EVIL}\u202e",NEW,A,x`,
  ];
  await place.drop(`orders ${EVIL.replaceAll('/', '')}.csv`, `${[HEAD, ...rows].join('\n')}\n`);
  batch = await until(
    'the report',
    async () => (await place.reportsNow()).find((one) => one.finishedAt)?.batch,
  );
  const url = await until('the address of the dashboard', async () => {
    const { out } = await place.run(['dashboard', '--json']);
    return (JSON.parse(out) as { url?: string }).url;
  });
  expect(url.split('#')[0]).toBe(at('/open'));
  cookie = await signIn(url);
  await until('the lists', async () => {
    const list = await fetch(at('/batches?state=finished'));
    return list.status === 200 && (await list.text()).includes('href="/batches/2');
  });
});
afterAll(() => place[Symbol.asyncDispose]());

describe('every page', () => {
  it('is complete without JavaScript, and shows no markup, hidden character or code of data', async () => {
    const id = await letterOn(3);
    for (const path of [
      '/',
      '/batches',
      `/batches/${batch}`,
      '/dead-letters',
      `/dead-letters/${id}`,
      '/order',
      '/order?number=PO-3',
      '/order?number=PO-1',
      '/sources',
      '/?picture=week',
      '/login',
      '/open',
    ]) {
      const text = await page(path);
      expect(text, path).toMatch(/^<!doctype html>\n<html lang="en">/);
      expect(text, path).toMatch(/<h1>.+<\/h1>/);
      expect(
        text.match(
          /<img|\u202e|<script(?! type="module" src="\/assets\/[a-z]+\.js")| on[a-z]+="|style="|javascript:/gi,
        ),
        path,
      ).toBeNull();
    }
  });

  it('is reached by links that exist', async () => {
    const seen = new Set<string>();
    const queue = ['/'];
    for (let path = queue.shift(); path !== undefined && seen.size < 60; path = queue.shift()) {
      if (seen.has(path)) continue;
      seen.add(path);
      const text = await page(path);
      const links = [...text.matchAll(/<a (?!download)[^>]*href="(\/[^"]*)"/g)].map(
        ([, href = '']) => plain(href),
      );
      queue.push(...links);
      for (const [, asset = ''] of text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) {
        expect((await fetch(at(asset))).status, asset).toBe(200);
      }
    }
    expect(seen.size).toBeGreaterThan(8);
  });

  it.each([
    ['/batches/frob', 404],
    ['/dead-letters/frob', 404],
    ['/order?number=PO-404', 404],
    ['/batches?state=frob', 400],
  ])('%s says what is wrong', async (path, status) => {
    expect(await page(path, status)).toContain('role="alert"');
  });
});

describe('a person who operates', () => {
  it('pauses and resumes delivery, which every page shows', async () => {
    const after = await submit('/', '/pause', { reason: `stock-taking ${EVIL}` });
    expect(after).toContain('Delivery is paused by');
    expect(await page('/')).toMatch(/<button[^>]*>Resume delivery</);
    const paused = await until('the pause', async () => {
      const text = await page('/batches');
      return text.includes('Paused') && text;
    });
    expect(paused).not.toContain('<img');
    await place.drop(
      'while-paused.csv',
      `${[HEAD, 'PO-7,NEW,A,1', 'PO-8,NEW,A,1', 'PO-9,NEW,A,x'].join('\n')}\n`,
    );
    const href = await until(
      'the invalid order of the file in progress',
      async () =>
        /<a href="(\/dead-letters\/[^"]*)">PO-9<\/a>/.exec(await page('/dead-letters'))?.[1],
    );
    const form = await page(href);
    expect(form).toContain(
      'The form is here when while-paused.csv is finished: other orders of it are in progress.',
    );
    expect(form).toMatch(/<h2>What is wrong<\/h2>.*quantity.*>x<.*is not a number/s);
    const invalid = await page('/order?number=PO-9');
    expect(invalid).toMatch(
      /<span class="badge bad">invalid, waits for a person<\/span>.*in while-paused\.csv \(source inbox\), line 4, /s,
    );
    expect(invalid).toContain('is not a number');
    const explained = (await place.run(['explain', 'PO-9'])).out;
    expect(explained).toMatch(
      /waits for a person.*while-paused.*is not a number.*Its fix file is written when batch/s,
    );
    expect(await submit('/', '/resume')).toContain('Delivery is running.');
  });

  it('sends a refused order again, discards one, and is named in the history and the actions', async () => {
    const id = await letterOn(3);
    const letter = `/dead-letters/${encodeURIComponent(id)}`;
    expect(await page(letter)).toMatch(
      /<input type="checkbox" required> It is not sent from this file.* A file that brings a discarded order again can send it .*<button class="bad">Discard</s,
    );
    expect(await submit(letter, '/dead-letters/retry', { id })).toContain(
      '1 order queued to be sent again.',
    );
    await until('the order is refused again', async () =>
      /refused, waits for a person.*attempt 2/s.test(await page('/order?number=PO-3')),
    );
    await until('the dead letter is discarded', async () =>
      (await submit(letter, '/dead-letters/discard', { id })).includes('1 order discarded.'),
    );
    // At once: the person who discarded it looks at the list next.
    expect(await page('/dead-letters')).not.toContain('PO-3');
    const who = /id="state".*?<div class="person">\s*([^,<]+),/s.exec(await page('/'))?.[1] ?? '';
    expect(await page('/order?number=PO-3')).toMatch(new RegExp(`discarded by ${who}`));
    const shown = async () => (await page('/order?number=PO-3')).includes('1 × X-9');
    await until('its items in the history', shown);
    const late = await fetch(at(`${letter}/fix`), {
      method: 'POST',
      headers: {
        cookie,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'do=send&version=none',
    });
    expect(await late.text()).toContain(
      `role="alert">Not sent. PO-3 is settled already: discarded by ${who}.`,
    );
    const settled = await page(`/batches/${batch}`);
    expect(settled).toMatch(/refused<div>settled since: discarded by /);
    expect(settled).toContain('2 orders need a person</a>');
  });

  it('reaches an order from the list and from its history, which says what an order waits for', async () => {
    const id = await letterOn(4);
    expect(await page('/dead-letters?q=none')).toMatch(
      new RegExp(`<a href="/dead-letters/${id}">PO-4</a>`),
    );
    const history = await page('/order?number=PO-4');
    expect(history).toContain(`<a href="/dead-letters/${id}">correct or settle it</a>`);
    expect(history).toMatch(/<span class="badge bad">invalid, waits for a person<\/span>/);
    expect(history).toContain('<button>Show history</button>');
    expect(history).not.toContain('Show all');
  });

  it('learns which numbers contain what was entered', async () => {
    expect(await page('/order?number=o-99', 404)).not.toContain('contain it');
  });

  it('finds its way from an address without a page, as text and not as JSON', async () => {
    const unknown = await page('/order?number=PO-77%3Cb%3E', 404);
    expect(unknown).toMatch(
      /<h1>PO-77&lt;b&gt;<\/h1>.*<input name="number" type="search" value="PO-77&lt;b&gt;">/s,
    );
    expect(unknown).toMatch(
      /not found<\/span>.*Order PO-77&lt;b&gt; not found in staging\..*Enter the complete number/s,
    );
    expect(await page('/frob', 404)).toMatch(
      /<nav aria-label="Pages">.*<h1>Not found<.*<a href="\/">Overview<\/a>/s,
    );
    expect(await page('/batches/none', 404)).toMatch(
      /<h1>Not found<.*<p><a href="\/batches">Batches<\/a>/s,
    );
    expect(await page('/batches?state=soon', 400)).toMatch(
      /<a href="\/batches">Show it without this filter<\/a>/,
    );
    expect(await page('/batches?q=none')).toMatch(/<p>No batches match\.<\/p>/);
    expect(await page('/plans/none', 404)).toMatch(
      /<p><a href="\/dead-letters">Orders that need you<\/a>/,
    );
    expect((await fetch(at('/frob'), { headers: { cookie } })).headers.get('content-type')).toMatch(
      /json/,
    );
  });

  it('signs out', async () => {
    const answer = await fetch(at('/logout'), {
      method: 'POST',
      redirect: 'manual',
      headers: {
        cookie,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: '',
    });
    expect(answer.headers.get('set-cookie')).toContain('Max-Age=0');
  });
});

describe('a reader without a login', () => {
  it('sees every page, no form that acts, and cannot act', async () => {
    const kept = cookie;
    cookie = '';
    try {
      for (const path of ['/', `/batches/${batch}`, '/dead-letters'])
        expect(formsIn(await page(path))).toEqual([]);
      const acted = await fetch(at('/pause'), {
        method: 'POST',
        headers: {
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: 'back=/',
      });
      expect(acted.status).toBe(403);
    } finally {
      cookie = kept;
    }
  });
});

it('an act never leads to another host', async () => {
  for (const back of ['//evil.example/', 'https://evil.example/', '/\\evil.example', '']) {
    const answer = await fetch(at('/resume'), {
      method: 'POST',
      redirect: 'manual',
      headers: {
        cookie,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ back }).toString(),
    });
    expect(new URL(answer.headers.get('location') ?? '', at('/')).origin, back).toBe(
      new URL(at('/')).origin,
    );
  }
});

it('while Redis is not reachable, lasting pages show the last state, the others say so, and all come back', async () => {
  await using redis = await startTestRedis();
  await using other = await openWorkplace({ redis: redis.url });
  const running = other.start(['start']);
  const own = Number(await until('ready', () => /"adminPort":(\d+)/.exec(running.out())?.[1]));
  const load = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${own}${path}`);
    return {
      status: answer.status,
      text: await answer.text(),
      refresh: answer.headers.get('refresh'),
    };
  };
  await other.drop('wrong.csv', 'purchaseOrderNumber,articleCode,quantity\nPO-1,A,none\n');
  await until('the overview', async () => /Delivering.*wrong\.csv/s.test((await load('/')).text));
  await redis.kill();
  await until('the overview says so', async () =>
    (await load('/')).text.includes('Redis is not reachable'),
  );
  for (const path of ['/', '/sources']) {
    const { status, text } = await load(path);
    expect([path, status, /Redis is not reachable<\/span> since .*shown as of/.test(text)]).toEqual(
      [path, 200, true],
    );
  }
  for (const path of ['/batches', '/batches/b', '/dead-letters', '/order?number=PO-1', '/upload']) {
    const { status, text, refresh } = await load(path);
    expect([path, status, refresh]).toEqual([path, 503, `1; url=${path}`]);
    expect(text).toContain('<h1>Redis is not reachable</h1>');
    expect(text).toContain('Nothing is lost. This page reloads automatically.');
    expect(text).toContain('<title>Redis is not reachable · po-sync</title>');
  }
  for (const [path, status] of [
    ['/api/v1/status', 200],
    ['/api/v1/batches/list', 503],
  ] as const) {
    expect([path, (await load(path)).status]).toEqual([path, status]);
  }
  await redis.restart();
  await until('the page is back', async () => (await load('/upload')).status === 200);
  await until('the overview is back', async () => (await load('/')).text.includes('Delivering'));
});
