import { Agent, request } from 'node:http';
import { expect, test } from 'vitest';
import { exchange } from '../support/exchange.ts';
import {
  bearerHeaders,
  CLIENT_ID,
  CLIENT_SECRET,
  formOf,
  goodOrder,
  ordersIn,
} from '../support/open-sandbox.ts';
import { type SandboxProcess, startSandboxProcess } from '../support/sandbox-process.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';

const ROUNDS = 3;
const CONCURRENT = 200;

test('kill -9 during 200 concurrent creations loses no answered order and no token, in 3 rounds', async () => {
  await using folder = await makeTempFolder();
  const answered = new Set<string>();
  const sent = new Set<string>();
  let token = '';
  for (let round = 0; round < ROUNDS; round += 1) {
    await using sandbox = await startSandboxProcess(folder.path);
    token ||= await requestToken(sandbox);
    if (round > 0) await expectAll(sandbox, token, answered, sent);
    const before = answered.size;
    const creating = createUntilGone(sandbox, token, `PO-${round}`, sent, answered);
    const enough = before + 1 + Math.random() * 1000;
    await until('some answers', () => answered.size >= enough);
    expect(await sandbox.end('SIGKILL')).toBe('SIGKILL');
    await creating;
  }
  await using sandbox = await startSandboxProcess(folder.path);
  await expectAll(sandbox, token, answered, sent);
});

async function requestToken({ authUrl }: SandboxProcess): Promise<string> {
  const body = formOf({
    grant_type: 'client_credentials',
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return String(
    (await exchange('POST', `${authUrl}/oauth2/token`, { headers, body })).json.access_token,
  );
}

async function expectAll(
  sandbox: SandboxProcess,
  token: string,
  answered: Set<string>,
  sent: Set<string>,
): Promise<void> {
  const list = await exchange('GET', `${sandbox.baseUrl}/purchase-orders`, {
    headers: bearerHeaders(token),
  });
  const listed = ordersIn(list.json.data).map((order) => String(Object(order).purchaseOrderNumber));
  const present = new Set(listed);
  expect([...answered].filter((number) => !present.has(number))).toEqual([]);
  expect(listed.filter((number) => !sent.has(number))).toEqual([]);
  expect(listed).toHaveLength(present.size);
}

/** Two hundred senders, one call in flight each, until the server is gone. */
async function createUntilGone(
  { baseUrl }: SandboxProcess,
  token: string,
  prefix: string,
  sent: Set<string>,
  answered: Set<string>,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENT });
  const sender = async (name: string) => {
    for (let nth = 0; ; nth += 1) {
      const number = `${name}-${nth}`;
      sent.add(number);
      if ((await create(`${baseUrl}/purchase-orders`, agent, token, number)) !== 201) return;
      answered.add(number);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, (_, nth) => sender(`${prefix}-${nth}`)));
  agent.destroy();
}

/** The status of one create, or 0 when no complete answer came. */
function create(url: string, agent: Agent, token: string, number: string): Promise<number> {
  return new Promise((resolve) => {
    const call = request(
      url,
      { method: 'POST', agent, headers: bearerHeaders(token) },
      (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode ?? 0));
        answer.on('error', () => resolve(0));
      },
    );
    call.on('error', () => resolve(0));
    call.end(JSON.stringify(goodOrder(number)));
  });
}
