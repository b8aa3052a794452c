import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SandboxEvent } from '../../src/sandbox/sandbox-options.ts';
import { anyText } from '../support/any-text.ts';
import { apiContract } from '../support/api-contract.ts';
import { exchange } from '../support/exchange.ts';
import { bearerHeaders, goodOrder, openSandbox } from '../support/open-sandbox.ts';
import { runs } from '../support/runs.ts';

const text256 = fc.oneof(
  anyText({ maxLength: 300 }),
  fc.constantFrom('', 'PO-1', '\u0000', '\ud800', '🙂'),
);
const value = fc.oneof(
  { weight: 3, arbitrary: text256 },
  fc.double(),
  fc.integer(),
  fc.constantFrom(null, true, {}, [], 'NEW', 0, -0, Number.MAX_SAFE_INTEGER),
  fc.jsonValue({ maxDepth: 3 }),
);
const item = fc.oneof(
  fc.record({ articleCode: value, quantity: value }, { requiredKeys: [] }),
  fc.record({ articleCode: text256, quantity: fc.integer({ min: 1 }) }),
  value,
);
const order = fc.record(
  {
    purchaseOrderNumber: value,
    orderState: fc.oneof({ weight: 4, arbitrary: fc.constant('NEW') }, value),
    items: fc.oneof({ weight: 4, arbitrary: fc.array(item, { maxLength: 5 }) }, value),
  },
  { requiredKeys: [] },
);
/** An order, any JSON, a damaged text of either, or any bytes. */
const body = fc.oneof(
  { weight: 4, arbitrary: order.map((made) => Buffer.from(JSON.stringify(made))) },
  fc.json().map((made) => Buffer.from(made)),
  fc.tuple(order, fc.nat(), fc.integer({ min: 0, max: 255 })).map(([made, at, byte]) => {
    const bytes = Buffer.from(JSON.stringify(made));
    bytes[at % bytes.length] = byte;
    return bytes;
  }),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);
const nearText = fc.oneof(
  { weight: 4, arbitrary: anyText({ maxLength: 4 }) },
  anyText({ minLength: 250, maxLength: 260 }),
  fc.constantFrom(
    '',
    ' ',
    '\u00a0',
    '\u2028',
    '\u200b',
    'A\n',
    '\ud800',
    '\udc00x',
    '🙂'.repeat(256),
    '🙂'.repeat(257),
  ),
);
const nearQuantity = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(1, 2.5, 0, -0, -1, 2 ** 53 - 1, 2 ** 53, 5e-324, 1e308, 1e15),
  },
  fc.double({ noNaN: true }),
  value,
);
const nearItem = fc.oneof(
  { weight: 6, arbitrary: fc.record({ articleCode: nearText, quantity: nearQuantity }) },
  fc.record({ articleCode: nearText, quantity: nearQuantity, more: value }, { requiredKeys: [] }),
  value,
);
/** Bodies that differ from an order in at most a few places: the boundary of what is allowed. */
const nearOrder = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record(
        {
          purchaseOrderNumber: fc.oneof({ weight: 8, arbitrary: nearText }, value),
          orderState: fc.oneof(
            { weight: 12, arbitrary: fc.constant('NEW') },
            fc.constantFrom('new', ' NEW', null),
          ),
          items: fc.oneof({ weight: 8, arbitrary: fc.array(nearItem, { maxLength: 2 }) }, value),
          more: value,
        },
        { requiredKeys: ['purchaseOrderNumber', 'orderState', 'items'] },
      )
      .map((made) => Buffer.from(JSON.stringify(made))),
  },
  body,
);
const method = fc.oneof(
  { weight: 6, arbitrary: fc.constant('POST') },
  fc.constantFrom('GET', 'PUT', 'PATCH', 'DELETE', 'LINK'),
);
const path = fc.oneof(
  { weight: 8, arbitrary: fc.constant('/purchase-orders') },
  fc.webPath().map((made) => `/${made}`),
  fc.webQueryParameters().map((query) => `/purchase-orders?${query}`),
);
const token68 = fc.stringMatching(/^[!-~ ]{0,40}$/);
const headerName = fc.constantFrom(
  'authorization',
  'content-type',
  'accept',
  'content-encoding',
  'expect',
  'x-other',
);
const headers = fc.dictionary(headerName, token68, { maxKeys: 2 });

test('random requests get an envelope, never a crash or a 5xx', async () => {
  const events: SandboxEvent[] = [];
  await using sandbox = await openSandbox({
    onEvent: (event) => void (event.type === 'crashed' && events.push(event)),
  });
  const contract = apiContract();
  const token = await sandbox.token();
  const good = bearerHeaders(token);
  const origin = new URL(sandbox.baseUrl).origin;
  const statuses = new Set<number>();
  const call = fc.record({
    method,
    path: fc.oneof(
      { weight: 9, arbitrary: path.map((made) => `/api/v1${made}`) },
      path,
      fc.constant('/oauth2/token'),
    ),
    headers: fc.oneof({ weight: 6, arbitrary: fc.constant({}) }, headers),
    body,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 20, maxLength: 20 }), async (calls) => {
      const answers = await Promise.all(
        calls.map((one) =>
          exchange(one.method, origin + one.path, {
            headers: { ...good, ...one.headers },
            body: one.body,
          }),
        ),
      );
      for (const answer of answers) {
        statuses.add(answer.status);
        expect(answer.status).toBeLessThan(500);
        contract.check(answer);
      }
    }),
    { numRuns: runs(500), endOnFailure: true },
  );
  expect(events).toEqual([]);
  expect([...statuses].toSorted((a, b) => a - b)).toEqual([
    200, 201, 400, 401, 404, 405, 406, 415, 417,
  ]);
  expect((await sandbox.create(goodOrder('PO-after'), token)).status).toBe(201);
});

test('a body is created if and only if the OpenAPI document allows it', async () => {
  await using sandbox = await openSandbox();
  const { json: document } = await exchange('GET', `${sandbox.authUrl}/openapi.json`);
  const ajv = new Ajv2020({ strict: false });
  const isOrder = ajv
    .addSchema(document, 'api')
    .compile({ $ref: 'api#/components/schemas/PurchaseOrder' });
  const token = await sandbox.token();
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(fc.array(nearOrder, { minLength: 20, maxLength: 20 }), async (bodies) => {
      const made = await Promise.all(
        bodies.map((bytes) => createBytes(sandbox.baseUrl, token, bytes)),
      );
      for (const [nth, bytes] of bodies.entries()) {
        const isAllowed = jsonIn(bytes).some((parsed) => isOrder(parsed));
        seen.add(made[nth] ?? 0);
        expect([bytes.toString('utf8'), made[nth]]).toEqual([
          bytes.toString('utf8'),
          isAllowed ? 201 : 400,
        ]);
      }
    }),
    { numRuns: runs(500) },
  );
  expect(seen).toEqual(new Set([201, 400]));
});

async function createBytes(baseUrl: string, token: string, bytes: Buffer): Promise<number> {
  const answer = await exchange('POST', `${baseUrl}/purchase-orders`, {
    headers: bearerHeaders(token),
    body: bytes,
  });
  return answer.status;
}

/** The JSON value of some bytes, if they are UTF-8 and JSON. */
function jsonIn(bytes: Buffer): unknown[] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}

test('random bytes on a connection get an envelope or no answer, and do not affect other connections', async () => {
  await using sandbox = await openSandbox();
  const token = await sandbox.token();
  const { hostname: host, port } = new URL(sandbox.baseUrl);
  const start = fc.constantFrom(
    '',
    'GET / HTTP/1.1\r\nhost: x\r\n',
    'POST /api/v1/purchase-orders HTTP/1.1\r\nhost: x\r\n',
  );
  const bytes = fc.tuple(
    start,
    fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.string().map((made) => Buffer.from(made)),
    ),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async ([head, rest]) => {
      const socket = connect({ host, port: Number(port) });
      socket.end(Buffer.concat([Buffer.from(head), rest]));
      const answer = await text(socket);
      for (const one of answer.split(/(?=HTTP\/1\.1 )/).filter((part) => part !== '')) {
        const json: unknown = JSON.parse(one.slice(one.indexOf('\r\n\r\n') + 4));
        expect(json).toEqual({
          status: 'error',
          error: { code: Number(one.slice(9, 12)), message: expect.any(String) },
        });
      }
    }),
    { numRuns: runs(500) },
  );
  expect((await sandbox.create(goodOrder('PO-after'), token)).status).toBe(201);
});
