// The sandbox API, in a process of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startSandbox } from '../../src/sandbox/start-sandbox.ts';

const data = mkdtempSync(path.join(tmpdir(), 'po-sync-bench-'));
process.once('exit', () => rmSync(data, { recursive: true, force: true }));
for (const end of ['SIGTERM', 'disconnect']) process.once(end, () => process.exit());
const client = { clientId: 'bench', clientSecret: 'bench' };
const sandbox = await startSandbox({ environment: 'staging', port: 0, data, ...client });
const form = { grant_type: 'client_credentials', client_id: 'bench', client_secret: 'bench' };
const answer = await fetch(`${sandbox.authUrl}/oauth2/token`, { method: 'POST', body: new URLSearchParams(form) });
const { access_token: token } = (await answer.json()) as { access_token: string };
const { hostname: host, port } = new URL(sandbox.baseUrl);
process.send?.({ host, port: Number(port), token });
