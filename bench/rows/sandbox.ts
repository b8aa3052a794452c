import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { postOrders, type Target } from '../api/post-orders.ts';
import type { Line } from '../line.ts';
import { medianRatio } from '../median.ts';
import type { Row } from './row.ts';

type Server = AsyncDisposable & { target: Target };

/** The number that po-sync uses here, and a number that keeps both servers busy while they wait for the disk. */
const CROWDS = [64, 256];

/** The reference API compared with a bare node:http server that answers the same POST with a constant. */
export const sandbox: Row = {
  name: 'sandbox',
  title: 'Sandbox API',
  measure: async (stage) => {
    await using constant = await startConstant();
    await using ours = await startSandbox();
    const lines: Line[] = [];
    for (const connections of CROWDS) {
      const { fast, slow } = await takeTurns(
        constant.target,
        ours.target,
        connections,
        stage.quick,
      );
      const share = medianRatio(slow, fast);
      lines.push({
        what: `orders taken from ${connections} connections`,
        unit: 'orders/s',
        samples: { 'po-sync': slow, bare: fast },
        compared: true,
        targets: [{ text: '× bare', value: share, limit: 0.7, sense: 'at least' }],
      });
    }
    return lines;
  },
};

async function takeTurns(constant: Target, ours: Target, connections: number, quick: boolean) {
  const orders = quick ? 5_000 : 20_000;
  const rounds = quick ? 2 : 7;
  const paces = { fast: [] as number[], slow: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const prefix = `PO-${connections}-${round}`;
    const fast = await postOrders(constant, prefix, orders, connections);
    const slow = await postOrders(ours, prefix, orders, connections);
    // The first round warms up both.
    if (round === 0) continue;
    paces.fast.push(fast.perSecond);
    paces.slow.push(slow.perSecond);
  }
  return paces;
}

/** The bare server, in a separate process. */
async function startConstant(): Promise<Server> {
  const child = fork(path.join(import.meta.dirname, '../api/constant.program.ts'));
  const [target] = await once(child, 'message');
  return { target: target as Target, [Symbol.asyncDispose]: () => end(child) };
}

/** `po-sync sandbox` as users start it. */
async function startSandbox(): Promise<Server> {
  const data = await mkdtemp(path.join(tmpdir(), 'po-sync-bench-'));
  const env = {
    ...process.env,
    PO_SYNC_STAGING_CLIENT_ID: 'bench',
    PO_SYNC_STAGING_CLIENT_SECRET: 'bench',
  };
  const program = path.join(import.meta.dirname, '../../bin/po-sync');
  const child = spawn(program, ['sandbox', '--environment', 'staging', '--data', data], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  const { baseUrl, authUrl } = JSON.parse(String(line)) as { baseUrl: string; authUrl: string };
  const form = { grant_type: 'client_credentials', client_id: 'bench', client_secret: 'bench' };
  const answer = await fetch(`${authUrl}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const { hostname: host, port } = new URL(baseUrl);
  return {
    target: { host, port: Number(port), token },
    async [Symbol.asyncDispose]() {
      await end(child);
      await rm(data, { recursive: true, force: true });
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
