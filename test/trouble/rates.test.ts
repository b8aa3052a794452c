import { writeFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ledgerStates } from '../support/ledger-states.ts';
import { envelope, type OddAnswer, type OddCall, openOddApi } from '../support/odd-api.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';
import { csv, numbered, openTroublePlace } from './trouble-place.ts';
import { mostIn } from './trouble-row.ts';

/** Milliseconds; longer than the waits that are configured. */
const WATCHED = 5_000;

type Row = { stays: string; odd: (call: OddCall) => OddAnswer | undefined };

const html = {
  status: 403,
  body: '<html><body>Blocked</body></html>',
  headers: { 'content-type': 'text/html' },
};
const onCreate =
  (answer: OddAnswer) =>
  ({ endpoint }: OddCall) =>
    endpoint === 'create' ? answer : undefined;

const onToken =
  (answer: OddAnswer) =>
  ({ endpoint }: OddCall) =>
    endpoint === 'token' ? answer : undefined;
/** The list of the new ledger is read; every later one gets this. */
const onLists =
  (answer: OddAnswer, create: OddAnswer = { drop: true }) =>
  ({ endpoint, nth }: OddCall) =>
    endpoint === 'create' ? create : endpoint === 'list' && nth > 1 ? answer : undefined;
const onFirstList =
  (answer: OddAnswer) =>
  ({ endpoint }: OddCall) =>
    endpoint === 'list' ? answer : undefined;
const after = (seconds: string): Pick<OddAnswer, 'headers'> => ({
  headers: { 'retry-after': seconds },
});
const sameToken = (create: OddAnswer) => (call: OddCall) =>
  onToken({ status: 200, body: { access_token: 'same', token_type: 'Bearer', expires_in: 3600 } })(
    call,
  ) ?? onCreate(create)(call);
const ROWS: Row[] = [
  {
    stays: 'the token endpoint gives the same token again, the API answers 401',
    odd: sameToken({ status: 401, body: envelope(401, 'no') }),
  },
  {
    stays: 'a new token each time, the API answers 401',
    odd: onCreate({ status: 401, body: envelope(401, 'no') }),
  },
  {
    stays: '429 with Retry-After: 0',
    odd: onCreate({ status: 429, body: envelope(429, 'slow'), ...after('0') }),
  },
  { stays: '503 with a page', odd: onCreate({ status: 503, body: '<html>' }) },
  { stays: '403 with a page of a firewall', odd: onCreate(html) },
  { stays: '500', odd: onCreate({ status: 500 }) },
  { stays: '200 with a page', odd: onCreate({ status: 200, body: '<html>', store: false }) },
  { stays: 'dropped connections', odd: onCreate({ drop: true }) },
  { stays: 'an API that never answers', odd: onCreate({ hang: true }) },
  { stays: 'dropped connections and a list that answers 500', odd: onLists({ status: 500 }) },
  { stays: 'a token endpoint that answers 500', odd: onToken({ status: 500, body: 'down' }) },
  { stays: 'a token endpoint that never answers', odd: onToken({ hang: true }) },
  { stays: 'a list that answers 500 from the first start on', odd: onFirstList({ status: 500 }) },
  { stays: 'a list that never answers from the first start on', odd: onFirstList({ hang: true }) },
];

// The place judges each row when it is disposed of: call rates, orders created twice, lost orders, and what status names.
describe.concurrent('while nothing succeeds, no endpoint gets more than five calls a second', () => {
  it.each(ROWS)('$stays', async ({ odd }) => {
    await using api = await openOddApi(odd);
    await using place = await openTroublePlace(api, {
      mustWait: true,
    });
    await place.drop('orders.csv', csv(numbered(60)));
    await until('the first calls', () => api.calls.length > 1);
    const from = performance.now();
    await until('the watched time', () => performance.now() > from + WATCHED);
  });
});

describe.concurrent('what is shared bounds the calls of all that wait for it', () => {
  it('the first start of four daemons tries one order at a time', async () => {
    await using api = await openOddApi(onCreate({ status: 500 }));
    await using place = await openTroublePlace(api, {
      daemons: 4,
    });
    await place.drop('orders.csv', csv(numbered(60)));
    await until('the trouble', () => api.calls.some(({ endpoint }) => endpoint === 'create'));
    const from = performance.now();
    await until('the watched time', () => performance.now() > from + WATCHED);
  });

  it('tries that waited for the same name server do not begin at once', async () => {
    await using folder = await makeTempFolder();
    const silent = path.join(folder.path, 'silent');
    const asked = path.join(folder.path, 'asked');
    const preload = path.join(folder.path, 'names.mjs');
    await writeFile(preload, gatedNames(silent, asked));
    const creates: number[] = [];
    await using api = await openOddApi(({ endpoint }) => {
      if (endpoint === 'list') writeFileSync(silent, '');
      if (endpoint !== 'create') return { headers: { connection: 'close' } };
      creates.push(performance.now());
      return { status: 500 };
    });
    await using place = await openTroublePlace(api, {
      url: api.url.replace('127.0.0.1', 'localhost'),
      pace: 'concurrency: 64, settle: 1s, timeout: 30s, probe: { initial: 250ms, max: 250ms }',
      env: { NODE_OPTIONS: `--import=${preload}` },
    });
    await place.drop('orders.csv', csv(numbered(60)));
    await until('tries that wait for the name', async () => (await readText(asked)).length >= 16);
    await rm(silent);
    await until('the first call', () => creates.length > 0);
    const from = creates[0] ?? 0;
    await until('its second', () => performance.now() > from + 1_000);
    // Four, and more where those of some slow seconds arrive together; all 16 and the next four without turns.
    expect(creates.filter((at) => at < from + 1_000).length).toBeLessThan(16);
  });
});

/** A preload: while the file `silent` exists, no name is resolved; every question adds a byte to `asked`. */
const gatedNames = (silent: string, asked: string) => `
  import dns from 'node:dns';
  import { appendFileSync, existsSync } from 'node:fs';
  const { lookup } = dns;
  dns.lookup = (...all) => {
    if (!existsSync('${silent}')) return lookup(...all);
    appendFileSync('${asked}', '.');
    const timer = setInterval(() => {
      if (existsSync('${silent}')) return;
      clearInterval(timer);
      lookup(...all);
    }, 20);
  };`;
const readText = (file: string) => readFile(file, 'utf8').catch(() => '');

const FAST =
  'concurrency: 64, settle: 1s, timeout: 2s, backoff: { initial: 100ms, max: 1s }, probe: { initial: 250ms, max: 1s }';
/** So many orders are created before the trouble begins. */
const BEFORE = 150;
/** Calls and prepared intents that are on their way when the trouble begins, and the failures that end delivery. */
const ON_THEIR_WAY = 64 + 16 + 5;

describe.concurrent('after calls succeeded, with 64 in flight', () => {
  it.each<[string, OddAnswer]>([
    ['503 with an envelope and Retry-After: 1', { status: 503, headers: { 'retry-after': '1' } }],
    ['401 for each new token', { status: 401 }],
  ])('no endpoint gets more than five calls a second while %s stays', async (_, odd) => {
    const failed: number[] = [];
    let created = 0;
    await using api = await openOddApi(({ endpoint }) => {
      if (endpoint !== 'create') return undefined;
      created += 1;
      if (created <= BEFORE) return { after: 20 };
      failed.push(performance.now());
      return odd;
    });
    await using place = await openTroublePlace(api, {
      pace: FAST,
      onTheirWay: ON_THEIR_WAY,
    });
    await place.drop('orders.csv', csv(numbered(600)));
    await until('the trouble', () => failed.length > 0);
    await until('the watched time', () => performance.now() > (failed[0] ?? 0) + WATCHED);
    const watched = performance.now() - (failed[0] ?? 0);
    expect(failed.length).toBeLessThanOrEqual(ON_THEIR_WAY + mostIn(watched));
  });

  it('a resume while the API stays down sends one order at a time', async () => {
    const failed: number[] = [];
    let isDown = false;
    await using api = await openOddApi(({ endpoint }) => {
      if (endpoint !== 'create') return undefined;
      if (!isDown) return { after: 20 };
      failed.push(performance.now());
      return { status: 503, body: '<html>' };
    });
    await using place = await openTroublePlace(api, {
      pace: FAST,
    });
    await place.drop('orders.csv', csv(numbered(3_000)));
    await until('some orders', () => api.stored.length > 100);
    expect((await place.run('pause')).code).toBe(0);
    await until('the answers of the calls in flight', async () => {
      const states = await ledgerStates(place.redis?.url ?? '');
      return ![...states.values()].includes('sending');
    });
    isDown = true;
    expect((await place.run('resume')).code).toBe(0);
    await until('the first call', () => failed.length > 0);
    await until('the watched time', () => performance.now() > (failed[0] ?? 0) + WATCHED);
    expect(failed.length).toBeLessThanOrEqual(mostIn(performance.now() - (failed[0] ?? 0)));
  });

  it('refused connections: a few a second', async () => {
    const refused: number[] = [];
    let isUp = true;
    await using api = await openOddApi();
    const server = createServer((near) => {
      near.on('error', () => undefined);
      if (!isUp) {
        refused.push(performance.now());
        near.resetAndDestroy();
        return;
      }
      const far = createConnection(Number(new URL(api.url).port), '127.0.0.1').on(
        'error',
        () => undefined,
      );
      near.pipe(far).pipe(near);
      sockets.push(near, far);
    });
    const sockets: Socket[] = [];
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    await using place = await openTroublePlace(api, {
      pace: FAST,
      onTheirWay: ON_THEIR_WAY,
      baseUrl: `http://127.0.0.1:${port}/api/v1`,
    });
    await place.drop('orders.csv', csv(numbered(3_000)));
    await until('some orders', () => api.stored.length > BEFORE);
    isUp = false;
    for (const socket of sockets) socket.destroy();
    const from = performance.now();
    await until('the watched time', () => performance.now() > from + WATCHED);
    expect(refused.length).toBeLessThanOrEqual(ON_THEIR_WAY + mostIn(performance.now() - from));
    server.close();
  });

  it('every short outage ends: delivery opens up again and sends each order once', async () => {
    await using api = await openOddApi(({ endpoint, nth }) =>
      endpoint === 'create' && nth % 100 > 90 ? { status: 429 } : undefined,
    );
    await using place = await openTroublePlace(api, {
      pace: FAST,
    });
    const numbers = numbered(300);
    await place.drop('orders.csv', csv(numbers));
    expect(new Set(Object.values(await place.settled(numbers)))).toEqual(new Set(['accepted']));
  });
});
