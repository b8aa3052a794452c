import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { exchange } from '../support/exchange.ts';
import { bearerHeaders, CLIENT_ID, CLIENT_SECRET, formOf } from '../support/open-sandbox.ts';
import { storeOrders } from '../support/order-file.ts';
import { startSandboxProcess } from '../support/sandbox-process.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const ORDERS = 400;
const SIZE = 1_000_000;

test('the packaged program streams two lists of the largest possible orders at once', async () => {
  await using folder = await makeTempFolder();
  fill(folder.path);
  await using sandbox = await startSandboxProcess(folder.path);
  const body = formOf({
    grant_type: 'client_credentials',
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const { json } = await exchange('POST', `${sandbox.authUrl}/oauth2/token`, { headers, body });
  const list = () =>
    lengthOf(`${sandbox.baseUrl}/purchase-orders`, bearerHeaders(String(json.access_token)));
  for (const length of await Promise.all([list(), list()]))
    expect(length).toBeGreaterThan(ORDERS * SIZE);
  expect(await sandbox.end('SIGTERM')).toBe(0);
});

function fill(folder: string): void {
  const items = `[{"articleCode":"${'A'.repeat(SIZE)}","quantity":1}]`;
  storeOrders(
    folder,
    Array.from({ length: ORDERS }, (_, n) => ({ number: `PO-${n}`, items })),
  );
}

async function lengthOf(url: string, headers: Record<string, string>): Promise<number> {
  const [answer]: IncomingMessage[] = await once(get(url, { headers, agent: false }), 'response');
  if (answer?.statusCode !== 200) throw new Error(`answered ${answer?.statusCode}`);
  let length = 0;
  for await (const chunk of answer) length += (chunk as Buffer).length;
  return length;
}
