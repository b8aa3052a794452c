import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerOptions } from 'node:https';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, PoSyncError } from '../../src/core/errors.ts';
import { type HttpEnd, openHttp } from '../../src/core/http.ts';
import type { Route } from '../../src/core/pool.ts';
import { openTls, type TlsSettings } from '../../src/core/tls-files.ts';
import { type Certificate, HAS_OPENSSL, openAuthority } from '../support/certificates.ts';
import { openConnectProxy } from '../support/connect-proxy.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { openWebServer } from '../support/web-server.ts';

const HOST = 'api.example.test';
const BODY = '{"purchaseOrderNumber":"4711"}';

let stack: AsyncDisposableStack;
let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let authority: Awaited<ReturnType<typeof openAuthority>>;
let other: Awaited<ReturnType<typeof openAuthority>>;
let server: Certificate;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  if (!HAS_OPENSSL) return;
  folder = stack.use(await makeTempFolder());
  authority = await openAuthority(folder.path);
  other = await openAuthority(folder.path, 'other');
  server = await authority.issue('server', { names: [HOST, 'localhost'] });
});

afterAll(() => stack.disposeAsync());

/** An HTTPS server on loopback that answers with the client's name; it keeps the bodies that it read. */
async function serve(certificate: Certificate, more: ServerOptions = {}) {
  const bodies: string[] = [];
  const files = { cert: await readFile(certificate.cert), key: await readFile(certificate.key) };
  const opened: Server = createServer({ ...files, ...more }, (request, response) => {
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    request.on('data', (chunk: Buffer) => bodies.push(chunk.toString()));
    request.on('end', () => answer(() => response.end(String(subject?.CN ?? 'nobody'))));
  });
  let answer = (now: () => void) => now();
  opened.on('tlsClientError', () => undefined).listen(0, '127.0.0.1');
  await once(opened, 'listening');
  const address = opened.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    port,
    bodies,
    url: new URL(`https://localhost:${port}/orders`),
    /** What happens once a request was read. */
    onRead: (act: (answer: () => void) => void) => {
      answer = act;
    },
    async [Symbol.asyncDispose]() {
      opened.closeAllConnections();
      await new Promise((resolve) => opened.close(resolve));
    },
  };
}

async function post(url: URL, route: Route, prepare = async () => true): Promise<HttpEnd> {
  await using http = openHttp({ connections: 1, connectTimeout: 20_000, route });
  return await http.call({
    method: 'POST',
    url,
    headers: {},
    body: BODY,
    timeout: 30_000,
    prepare,
  });
}

const through = (url: string, authorization?: string) => () => ({
  url: new URL(url),
  authorization,
});

const tls = (settings: TlsSettings, passphrase?: string) => openTls(settings, passphrase);

function errorOf(end: HttpEnd): PoSyncError {
  if (end.kind === 'answered' || !(end.error instanceof PoSyncError))
    throw new Error(JSON.stringify(end));
  return end.error;
}

describe.skipIf(!HAS_OPENSSL)('a proxy', () => {
  test('gets a tunnel for https, and the API the request', async () => {
    await using api = await serve(server);
    await using proxy = await openConnectProxy({ hosts: { [HOST]: api.port } });
    const route = { proxyTo: through(proxy.url), tls: tls({ caFile: authority.caFile }) };
    expect(await post(new URL(`https://${HOST}/orders`), route)).toMatchObject({
      kind: 'answered',
    });
    expect(proxy.asked).toEqual([`CONNECT ${HOST}:443 HTTP/1.1`]);
    expect(api.bodies).toEqual([BODY]);
  });

  test('gets a tunnel for http too', async () => {
    await using api = await openWebServer((_, response) => response.end('{}'));
    await using proxy = await openConnectProxy({ hosts: { [HOST]: api.port } });
    const end = await post(new URL(`http://${HOST}/orders`), { proxyTo: through(proxy.url) });
    expect(end).toMatchObject({ kind: 'answered', answer: { status: 200 } });
    expect(proxy.asked).toEqual([`CONNECT ${HOST}:80 HTTP/1.1`]);
  });

  test.each([
    ['silent', 'proxy-timeout'],
    ['reset', 'proxy-unreachable'],
    ['bad gateway', 'proxy-refused'],
    ['garbage', 'proxy-refused'],
  ] as const)(
    'that is %s leaves the order unsent, without an intent, and works when it recovers',
    async (mood, code) => {
      await using api = await serve(server);
      await using proxy = await openConnectProxy({ hosts: { [HOST]: api.port } });
      const route = { proxyTo: through(proxy.url), tls: tls({ caFile: authority.caFile }) };
      // Only silence takes all of it.
      const connectTimeout = mood === 'silent' ? 3_000 : 20_000;
      await using http = openHttp({ connections: 1, connectTimeout, route });
      let intents = 0;
      const prepare = async () => {
        intents += 1;
        return true;
      };
      const call = {
        method: 'POST',
        url: new URL(`https://${HOST}/`),
        headers: {},
        body: BODY,
        prepare,
      } as const;
      proxy.mood = mood;
      const end = await http.call({ ...call, timeout: 30_000 });
      expect(end.kind).toBe('unsent');
      expect(errorOf(end)).toMatchObject({ code, remedy: expect.any(String) });
      expect(errorOf(end).message).toContain(new URL(proxy.url).host);
      expect(intents).toBe(0);
      proxy.mood = 'tunnel';
      expect(await http.call({ ...call, timeout: 30_000 })).toMatchObject({ kind: 'answered' });
      expect(intents).toBe(1);
    },
  );

  test('that is not there is reported as unreachable', async () => {
    const proxy = await openConnectProxy();
    await proxy[Symbol.asyncDispose]();
    const end = await post(new URL(`http://${HOST}/`), { proxyTo: through(proxy.url) });
    expect(end.kind).toBe('unsent');
    expect(codeOf(errorOf(end))).toBe('proxy-unreachable');
  });

  test('that requires a password is reported with the variables to set', async () => {
    await using api = await openWebServer((_, response) => response.end('{}'));
    await using proxy = await openConnectProxy({
      credentials: 'erp:s3cret',
      hosts: { [HOST]: api.port },
    });
    const url = new URL(`http://${HOST}/`);
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    const without = errorOf(await post(url, { proxyTo: through(proxy.url) }));
    expect(without.code).toBe('proxy-authentication');
    expect(without.message).toContain('requires a user name and a password');
    expect(without.remedy).toContain('_PROXY_PASSWORD');
    const wrong = errorOf(await post(url, { proxyTo: through(proxy.url, basic('erp:wrong')) }));
    expect(wrong.message).toContain('refuses the user name and the password');
    expect(await post(url, { proxyTo: through(proxy.url, basic('erp:s3cret')) })).toMatchObject({
      kind: 'answered',
    });
  });

  test('that dies after the first byte leaves the outcome open', async () => {
    await using api = await serve(server);
    await using proxy = await openConnectProxy({ hosts: { [HOST]: api.port } });
    api.onRead(() => proxy.dropAll());
    const route = { proxyTo: through(proxy.url), tls: tls({ caFile: authority.caFile }) };
    const end = await post(new URL(`https://${HOST}/`), route);
    expect(end).toMatchObject({ kind: 'broken' });
    expect(api.bodies).toEqual([BODY]);
  });

  test('that dies between the tunnel and the first byte leaves the order unsent', async () => {
    await using api = await serve(server);
    await using proxy = await openConnectProxy({ hosts: { [HOST]: api.port } });
    const route = { proxyTo: through(proxy.url), tls: tls({ caFile: authority.caFile }) };
    const end = await post(new URL(`https://${HOST}/`), route, async () => {
      proxy.dropAll();
      await new Promise((resolve) => setImmediate(resolve));
      return false;
    });
    expect(end.kind).toBe('unsent');
    expect(api.bodies).toEqual([]);
  });
});

describe.skipIf(!HAS_OPENSSL)('TLS', () => {
  test('a private CA is trusted by its file', async () => {
    await using api = await serve(server);
    expect(await post(api.url, { tls: tls({ caFile: authority.caFile }) })).toMatchObject({
      kind: 'answered',
    });
  });

  /** A server with a chain from a root over an intermediate authority; `sends`: what of it. */
  async function serveChain(sends: ('intermediate' | 'root')[]) {
    const between = await openAuthority(folder.path, 'intermediate', authority);
    const leaf = await between.issue('behind', { names: ['localhost'] });
    const files = [leaf.cert, ...sends.map((one) => (one === 'root' ? authority : between).caFile)];
    const cert = path.join(folder.path, 'sent.pem');
    await writeFile(cert, await Promise.all(files.map((file) => readFile(file))));
    return serve({ ...leaf, cert });
  }

  test.each<[string, ('intermediate' | 'root')[], 'none' | 'root' | 'other']>([
    ['lacks the intermediate certificate', [], 'root'],
    ['lacks the intermediate certificate', [], 'none'],
    ['ends before a private root', ['intermediate'], 'none'],
    ['ends with a private root', ['intermediate', 'root'], 'none'],
    ['ends with a private root', ['intermediate', 'root'], 'other'],
  ])('a chain that %s (%j) with caFile %s is refused', async (_, sends, caFile) => {
    await using api = await serveChain(sends);
    const trusted = { root: authority, other, none: undefined }[caFile];
    const end = await post(api.url, trusted ? { tls: tls({ caFile: trusted.caFile }) } : {});
    expect(end.kind).toBe('unsent');
    const remedy = expect.stringContaining('tls.caFile');
    expect(errorOf(end)).toMatchObject({ code: 'tls-untrusted', remedy });
    expect(api.bodies).toEqual([]);
  });

  test('a complete chain is accepted', async () => {
    await using api = await serveChain(['intermediate']);
    expect(await post(api.url, { tls: tls({ caFile: authority.caFile }) })).toMatchObject({
      kind: 'answered',
    });
  });

  test('a self-signed certificate is refused and called that', async () => {
    const [cert, key] = [authority.caFile, authority.caFile.replace('.pem', '.key')];
    await using api = await serve({ cert, key });
    for (const route of [{}, { tls: tls({ caFile: other.caFile }) }])
      expect(errorOf(await post(api.url, route))).toMatchObject({
        code: 'tls-untrusted',
        message: expect.stringContaining('self-signed'),
      });
  });

  test.each([
    [
      'an expired certificate',
      { names: ['localhost'], from: '20240101000000Z', until: '20240201000000Z' },
      /^the certificate of localhost:\d+ is not accepted: certificate has expired\.$/,
    ],
    [
      'a certificate of tomorrow',
      { names: ['localhost'], from: '20980101000000Z', until: '20990101000000Z' },
      /not accepted: certificate is not yet valid\.$/,
    ],
    [
      'a certificate of another host',
      { names: ['other.example.test'] },
      /not accepted: Hostname.* does not match .*other\.example\.test\.$/,
    ],
  ])('%s leaves the order unsent and is named', async (title, wish, message) => {
    await using api = await serve(await authority.issue(title.replaceAll(' ', '-'), wish));
    const end = await post(api.url, { tls: tls({ caFile: authority.caFile }) });
    expect(end.kind).toBe('unsent');
    expect(errorOf(end)).toMatchObject({
      code: 'tls-untrusted',
      message: expect.stringMatching(message),
      remedy: expect.any(String),
    });
    expect(api.bodies).toEqual([]);
  });

  test('tls.serverName names the host that the certificate is for', async () => {
    await using api = await serve(
      await authority.issue('named', { names: ['inner.example.test'] }),
    );
    const end = await post(api.url, {
      tls: tls({ caFile: authority.caFile, serverName: 'inner.example.test' }),
    });
    expect(end.kind).toBe('answered');
  });

  test('a server below the minimum version is refused', async () => {
    await using api = await serve(server, { maxVersion: 'TLSv1.2' });
    const strict = tls({ caFile: authority.caFile, minVersion: 'TLSv1.3' });
    expect(errorOf(await post(api.url, { tls: strict })).code).toBe('tls-version');
    expect(await post(api.url, { tls: tls({ caFile: authority.caFile }) })).toMatchObject({
      kind: 'answered',
    });
  });

  test('a server without TLS is reported as such', async () => {
    await using api = await openWebServer((_, response) => response.end());
    expect(errorOf(await post(new URL(`https://localhost:${api.port}/`), {})).code).toBe(
      'tls-not-spoken',
    );
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'a client certificate is presented with %s; without it the order stays unsent',
    async (version) => {
      const ca = await readFile(authority.caFile);
      const strict = {
        ca,
        requestCert: true,
        rejectUnauthorized: true,
        minVersion: version,
        maxVersion: version,
      };
      await using api = await serve(server, strict);
      const good = await authority.issue('client', {
        names: ['po-sync'],
        passphrase: 'pass phrase',
      });
      const bad = await other.issue('stranger', { names: ['stranger'] });
      const settings = (one: Certificate) => ({
        caFile: authority.caFile,
        certFile: one.cert,
        keyFile: one.key,
      });
      const end = await post(api.url, { tls: tls(settings(good), 'pass phrase') });
      expect(end.kind === 'answered' ? end.answer.body.toString() : end).toBe('po-sync');
      for (let time = 0; time < 5; time += 1) {
        const refused = await post(api.url, { tls: tls(settings(bad)) });
        expect(refused.kind).toBe('unsent');
        expect(errorOf(refused)).toMatchObject({ remedy: expect.stringContaining('certFile') });
      }
      expect(api.bodies).toEqual([BODY]);
    },
  );

  test('files that cannot be used are reported at once', async () => {
    const locked = await authority.issue('locked', {
      names: ['locked'],
      passphrase: 'open sesame',
    });
    const files = { certFile: locked.cert, keyFile: locked.key };
    expect(() => tls({ caFile: path.join(folder.path, 'absent.pem') })).toThrow(
      expect.objectContaining({ code: 'tls-file-unreadable' }),
    );
    expect(() => tls({ caFile: server.key })).toThrow(
      expect.objectContaining({ code: 'tls-file-invalid' }),
    );
    expect(() => tls(files)).toThrow(expect.objectContaining({ code: 'tls-file-invalid' }));
    expect(() => tls(files, 'wrong')).toThrow(
      expect.objectContaining({ code: 'tls-file-invalid' }),
    );
    expect(() => tls({ ...files, keyFile: server.key })).toThrow(
      expect.objectContaining({ code: 'tls-file-invalid' }),
    );
    expect(() => tls(files, 'open sesame')).not.toThrow();
  });
});
