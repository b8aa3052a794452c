import { mkdir, rename, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { memoryOf } from '../../bench/process-figures.ts';
import { freePort } from '../support/free-port.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { openWebServer } from '../support/web-server.ts';
import { startLives } from './lives.ts';
import { createNoise } from './noise.ts';

// `npm run fuzz -- --minutes N`: bounded random answers, files and admin requests. The daemon must neither end nor hang:
// it is asked for its health once a second. Exits with 1 when it did. `--seed` repeats the same input.

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
});
const minutes = Number(values.minutes);
const noise = createNoise(Number(values.seed));

/** Milliseconds within which `/healthz` must answer. */
const HEALTHY_WITHIN = 10_000;
const JSON_TYPE = { 'content-type': 'application/json' };
const NO_END = 'no end within 90 s';
/** Megabytes. */
const MOST_MEMORY = 600;

const counts = { answers: 0, files: 0, requests: 0, checks: 0, slowest: 0, memory: 0 };
const problems: string[] = [];

await using stack = new AsyncDisposableStack();
const { path: folder } = stack.use(await makeTempFolder());
const redis = stack.use(await startTestRedis());
const api = stack.use(await openWebServer((request, response) => void answer(request, response)));
const adminPort = await freePort();
const inbox = path.join(folder, 'inbox');
await mkdir(inbox);
await writeFile(
  path.join(folder, 'po-sync.yaml'),
  `environment: staging
data: data
redis: { url: '${redis.url}' }
environments:
  staging: { baseUrl: 'http://127.0.0.1:${api.port}/api/v1', authUrl: 'http://127.0.0.1:${api.port}' }
sources:
  - { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 500ms }
reports: { path: reports, keep: 2m }
delivery: { settle: 2s, timeout: 2s, attempts: 3, backoff: { initial: 50ms, max: 1s }, probe: { initial: 250ms, max: 1s } }
admin: { port: ${adminPort} }
`,
);
const env = {
  PO_SYNC_STAGING_CLIENT_ID: 'client',
  PO_SYNC_STAGING_CLIENT_SECRET: 'client-secret-of-the-fuzz',
};
const lives = startLives(folder, env);
await startsUp();
const until = performance.now() + minutes * 60_000;
const isOver = () => performance.now() > until || problems.length > 0;
await Promise.all([dropFiles(), disturbAdmin(), watchHealth()]);
const started = lives.starts();
const end = await Promise.race([lives.end(), delay(90_000, NO_END, { ref: false })]);
if (started > 1) problems.push(`the daemon ended ${started - 1} times`);
if (end !== 0) problems.push(`after SIGTERM: ${end}; its last words:\n${lives.lastWords()}`);
const { answers, files, requests, checks, slowest, memory } = counts;
console.log(
  `${answers} answers, ${files} files, ${requests} admin requests in ${minutes} minutes, seed ${values.seed}`,
);
console.log(
  `${checks} health checks, the slowest ${slowest.toFixed(0)} ms; at most ${memory.toFixed(0)} MB`,
);
for (const problem of problems) console.log(`FAILED ${problem}`);
console.log(
  problems.length === 0
    ? 'ok     the daemon neither ended nor hung'
    : `${problems.length} problems`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
if (end === NO_END) process.kill(lives.current().pid, 'SIGKILL');

/** Half of the calls get what they ask for, so that the daemon comes as far as the other half. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request).catch(() => '');
  counts.answers += 1;
  const ordinary = ordinaryAnswer(request, body);
  if (noise.chance(0.7))
    return void response.writeHead(ordinary.status, JSON_TYPE).end(ordinary.body);
  if (noise.chance(0.05)) return void request.socket.destroy();
  if (noise.chance(0.05)) await delay(noise.below(3_000));
  const status = noise.chance(0.5)
    ? ordinary.status
    : noise.pick([200, 201, 204, 301, 400, 401, 403, 404, 409, 422, 429, 500, 503]);
  try {
    response.writeHead(status, noise.chance(0.5) ? JSON_TYPE : noise.headers());
    response.end(status === 204 ? undefined : noise.damage(Buffer.from(ordinary.body)));
  } catch {
    request.socket.destroy();
  }
}

function ordinaryAnswer(request: IncomingMessage, body: string): { status: number; body: string } {
  if (request.url?.includes('token'))
    return { status: 200, body: '{"access_token":"t","token_type":"Bearer","expires_in":60}' };
  if (request.method === 'GET') {
    const listed = `{"purchaseOrderNumber":"F-1","orderState":"NEW","items":[{"articleCode":"A","quantity":1}]}`;
    return {
      status: 200,
      body: `{"status":"success","data":{"purchaseOrders":[${listed}]},"error":null}`,
    };
  }
  const number = /"purchaseOrderNumber":"([^"]*)"/.exec(body)?.[1] ?? '';
  return {
    status: 201,
    body: JSON.stringify({
      status: 'success',
      data: { purchaseOrderNumber: number, orderState: 'NEW' },
      error: null,
    }),
  };
}

async function dropFiles(): Promise<void> {
  while (!isOver()) {
    const draft = path.join(folder, 'draft');
    const { name, content } = noise.file(counts.files);
    await writeFile(draft, content);
    await rename(draft, path.join(inbox, name));
    counts.files += 1;
    await delay(500 + noise.below(1_500));
  }
}

/** Raw bytes, so that nothing corrects them on the way. */
async function disturbAdmin(): Promise<void> {
  while (!isOver()) {
    const socket = connect(adminPort, '127.0.0.1').on('error', () => undefined);
    socket.resume();
    socket.write(noise.request());
    counts.requests += 1;
    setTimeout(() => socket.destroy(), noise.below(5_000)).unref();
    await delay(50 + noise.below(200));
  }
}

async function watchHealth(): Promise<void> {
  while (!isOver()) {
    const since = performance.now();
    const isWell = await isHealthy();
    counts.checks += 1;
    counts.slowest = Math.max(counts.slowest, performance.now() - since);
    if (!isWell)
      problems.push(`no health after ${((performance.now() - since) / 1000).toFixed(0)} s`);
    const now = memoryOf(lives.current().pid, 'now');
    if (!Number.isNaN(now)) counts.memory = Math.max(counts.memory, now);
    if (now > MOST_MEMORY) problems.push(`${now.toFixed(0)} MB of memory`);
    if (lives.starts() > 1) problems.push('the daemon ended');
    await delay(1_000);
  }
}

async function isHealthy(): Promise<boolean> {
  const signal = AbortSignal.timeout(HEALTHY_WITHIN);
  const ended = fetch(`http://127.0.0.1:${adminPort}/healthz`, {
    signal,
    headers: { connection: 'close' },
  });
  return ended.then(
    (reply) => reply.ok,
    () => false,
  );
}

async function startsUp(): Promise<void> {
  for (let tries = 0; tries < 60; tries += 1) {
    if (await isHealthy()) return;
    await delay(500);
  }
  throw new Error('The daemon did not start.');
}
