import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { openHttp } from '../../src/core/http.ts';
import { callWebhook, runCommand } from '../../src/notify/channels.ts';
import { settledBatch } from '../../src/notify/notice.ts';
import { noOutcomes } from '../../src/order/outcome.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const UNREADABLE = settledBatch({ state: 'open', counts: noOutcomes() }, 1, {
  environment: 'staging',
  at: 0,
  batch: 'b',
  file: 'a.csv',
  source: 'inbox',
  report: '/reports/b',
});

async function openHook(status: number | 'never') {
  const stack = new AsyncDisposableStack();
  const received: { request: IncomingMessage; body: unknown }[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    received.push({ request, body: await json(request) });
    if (status !== 'never') response.writeHead(status).end('ok');
  };
  const server = createServer((request, response) => void answer(request, response)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  stack.defer(() => server.closeAllConnections());
  stack.defer(() => void server.close());
  const http = stack.use(openHttp({ connections: 1 }));
  const { port } = server.address() as AddressInfo;
  const post = (signal: AbortSignal, timeout = 5000) =>
    callWebhook(`http://127.0.0.1:${port}/hook?key=s3cret`, UNREADABLE, { http, timeout, signal });
  return { received, post, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const { signal } = new AbortController();

describe('a webhook', () => {
  it('gets the notice as JSON and accepts it with any 2xx', async () => {
    await using hook = await openHook(204);
    await hook.post(signal);
    expect(hook.received).toHaveLength(1);
    expect(hook.received[0]?.body).toEqual(UNREADABLE);
    expect(hook.received[0]?.request).toMatchObject({ method: 'POST', url: '/hook?key=s3cret' });
    expect(hook.received[0]?.request.headers['content-type']).toBe('application/json');
  });

  it.each([301, 404, 500])(
    'that answers %d did not accept the notice; the error does not contain its address',
    async (status) => {
      await using hook = await openHook(status);
      const error = await hook.post(signal).catch(String);
      expect(error).toBe(`Error: the webhook answered ${status}`);
    },
  );

  it('that does not answer in time did not accept it', async () => {
    await using hook = await openHook('never');
    await expect(hook.post(signal, 50)).rejects.toThrow(/no answer from the webhook: (?!.*s3cret)/);
  });

  it('is not waited for when po-sync stops', async () => {
    await using hook = await openHook('never');
    const end = new AbortController();
    const posting = hook.post(end.signal);
    end.abort();
    await expect(posting).rejects.toThrow('po-sync is stopping');
  });
});

const SETTLED = {
  state: 'open',
  total: 5,
  counts: { ...noOutcomes(), accepted: 3, invalid: 2 },
} as const;
const NOTICE = settledBatch(SETTLED, 2, {
  environment: 'staging',
  at: 0,
  batch: '20261121T071500Z-inbox-orders-3f2a91c0',
  file: 'orders.csv',
  source: 'inbox',
  report: '/reports/20261121T071500Z-inbox-orders-3f2a91c0',
});

async function scriptIn(folder: string, text: string): Promise<string> {
  const file = path.join(folder, 'notify.sh');
  await writeFile(file, `#!/bin/sh\n${text}\n`);
  await chmod(file, 0o755);
  return file;
}

describe('a notified program', () => {
  it('gets the notice on standard input and in variables, its arguments unchanged, and no other variables', async () => {
    await using folder = await makeTempFolder();
    const script = await scriptIn(
      folder.path,
      'cat > seen.json; printf "%s" "$1" > argument; env > env',
    );
    const env = { PATH: '/usr/bin:/bin' };
    await runCommand([script, '$(id) "; x'], NOTICE, {
      env,
      cwd: folder.path,
      timeout: 60_000,
      signal,
    });
    const seen = (name: string) => readFile(path.join(folder.path, name), 'utf8');
    expect(JSON.parse(await seen('seen.json'))).toEqual(NOTICE);
    expect(await seen('argument')).toBe('$(id) "; x');
    const variables = (await seen('env')).trimEnd().split('\n');
    expect(variables).toEqual(
      expect.arrayContaining([
        'PO_SYNC_NOTICE_EVENT=attention',
        'PO_SYNC_NOTICE_KIND=finished',
        `PO_SYNC_NOTICE_BATCH=${NOTICE.batch}`,
        'PO_SYNC_NOTICE_FILE=orders.csv',
        'PO_SYNC_NOTICE_NEED_PERSON=2',
        `PO_SYNC_NOTICE_REPORT=${NOTICE.report}`,
      ]),
    );
    expect(
      variables.filter((line) => !/^(PO_SYNC_NOTICE_|PATH=|PWD=|_=|SHLVL=|OLDPWD)/.test(line)),
    ).toEqual([]);
  });

  it('fails with its exit code', async () => {
    const options = { env: { PATH: '/usr/bin:/bin' }, cwd: '/', timeout: 60_000, signal };
    await expect(
      runCommand(['sh', '-c', 'echo no route >&2; exit 3'], NOTICE, options),
    ).rejects.toThrow(/^the program exited with 3$/);
  });

  it('is killed after its time limit, even if a child process keeps its output open', async () => {
    const command = ['sh', '-c', 'trap "" TERM; sleep 60 & sleep 60'];
    const env = { PATH: '/usr/bin:/bin' };
    await expect(
      runCommand(command, NOTICE, { env, cwd: '/', timeout: 100, signal }),
    ).rejects.toThrow('the program was killed by SIGKILL (time limit 0.1 s)');
  });

  it('that does not exist fails', async () => {
    const options = { env: {}, cwd: '/', timeout: 60_000, signal };
    await expect(runCommand(['/nowhere/page'], NOTICE, options)).rejects.toThrow('ENOENT');
  });

  it('need not read its input', async () => {
    await runCommand(['true'], NOTICE, {
      env: { PATH: '/usr/bin:/bin' },
      cwd: '/',
      timeout: 60_000,
      signal,
    });
  });
});
