import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goodOrder, type OpenSandbox } from '../../support/open-sandbox.ts';
import { conformingSandbox, errorEnvelope, headersWith } from './conform.ts';

let sandbox: OpenSandbox;
let token: string;

beforeAll(async () => {
  sandbox = await conformingSandbox();
  token = await sandbox.token();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

describe('part 7: when request parameters are invalid, the answer has error.code 400 and says so', () => {
  const invalid = (why: string) =>
    errorEnvelope(400, expect.stringMatching(`^The request parameters are invalid: .*${why}`));

  test.each([
    ['', 'the body is empty'],
    ['{', 'the body is not JSON'],
    ['not json', 'the body is not JSON'],
    ['{"purchaseOrderNumber":"1",}', 'the body is not JSON'],
    ['null', 'the body must be a JSON object, not null'],
    ['[]', 'the body must be a JSON object, not an array'],
    ['"text"', 'the body must be a JSON object, not "text"'],
    ['7', 'the body must be a JSON object, not 7'],
    ['[[[[[[[['.repeat(10_000), 'the body is not JSON'],
  ])('the body %j', async (body, why) => {
    expect(await sandbox.create(body, token)).toMatchObject({ status: 400, json: invalid(why) });
  });

  test('a body that is not UTF-8', async () => {
    const body = Buffer.from('{"purchaseOrderNumber":"\xe4"}', 'latin1');
    const answer = await sandbox.call('POST', '/purchase-orders', {
      headers: headersWith(token, {}),
      body,
    });
    expect(answer).toMatchObject({ status: 400, json: invalid('not UTF-8') });
  });

  test('deeply nested JSON is refused like other invalid bodies', async () => {
    const body = `{"purchaseOrderNumber":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(await sandbox.create(body, token)).toMatchObject({
      status: 400,
      json: invalid('must be a string, not an array'),
    });
  });

  test('every invalid parameter is named, with the reason and the value', async () => {
    const order = { orderState: 'DONE', items: [{ articleCode: 'A', quantity: 'many' }, {}] };
    const { json } = await sandbox.create(order, token);
    expect(json).toEqual(
      errorEnvelope(
        400,
        'The request parameters are invalid: purchaseOrderNumber is missing and must be a string; ' +
          'orderState must be "NEW", not "DONE"; items[0].quantity must be a number, not "many"; ' +
          'items[1].articleCode is missing and must be a string; items[1].quantity is missing and must be a number.',
      ),
    );
  });

  test('of many invalid parameters the first are named and the rest counted', async () => {
    const { json } = await sandbox.create(
      { ...goodOrder('PO-1'), items: Array(100).fill({}) },
      token,
    );
    expect(json).toEqual(invalid('and 180 more\\.$'));
  });

  test('shown values are shortened', async () => {
    const { text: answer } = await sandbox.create(
      { ...goodOrder('PO-1'), orderState: 'x'.repeat(100_000) },
      token,
    );
    expect(answer.length).toBeLessThan(400);
  });

  test.each(['1e400', '-1e400', '99999999999999999999', '9007199254740993'])(
    'quantity %s cannot be represented and is refused',
    async (quantity) => {
      const body = `{"purchaseOrderNumber":"1","orderState":"NEW","items":[{"articleCode":"A","quantity":${quantity}}]}`;
      expect(await sandbox.create(body, token)).toMatchObject({
        status: 400,
        json: invalid('items\\[0\\].quantity'),
      });
    },
  );

  test.each(['__proto__', 'constructor', 'toString'])(
    'the name %s has no special effect',
    async (name) => {
      const body = `{"${name}":{"purchaseOrderNumber":"1"},"orderState":"NEW","items":[{"articleCode":"A","quantity":1}]}`;
      expect(await sandbox.create(body, token)).toMatchObject({
        status: 400,
        json: invalid('purchaseOrderNumber is missing'),
      });
    },
  );
});

describe('part 7: requests that are barely HTTP also get an envelope', () => {
  const raw = async (bytes: string) => {
    const { hostname, port } = new URL(sandbox.baseUrl);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(bytes);
    return text(socket);
  };

  test.each([
    ['garbage', 'garbage\r\n\r\n', 400],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      400,
    ],
    [
      'length and chunks',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    [
      'a broken chunk',
      'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n\r\n',
      400,
    ],
    ['headers without end', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`, 431],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 404],
  ])('%s', async (_, bytes, status) => {
    const answer = await raw(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const body = answer.slice(answer.indexOf('\r\n\r\n') + 4).split('HTTP/1.1')[0] ?? '';
    expect(JSON.parse(body)).toEqual(errorEnvelope(status));
  });

  test('an absolute request target is accepted', async () => {
    const bytes = `GET ${sandbox.baseUrl}/purchase-orders HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\naccept: application/json\r\nconnection: close\r\n\r\n`;
    expect(await raw(bytes)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test('part 7: error.code is the HTTP status, an integer', async () => {
  for (const answer of [
    await sandbox.create('{', token),
    await sandbox.list('wrong'),
    await sandbox.call('GET', '/nowhere', { headers: headersWith(token, {}) }),
    await sandbox.call('PUT', '/purchase-orders', { headers: headersWith(token, {}) }),
  ]) {
    expect(answer.json).toEqual(errorEnvelope(answer.status));
  }
});
