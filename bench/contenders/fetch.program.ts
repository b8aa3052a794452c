// A quick script: csv-parse, fetch, a token, a fixed number of calls in flight. It stores no state.
import { readOrderBodies } from './read-order-bodies.ts';
import { serveRuns } from './serve-runs.ts';

serveRuns(async ({ file, origin, concurrency }) => async () => {
  const token = await getToken(origin);
  const orders = readOrderBodies(file);
  const work = async () => {
    for await (const { body } of orders) await post(origin, token, body);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
});

async function getToken(origin: string): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: 'bench', client_secret: 'bench' };
  const answer = await fetch(`${origin}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

async function post(origin: string, token: string, body: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json',
  };
  const answer = await fetch(`${origin}/api/v1/purchase-orders`, { method: 'POST', headers, body });
  const said = (await answer.json()) as { status: string };
  if (said.status !== 'success') throw new Error(`HTTP ${answer.status}: ${JSON.stringify(said)}`);
}
