import { describe, expect, it } from 'vitest';
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

  it('at a web address is one unreadable batch and one trouble until a file can be read', async () => {
    let isAllowed = false;
    let asked = 0;
    await using server = await openWebServer((_, response) => {
      asked += 1;
      const body = isAllowed ? ROWS : page(asked);
      response.writeHead(200, { 'content-length': body.length }).end(body);
    });
    await using place = await openWorkplace({
      source: `- { name: erp, type: export, path: 'http://127.0.0.1:${server.port}/orders.csv', poll: 200ms }`,
    });
    const daemon = place.start(['start']);
    await until('the report', async () => (await place.reportsNow()).length === 1);
    const before = asked;
    await until('more requests', () => asked > before + 2);
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
