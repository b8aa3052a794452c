import { randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { memoryOf } from '../../bench/process-figures.ts';
import { filesUnder } from '../support/files-under.ts';
import { freePort } from '../support/free-port.ts';
import { type Running, startProgram } from '../support/program.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { openWebServer } from '../support/web-server.ts';

// A daemon under its own user between neighbors of every kind: whatever they do, it keeps running, and takes the next
// good file.

/** Two users without special rights. */
const [DAEMON, NEIGHBOR] = [65_534, 12_345];
const isRoot = process.getuid?.() === 0;
const TOKEN = '{"access_token":"t","token_type":"Bearer","expires_in":3600}';
const HEAD = 'purchaseOrderNumber,articleCode,quantity\n';
/** The items of each row that is dropped. */
const ITEMS = [{ articleCode: 'A', quantity: 1 }];

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

type Place = AsyncDisposable & {
  folder: string;
  inbox: string;
  adminPort: number;
  daemon: Running;
  stored: string[];
  /** A file of the neighbor, complete at once. */
  drop(name: string | Buffer, content: string): Promise<void>;
  /** Drops a good file under a new name and waits until its order is at the API. */
  works(number: string): Promise<void>;
};

/** `odd` answers orders whose number begins with `ODD`, and everything below `/odd`. */
async function openPlace(odd: Answer = () => undefined, more = ''): Promise<Place> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await makeTempFolder());
  const redis = stack.use(await startTestRedis());
  const stored: string[] = [];
  const reply = (response: ServerResponse, status: number, body: string) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  const api = stack.use(
    await openWebServer(async (request, response) => {
      const body = await text(request).catch(() => '');
      if (request.url?.startsWith('/odd')) return odd(request, response, body);
      if (request.url?.includes('token')) return reply(response, 200, TOKEN);
      if (request.method === 'GET') {
        // True, so that an order whose answer came too late on a slow machine is not sent again.
        const purchaseOrders = stored.map((number) => ({
          purchaseOrderNumber: number,
          orderState: 'NEW',
          items: ITEMS,
        }));
        return reply(
          response,
          200,
          JSON.stringify({ status: 'success', error: null, data: { purchaseOrders } }),
        );
      }
      const { purchaseOrderNumber } = JSON.parse(body) as { purchaseOrderNumber: string };
      if (purchaseOrderNumber.startsWith('ODD')) return odd(request, response, body);
      stored.push(purchaseOrderNumber);
      const data = { purchaseOrderNumber, orderState: 'NEW' };
      reply(response, 201, JSON.stringify({ status: 'success', data, error: null }));
    }),
  );
  const url = `http://127.0.0.1:${api.port}`;
  const [inbox, adminPort] = [path.join(folder, 'inbox'), await freePort()];
  for (const name of ['inbox', 'reports']) await mkdir(path.join(folder, name));
  await writeFile(
    path.join(folder, 'po-sync.yaml'),
    `environment: staging
data: data
redis: { url: '${redis.url}' }
environments:
  staging: { baseUrl: '${url}/api/v1', authUrl: '${url}', list: trust }
sources:
  - { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 300ms }
${more.replaceAll('URL', url)}reports: { path: reports }
delivery: { attempts: 2, settle: 500ms, timeout: 1s, backoff: { initial: 50ms, max: 200ms }, probe: { initial: 100ms, max: 500ms } }
admin: { port: ${adminPort} }
`,
  );
  if (isRoot)
    for (const name of ['', 'inbox', 'reports'])
      await chown(path.join(folder, name), DAEMON, DAEMON);
  await chmod(folder, 0o711);
  await chmod(inbox, 0o777);
  const daemon = startProgram(['--config', path.join(folder, 'po-sync.yaml'), 'start'], {
    cwd: folder,
    env: {
      PO_SYNC_STAGING_CLIENT_ID: 'client',
      PO_SYNC_STAGING_CLIENT_SECRET: 'client-secret-of-the-test',
    },
    ...(isRoot ? { user: DAEMON } : {}),
  });
  stack.defer(async () => {
    daemon.child.kill('SIGKILL');
    await daemon.ended;
  });
  await until('ready', () => daemon.out().includes('daemon ready'));
  const kept = stack.move();
  const drop = async (name: string | Buffer, content: string) => {
    const draft = path.join(folder, 'draft');
    await writeFile(draft, content);
    if (isRoot) await chown(draft, NEIGHBOR, NEIGHBOR);
    await chmod(draft, 0o644);
    await rename(draft, Buffer.concat([Buffer.from(`${inbox}/`), Buffer.from(name)]));
  };
  return {
    folder,
    inbox,
    adminPort,
    daemon,
    stored,
    drop,
    async works(number) {
      await drop(`${number}.csv`, `${HEAD}${number},A,1\n`);
      await until(`the order ${number}`, () => stored.includes(number));
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function endsWell({ daemon }: Place): Promise<void> {
  expect(memoryOf(daemon.child.pid ?? 0, 'peak')).toBeLessThan(500);
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
}

describe.runIf(isRoot)('a neighbor who may write to the inbox', () => {
  it('takes folders away, closes them and puts others in their place while the daemon runs', async () => {
    await using place = await openPlace();
    await place.works('PO-1');
    const aside = path.join(place.folder, 'aside');
    const elsewhere = path.join(place.folder, 'elsewhere');
    await mkdir(elsewhere);
    await writeFile(path.join(elsewhere, 'private.csv'), `${HEAD}PRIVATE-1,A,1\n`, { mode: 0o600 });
    await chmod(place.inbox, 0);
    await until('the loss', () => place.daemon.out().includes('source-lost'));
    await chmod(place.inbox, 0o777);
    await place.works('PO-2');
    await rename(place.inbox, aside);
    await until('the second loss', () => place.daemon.out().split('source-lost').length > 2);
    await rename(aside, place.inbox);
    await place.works('PO-3');
    await until('the settled file', async () => (await readdir(place.inbox)).includes('done'));
    const done = path.join(place.inbox, 'done');
    // The daemon makes its folder again at any moment.
    await until('the file in its place', async () => {
      await rename(done, path.join(place.inbox, `was-done-${randomUUID()}`)).catch(() => undefined);
      return writeFile(done, 'not a folder', { flag: 'wx' }).then(
        () => true,
        () => false,
      );
    });
    await place.works('PO-4');
    await symlink(elsewhere, path.join(place.folder, 'link'));
    await rename(path.join(place.folder, 'link'), done);
    // A link in the place of `done` stops the inbox, and says so.
    await until('the reason', () => place.daemon.out().includes('done is a link'));
    await place.drop(
      'PO-5.csv',
      `${HEAD}PO-5,A,1
`,
    );
    expect(await readdir(elsewhere)).toEqual(['private.csv']);
    await rm(done);
    await place.works('PO-6');
    await until(
      'the settled files',
      // The empty folder of a claim that was interrupted stays for a minute.
      async () => (await filesUnder(path.join(place.inbox, 'processing'))).length === 0,
    );
    await until('every order', () => place.stored.length >= 6);
    expect(place.stored.sort()).toEqual(['PO-1', 'PO-2', 'PO-3', 'PO-4', 'PO-5', 'PO-6']);
    await endsWell(place);
  });
});

describe('a neighbor at the admin port', () => {
  it('sends huge cookies, endless headers, slow and false bodies: health is answered, and memory stays', async () => {
    await using place = await openPlace();
    const host = 'Host: 127.0.0.1\r\n';
    const attacks = [
      `GET / HTTP/1.1\r\n${host}Cookie: __Host-po_sync=${'x'.repeat(64_000)}\r\n\r\n`,
      `GET / HTTP/1.1\r\n${host}${'Cookie: __Host-po_sync=a.b;'.repeat(500)}\r\n\r\n`,
      `GET / HTTP/1.1\r\n${host}Authorization: Bearer ${'x'.repeat(15_000)}\r\n\r\n`,
      `GET /${'a/'.repeat(7_000)} HTTP/1.1\r\n${host}\r\n`,
      `GET /order?number=${'%'.repeat(10_000)} HTTP/1.1\r\n${host}\r\n`,
      `GET /batches/%00%2f..%2f..%2fetc HTTP/1.1\r\n${host}\r\n`,
      `GET http://evil.example/ HTTP/1.1\r\n${host}\r\n`,
      'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
      `GET / HTTP/1.1\r\n${host}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
      `GET / HTTP/1.1\r\n${host}Expect: 100-continue\r\n\r\n`,
      `POST /api/v1/session HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 999999999\r\n\r\n{`,
      `POST /api/v1/session HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5\r\nGET /`,
      `POST /api/v1/session HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFF\r\n`,
      `POST /login HTTP/1.1\r\n${host}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 900000\r\n\r\n${'&'.repeat(900_000)}`,
      `POST /api/v1/session HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 200000\r\n\r\n${'['.repeat(200_000)}`,
      `POST /api/v1/session HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 47\r\n\r\n{"__proto__":{"role":"operate"},"code":{"a":1}}`,
      '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    ];
    const sockets = attacks.flatMap((attack) =>
      Array.from({ length: 4 }, () => {
        const socket = connect(place.adminPort, '127.0.0.1').on('error', () => undefined);
        socket.resume();
        socket.write(attack);
        return socket;
      }),
    );
    // Headers that never end, a byte at a time.
    const endless = connect(place.adminPort, '127.0.0.1').on('error', () => undefined);
    endless.resume();
    endless.write(`GET / HTTP/1.1\r\n${host}`);
    const drip = setInterval(() => endless.write('X-A: b\r\n'), 5);
    for (let i = 0; i < 20; i += 1) {
      const answer = await fetch(`http://127.0.0.1:${place.adminPort}/healthz`, {
        headers: { connection: 'close' },
      });
      expect(answer.status).toBe(200);
    }
    await until('the end of the endless headers', () => endless.destroyed);
    clearInterval(drip);
    for (const socket of sockets) socket.destroy();
    await place.works('PO-1');
    await endsWell(place);
  });
});

describe('a server that answers', () => {
  /** Made once: it keeps the server from answering for as long as it takes. */
  const BOMB = gzipSync(Buffer.alloc(50_000_000, '['));
  const created =
    '{"status":"success","data":{"purchaseOrderNumber":"ODD","orderState":"NEW"},"error":null}';
  const statusOf = (method: string | undefined) => (method === 'GET' ? 200 : 201);
  const WAYS: Record<string, Answer> = {
    'a gzip bomb': ({ method }, response) =>
      void response
        .writeHead(statusOf(method), {
          'content-type': 'application/json',
          'content-encoding': 'gzip',
        })
        .end(BOMB),
    'a header without an end': ({ socket }) => {
      socket.write('HTTP/1.1 201 Created\r\nX-Long: ');
      const more = () => {
        while (!socket.destroyed && socket.write('x'.repeat(65_536)));
      };
      socket.on('drain', more);
      more();
    },
    'ten thousand headers': ({ socket }) =>
      void socket.end(`HTTP/1.1 201 Created\r\n${'X-A: b\r\n'.repeat(10_000)}\r\n${created}`),
    'interim answers without an end': ({ socket }) => {
      const more = () => {
        while (!socket.destroyed && socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(500)));
      };
      socket.on('drain', more);
      more();
    },
    'chunks without an end': ({ method }, response) => {
      response.writeHead(statusOf(method), { 'content-type': 'application/json' });
      // An export may have 2 GiB: this one ends by its time.
      const more = setInterval(() => response.write('x'.repeat(65_536)), 5);
      response.on('close', () => clearInterval(more));
    },
    'a byte a second': ({ method }, response) => {
      response.writeHead(statusOf(method), { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 200);
      response.on('close', () => clearInterval(drip));
    },
    'a redirect to a file': (_, response) =>
      void response.writeHead(307, { location: 'file:///etc/passwd' }).end(),
    'a redirect elsewhere': ({ headers }, response) =>
      void response.writeHead(308, { location: `http://${headers.host}/odd/followed` }).end(),
    'a length that never comes': ({ method, socket }) =>
      void socket.write(
        `HTTP/1.1 ${statusOf(method)} OK\r\nContent-Length: 999999999999\r\n\r\n${created}`,
      ),
    'two lengths': ({ socket }) =>
      void socket.end(
        `HTTP/1.1 201 Created\r\nContent-Length: 5\r\nContent-Length: 50\r\n\r\n${created}`,
      ),
    'bytes that are not HTTP': ({ socket }) => void socket.end('\u0015\u0003\u0003\u0000\u0002'),
  };
  // One daemon meets all of them, in each of three places.
  const ways = Object.entries(WAYS);
  const PLACES = ['order', 'hook', 'export'];
  const everyWay = ways.flatMap((_, nth) => PLACES.map((place) => `${place} ${nth}`)).sort();

  it(`${Object.keys(WAYS).join(', ')}: harms nothing but the answer, also as webhook and as export`, async () => {
    const served = new Set<string>();
    const odd: Answer = (request, response, body) => {
      const [, place = 'order', nth = /ODD-(\d+)/.exec(body)?.[1]] =
        /^\/odd\/(\w+)\/(\d+)/.exec(request.url ?? '') ?? [];
      served.add(`${place} ${nth}`);
      ways[Number(nth)]?.[1](request, response, body);
    };
    const each = (line: (nth: number) => string) =>
      ways.map((_, nth) => `  - ${line(nth)}\n`).join('');
    const limits = 'stable: 100ms, poll: 30s, timeout: 1s, idle: 500ms';
    const exports = each(
      (nth) => `{ name: erp-${nth}, type: export, path: 'URL/odd/export/${nth}', ${limits} }`,
    );
    const hooks = each((nth) => `{ on: [attention], webhook: 'URL/odd/hook/${nth}' }`);
    await using place = await openPlace(odd, `${exports}notify:\n${hooks}`);
    for (const [nth] of ways.entries())
      await place.drop(`odd-${nth}.csv`, `${HEAD}ODD-${nth},A,1\n`);
    await place.drop('bad.csv', `${HEAD}BAD-1,A,x\n`);
    await until('every answer', () => everyWay.every((one) => served.has(one)));
    await place.works('PO-1');
    // A redirect that is followed would be one more.
    expect([...served].sort()).toEqual(everyWay);
    expect(place.stored).toEqual(['PO-1']);
    const health = await fetch(`http://127.0.0.1:${place.adminPort}/healthz`);
    expect(health.status).toBe(200);
    await endsWell(place);
  });
});
