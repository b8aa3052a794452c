import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { HAS_OPENSSL, openAuthority } from '../support/certificates.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';
import { openWebServer } from '../support/web-server.ts';
import { openWorkplace } from '../support/workplace.ts';
import { textRows, writeWorkbook } from '../support/write-workbook.ts';

describe('a workbook at a web address', () => {
  it('is fetched with the credentials of its source, delivered, and not fetched again while it is the same', async () => {
    const book = await writeWorkbook(
      textRows([
        ['purchaseOrderNumber', 'articleCode', 'quantity'],
        ['00123', 'BOLT', '5'],
        ['1002', 'NUT', 'many'],
      ]),
    );
    const answered: number[] = [];
    await using server = await openWebServer((request, response) => {
      const isKnown = request.headers['if-none-match'] === '"1"';
      const isAllowed =
        request.headers.authorization === `Basic ${Buffer.from('erp:pass').toString('base64')}`;
      const status = isAllowed ? (isKnown ? 304 : 200) : 401;
      answered.push(status);
      response.writeHead(status, {
        etag: '"1"',
        ...(status === 200 && { 'content-length': book.length }),
      });
      response.end(status === 200 ? book : undefined);
    });
    await using place = await openWorkplace({
      source: `- { name: erp, type: export, path: 'http://127.0.0.1:${server.port}/orders.xlsx', poll: 200ms }`,
    });
    const env = { PO_SYNC_SOURCE_ERP_USER: 'erp', PO_SYNC_SOURCE_ERP_PASSWORD: 'pass' };
    expect(await place.run(['start', '--once'], env)).toMatchObject({ code: 2 });
    expect([...place.stored()]).toEqual([['00123', 1]]);
    const [report] = await place.reportsNow();
    expect(report).toMatchObject({
      format: { type: 'xlsx' },
      counts: { orders: 2, accepted: 1, invalid: 1 },
    });
    if (report) expect(await place.read(report, 'dead-letters.json')).toContain('"NUT"');
    await place.run(['start', '--once'], env);
    expect(answered).toEqual([200, 304]);
    expect(await place.reportsNow()).toHaveLength(1);
  });
});

describe('an export that is sent as something else each time, such as a login page with a nonce', () => {
  const ROWS = 'purchaseOrderNumber,articleCode,quantity\n1,A,1\n';
  const page = (nonce: number) => `<html><title>Sign in</title><input value="${nonce}"></html>`;
  const lost = (out: string) => out.split('\n').filter((line) => line.includes('"source-lost"'));

  it('at a web address is one unreadable batch and one trouble, asked for less and less, until a file can be read', async () => {
    let isAllowed = false;
    let asked: number[] | undefined;
    await using server = await openWebServer((_, response) => {
      asked?.push(performance.now());
      const body = isAllowed ? ROWS : page(asked?.length ?? 0);
      response.writeHead(200, { 'content-length': body.length }).end(body);
    });
    await using place = await openWorkplace({
      source: `- { name: erp, type: export, path: 'http://127.0.0.1:${server.port}/orders.csv', poll: 200ms }`,
    });
    const daemon = place.start(['start']);
    await until('the report', async () => (await place.reportsNow()).length === 1);
    const times: number[] = [];
    asked = times;
    await until('some requests', () => times.length === 5);
    expect((times[4] ?? 0) - (times[3] ?? 0)).toBeGreaterThan(1_500);
    expect(await place.reportsNow()).toMatchObject([{ state: 'unreadable' }]);
    expect(lost(daemon.out())).toEqual([
      expect.stringContaining('orders.csv still cannot be read, with other content: '),
    ]);
    isAllowed = true;
    await until('the order', () => place.stored().size === 1);
    await until('two reports', async () => (await place.reportsNow()).length === 2);
    expect(daemon.out()).toContain('"event":"source-back"');
  });
});

it.skipIf(!HAS_OPENSSL)(
  'an export and a webhook with a private authority are called by TLS, each with its own client certificate',
  async () => {
    await using folder = await makeTempFolder();
    const authority = await openAuthority(folder.path);
    const { cert, key } = await authority.issue('server', { names: ['localhost'] });
    const [ca, own, secret] = await Promise.all(
      [authority.caFile, cert, key].map((file) => readFile(file)),
    );
    const callers = new Map<string, string>();
    const strict = { ca, cert: own, key: secret, requestCert: true, rejectUnauthorized: true };
    const server = createServer(strict, (request, response) => {
      callers.set(
        request.url ?? '',
        String((request.socket as TLSSocket).getPeerCertificate().subject.CN),
      );
      request
        .resume()
        .on('end', () => response.end('purchaseOrderNumber,articleCode,quantity\n1,A,many\n'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const address = server.address();
      const at = `https://localhost:${typeof address === 'object' && address ? address.port : 0}`;
      const tlsOf = async (name: string) => {
        const issued = await authority.issue(name, { names: [name] });
        return `{ caFile: '${authority.caFile}', certFile: '${issued.cert}', keyFile: '${issued.key}' }`;
      };
      await using place = await openWorkplace({
        source: `- { name: erp, type: export, path: '${at}/orders.csv', poll: 200ms, tls: ${await tlsOf('exporter')} }`,
        more: `notify: [{ on: [attention], webhook: '${at}/hook', tls: ${await tlsOf('notifier')} }]\n`,
      });
      const daemon = place.start(['start']);
      await until('both were called', () => callers.size === 2);
      daemon.child.kill('SIGTERM');
      await daemon.ended;
      expect(Object.fromEntries(callers)).toEqual({
        '/orders.csv': 'exporter',
        '/hook': 'notifier',
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
);
