import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText } from '../support/any-text.ts';
import { exchange } from '../support/exchange.ts';
import { bearerHeaders, openSandbox } from '../support/open-sandbox.ts';
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
