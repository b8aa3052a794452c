import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ExportSource } from '../../src/config/config.ts';
import { Secret } from '../../src/config/secret.ts';
import { systemClock } from '../../src/core/clock.ts';
import { hashFile } from '../../src/core/regular-file.ts';
import type { Validators } from '../../src/intake/download.ts';
import { openWebExport } from '../../src/intake/web-export.ts';
import type { ClaimedFile } from '../../src/order/batch.ts';
import { capturedLog } from '../support/captured-log.ts';
import { exportSource } from '../support/inbox-source.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { openWebServer } from '../support/web-server.ts';

const ROWS = 'purchaseOrderNumber,articleCode,quantity\n1,A,1\n';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

type Settings = { step?: string; most?: number } & Partial<ExportSource>;

async function openTestExport(answer: Answer, settings: Settings = {}) {
  const { step = 'orders.csv?key=secret', most, ...more } = settings;
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await makeTempFolder());
  const requests: IncomingMessage[] = [];
  const server = stack.use(await openWebServer(answer));
  const listen = (next: Answer) => {
    server.answer = (request, response) => {
      requests.push(request);
      next(request, response);
    };
  };
  listen(answer);
  const spool = path.join(folder.path, 'spool');
  const { log, lines } = capturedLog();
  const copies: ClaimedFile[] = [];
  const known = new Map<string, string>();
  const versions = { areTheirs: false };
  let kept: Validators | undefined;
  const open = () =>
    openWebExport({
      source: exportSource(`http://127.0.0.1:${server.port}/${step}`, more),
      spool,
      access: {
        authorization: new Secret('Bearer let-me-in'),
        ...(most !== undefined && { most }),
      },
      clock: systemClock,
      log,
      claim: async ({ name, sha256 }) =>
        versions.areTheirs ? 'theirs' : known.get(name) === sha256 ? 'unchanged' : 'new',
      isTheirs: async () => versions.areTheirs,
      validators: {
        recall: async () => kept,
        keep: async (validators) => {
          kept = validators;
        },
      },
      onReady: async (copy) => {
        copies.push(copy);
        known.set(copy.name, (await hashFile(copy.path)).sha256);
      },
    });
  const resources = stack.move();
  return {
    copies,
    versions,
    requests,
    lines,
    open,
    listen,
    close: () => server[Symbol.asyncDispose](),
    spooled: () => readdir(spool).catch(() => []),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const send =
  (body: string | Buffer, headers: Record<string, string> = {}): Answer =>
  (request, response) => {
    if (headers['etag'] !== undefined && request.headers['if-none-match'] === headers['etag']) {
      response.writeHead(304).end();
      return;
    }
    response.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  };

/** A letter at a time, and never an end. */
const dripping: Answer = (_, response) => {
  response.writeHead(200);
  const drip = setInterval(() => response.write('x'), 50);
  response.on('close', () => clearInterval(drip));
};

/** Some letters slowly, then the rest. */
async function dribble(response: ServerResponse): Promise<void> {
  response.writeHead(200);
  for (const deadLetter of ROWS.slice(0, 10)) {
    response.write(deadLetter);
    await delay(150);
  }
  response.end(ROWS.slice(10));
}

describe('an export of a web address', () => {
  test('validators of more than a kilobyte are not kept', async () => {
    await using it = await openTestExport(
      send(ROWS, { etag: `"${'x'.repeat(2_000)}"`, 'last-modified': 'x'.repeat(2_000) }),
    );
    for (let round = 0; round < 2; round += 1) {
      await using watch = it.open();
      await watch.settleOnce();
    }
    expect(
      it.requests.map(({ headers }) => [headers['if-none-match'], headers['if-modified-since']]),
    ).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  test('is downloaded with its credentials for any media type; an unchanged version is not downloaded again', async () => {
    await using it = await openTestExport(send(ROWS, { etag: '"1"', 'content-type': 'image/png' }));
    {
      await using watch = it.open();
      await watch.settleOnce();
    }
    await using watch = it.open();
    await watch.settleOnce();
    expect(it.copies).toMatchObject([{ kind: 'export', name: 'orders.csv', source: 'erp' }]);
    expect(await readFile(it.copies[0]?.path ?? '', 'utf8')).toBe(ROWS);
    expect(it.requests.map(({ headers }) => headers)).toMatchObject([
      { authorization: 'Bearer let-me-in' },
      { authorization: 'Bearer let-me-in', 'if-none-match': '"1"' },
    ]);
    it.listen(send(`${ROWS}2,B,1\n`, { etag: '"2"' }));
    await watch.settleOnce();
    expect(it.copies).toHaveLength(2);
    expect(await it.spooled()).toHaveLength(2);
    expect(JSON.stringify(it.lines)).not.toMatch(/secret|let-me-in/);
  });

  test('is requested by modification time if the server sends no ETag', async () => {
    const at = 'Sat, 21 Nov 2026 07:15:00 GMT';
    await using it = await openTestExport(send(ROWS, { 'last-modified': at }));
    await using watch = it.open();
    await watch.settleOnce();
    await watch.settleOnce();
    expect(it.requests[1]?.headers['if-modified-since']).toBe(at);
  });

  test('that another daemon reads, or nobody may read yet, is not downloaded again until that changes', async () => {
    const downloads: string[] = [];
    const counted = (etag: string): Answer => {
      const answer = send(ROWS, { etag });
      return (request, response) => {
        response.on('finish', () => downloads.push(`${etag} ${response.statusCode}`));
        answer(request, response);
      };
    };
    await using it = await openTestExport(counted('"1"'));
    it.versions.areTheirs = true;
    await using watch = it.open();
    await watch.settleOnce();
    await watch.settleOnce();
    it.listen(counted('"2"'));
    await watch.settleOnce();
    await watch.settleOnce();
    expect(downloads).toEqual(['"1" 200', '"1" 304', '"2" 200', '"2" 304']);
    expect([it.copies, await it.spooled()]).toEqual([[], []]);
    it.versions.areTheirs = false;
    await watch.settleOnce();
    await watch.settleOnce();
    expect(downloads.slice(4)).toEqual(['"2" 200', '"2" 304']);
    expect(it.copies).toHaveLength(1);
  });

  test('with unchanged content creates no batch and leaves no copy', async () => {
    await using it = await openTestExport(send(ROWS));
    await using watch = it.open();
    await watch.settleOnce();
    await watch.settleOnce();
    expect(it.requests).toHaveLength(2);
    expect(it.copies).toHaveLength(1);
    expect(await it.spooled()).toHaveLength(1);
  });

  test('without content creates no batch', async () => {
    await using it = await openTestExport(send(''));
    await using watch = it.open();
    await watch.settleOnce();
    expect(it.copies).toEqual([]);
    expect(it.lines.filter(({ msg }) => msg === 'export empty')).toHaveLength(1);
  });

  test('can be large and chunked', async () => {
    const large = Buffer.alloc(3_000_000, 'x');
    await using it = await openTestExport((_, response) => {
      response.writeHead(200);
      response.write(large);
      response.end(gzipSync(ROWS));
    });
    await using watch = it.open();
    await watch.settleOnce();
    const content = await readFile(it.copies[0]?.path ?? '');
    expect(content.equals(Buffer.concat([large, gzipSync(ROWS)]))).toBe(true);
  });

  test.each<[string, Answer, string]>([
    [
      'shorter than it said',
      (_, response) => {
        response.writeHead(200, { 'content-length': 1000 });
        response.write(ROWS);
        setImmediate(() => response.destroy());
      },
      'export-unreachable',
    ],
    [
      'broken off between two pieces',
      (_, response) => {
        response.writeHead(200);
        response.write(ROWS);
        setImmediate(() => response.destroy());
      },
      'export-unreachable',
    ],
    [
      'of unknown length, and simply ends',
      (request) => {
        request.socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${ROWS}`);
      },
      'export-cut-off',
    ],
    [
      'elsewhere',
      (_, response) => void response.writeHead(302, { location: '/other' }).end(),
      'export-refused',
    ],
    ['denied', (_, response) => void response.writeHead(401).end(ROWS), 'export-refused'],
    ['in trouble', (_, response) => void response.writeHead(500).end(ROWS), 'export-refused'],
    ['part of it', (_, response) => void response.writeHead(206).end(ROWS), 'export-refused'],
  ])('that is %s is never taken', async (_, answer, code) => {
    await using it = await openTestExport(answer);
    await using watch = it.open();
    await expect(watch.settleOnce()).rejects.toMatchObject({ code });
    expect(it.copies).toEqual([]);
    expect(await it.spooled()).toEqual([]);
    expect(it.requests).toHaveLength(1);
  });

  test.each<[string, Partial<ExportSource>, Answer]>([
    ['before the first byte', { idle: 800 }, () => undefined],
    [
      'half way',
      { idle: 800 },
      (_, response) => void response.writeHead(200, { 'content-length': 1000 }).write(ROWS),
    ],
    ['byte by byte, for ever', { timeout: 1_000, idle: 800 }, dripping],
  ])('that stalls %s is aborted in time and requested again', async (_, limits, answer) => {
    await using it = await openTestExport(answer, limits);
    await using watch = it.open();
    await expect(watch.settleOnce()).rejects.toMatchObject({ code: 'export-unreachable' });
    expect(await it.spooled()).toEqual([]);
    it.listen(send(ROWS));
    await watch.settleOnce();
    expect(it.copies).toHaveLength(1);
  });

  test('that arrives slowly is waited for', async () => {
    await using it = await openTestExport((_, response) => void dribble(response), { idle: 1_000 });
    await using watch = it.open();
    await watch.settleOnce();
    expect(await readFile(it.copies[0]?.path ?? '', 'utf8')).toBe(ROWS);
  });

  test('that is too large is never taken, with or without an announced length', async () => {
    await using it = await openTestExport(send(ROWS.repeat(50_000)), { most: 1_000_000 });
    await using watch = it.open();
    await expect(watch.settleOnce()).rejects.toMatchObject({
      code: 'export-too-large',
      facts: { limit: 1_000_000 },
    });
    it.listen((_, response) => void response.writeHead(200).end(Buffer.alloc(2_000_000)));
    await expect(watch.settleOnce()).rejects.toMatchObject({ code: 'export-too-large' });
    expect([it.copies, await it.spooled()]).toEqual([[], []]);
  });

  test('that does not exist yet is waited for', async () => {
    await using it = await openTestExport((_, response) => void response.writeHead(404).end());
    await using watch = it.open();
    await watch.settleOnce();
    await watch.settleOnce();
    expect(it.lines.filter(({ msg }) => msg === 'export absent')).toHaveLength(1);
    it.listen(send(ROWS));
    await watch.settleOnce();
    expect(it.copies).toHaveLength(1);
  });

  test('that does not answer is reported once, and once when it is back', async () => {
    await using it = await openTestExport((request) => void request.socket.destroy());
    await using watch = it.open();
    await watch.tick();
    await watch.tick();
    it.listen(send(ROWS));
    await watch.tick();
    const told = it.lines.map(({ msg }) => msg);
    expect(told).toEqual(['source lost', 'export copied', 'source back']);
    expect(watch.healthy()).toBe(true);
  });

  test('with a hostile name is stored in its own folder under a safe name', async () => {
    await using it = await openTestExport(send(ROWS), { step: '..%2f..%2f.x%00%0a' });
    await using watch = it.open();
    await watch.settleOnce();
    expect(it.copies[0]?.name).toMatch(/^[A-Za-z0-9_][\w.% -]*$/);
    expect(await it.spooled()).toHaveLength(1);
  });
});
