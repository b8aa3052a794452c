import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { checkLedger } from '../../../src/operate/doctor/check-redis.ts';
import { configOf } from '../../support/config-text.ts';
import { type OpenRedis, openTestRedis } from '../../support/open-redis.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

let store: OpenRedis;
let temp: Awaited<ReturnType<typeof makeTempFolder>>;
beforeAll(async () => {
  store = await openTestRedis();
});
afterAll(() => store[Symbol.asyncDispose]());
beforeEach(async () => {
  await store.redis.flushall();
  temp = await makeTempFolder();
  await mkdir(path.join(temp.path, 'inbox'));
});
afterEach(() => temp[Symbol.asyncDispose]());

async function found(): Promise<string[]> {
  const { config } = configOf(`environment: staging
data: ${temp.path}/data
environments:
  staging: { baseUrl: 'https://api.example.com/api/v1', authUrl: 'https://auth.example.com' }
sources:
  - { name: inbox, type: inbox, path: ${temp.path}/inbox }
`);
  return (await checkLedger(store, config)).map(
    ({ check, state, message }) => `${state} ${check}: ${message}`,
  );
}

async function mark(owner: { ledger: string; host: string; data: string }): Promise<void> {
  const text = JSON.stringify({ environment: 'staging', ...owner });
  await writeFile(path.join(temp.path, 'inbox', '.po-sync-environment'), text);
}

it('nothing is found before the first start', async () => {
  expect(await found()).toEqual([]);
});

it('an inbox of another ledger fails, as a start does', async () => {
  await mark({ ledger: 'another', host: 'host-b', data: '/srv/data' });
  expect(await found()).toEqual([
    `fail inbox inbox: The inbox ${temp.path}/inbox belongs to the ledger of /srv/data on host-b.`,
  ]);
});

it('an inbox of this ledger, or of this folder after its Redis forgot everything, is fine', async () => {
  await mark({ ledger: 'gone', host: hostname(), data: path.join(temp.path, 'data') });
  expect(await found()).toEqual([]);
  await mark({ ledger: 'ours', host: 'host-b', data: '/srv/data' });
  await store.redis.hset(store.keys.identity, { ledger: 'ours', epoch: 'first', format: 1 });
  expect(await found()).toEqual([]);
});

it('an inbox without its marker that was in use may be another folder', async () => {
  await store.redis.hset(store.keys.heard, { inbox: '1' });
  expect(await found()).toEqual([
    `warn inbox inbox: ${temp.path}/inbox has no marker: it may be another folder than the inbox that was used`,
  ]);
  await mark({ ledger: 'ours', host: hostname(), data: path.join(temp.path, 'data') });
  expect(await found()).toEqual([]);
});
