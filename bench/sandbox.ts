import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../src/sandbox/start-sandbox.ts';
import { postOrders, type Target } from './post-orders.ts';

/** One line of the table: medians of several rounds, the two servers in turn. */
export type SandboxRow = { connections: number; bare: number; sandbox: number; ratio: number };

const CONSTANT = '{"status":"success","data":{"purchaseOrderNumber":"PO-0000000","orderState":"NEW"},"error":null}';
const ORDERS = 20_000;
const ROUNDS = 5;

/** The reference API against a bare node:http server that answers the same POST with a constant. */
export async function benchSandbox(): Promise<SandboxRow[]> {
  const rows: SandboxRow[] = [];
  for (const connections of [8, 64, 256]) rows.push(await compare(connections));
  return rows;
}

async function compare(connections: number): Promise<SandboxRow> {
  await using bare = await startChild('bare');
  await using sandbox = await startChild('sandbox');
  const seen = { bare: [] as number[], sandbox: [] as number[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const prefix = `PO-${connections}-${round}`;
    const [first, second] = [
      await postOrders(bare.target, prefix, ORDERS, connections),
      await postOrders(sandbox.target, prefix, ORDERS, connections),
    ];
    // The first round warms both up.
    if (round === 0) continue;
    seen.bare.push(first.perSecond);
    seen.sandbox.push(second.perSecond);
  }
  const [slow, fast] = [median(seen.sandbox), median(seen.bare)];
  return { connections, bare: fast, sandbox: slow, ratio: slow / fast };
}

/** A server in a process of its own, so that load and server do not share a core. */
async function startChild(kind: 'bare' | 'sandbox'): Promise<{ target: Target } & AsyncDisposable> {
  const child = fork(import.meta.filename, [kind]);
  const [target] = await once(child, 'message');
  return {
    target: target as Target,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function serveBare(): Promise<void> {
  const server = createServer((request, response) => {
    request.on('data', () => undefined);
    request.on('end', () => {
      response.writeHead(201, { 'content-type': 'application/json; charset=utf-8', 'content-length': CONSTANT.length });
      response.end(CONSTANT);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address !== null && typeof address === 'object')
    process.send?.({ host: '127.0.0.1', port: address.port, token: 'x' });
}

async function serveSandbox(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'po-sync-bench-'));
  process.once('exit', () => rmSync(data, { recursive: true, force: true }));
  process.once('SIGTERM', () => process.exit());
  const client = { clientId: 'bench', clientSecret: 'bench' };
  const sandbox = await startSandbox({ environment: 'staging', port: 0, data, ...client });
  const form = { grant_type: 'client_credentials', client_id: 'bench', client_secret: 'bench' };
  const answer = await fetch(`${sandbox.authUrl}/oauth2/token`, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const { hostname: host, port } = new URL(sandbox.baseUrl);
  process.send?.({ host, port: Number(port), token });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

if (import.meta.main) {
  const [kind] = process.argv.slice(2);
  if (kind === 'bare') await serveBare();
  else if (kind === 'sandbox') await serveSandbox();
  else {
    const print = (columns: readonly unknown[]) =>
      process.stdout.write(`${columns.map((value) => String(value).padStart(13)).join('')}\n`);
    print(['connections', 'bare /s', 'sandbox /s', 'ratio']);
    for (const { connections, bare, sandbox, ratio } of await benchSandbox()) {
      print([connections, Math.round(bare), Math.round(sandbox), ratio.toFixed(2)]);
    }
  }
}
