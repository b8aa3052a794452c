import { mkdir, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createReadiness } from '../../src/admin/endpoints.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { startTestRedis } from '../support/test-redis.ts';

const keys = keysOf('staging', 'http://127.0.0.1:1/api/v1');
const sources = { healthy: () => true };

it('a daemon is ready only while Redis takes writes and its folders can be written', async () => {
  await using folder = await makeTempFolder();
  await using server = await startTestRedis();
  const redis = await connectRedis(server.url);
  const [data, reports] = [path.join(folder.path, 'data'), path.join(folder.path, 'reports')];
  await mkdir(data);
  await mkdir(reports);
  const { ready } = createReadiness({ redis, keys, folders: { data, reports }, sources });
  const ok = { redis: 'ok', data: 'ok', reports: 'ok', sources: 'ok' };
  try {
    expect(await ready()).toEqual({ ok: true, checks: ok });
    expect([...(await readdir(data)), ...(await readdir(reports))]).toEqual([]);

    await redis.config('SET', 'maxmemory', '1');
    expect(await ready()).toEqual({ ok: false, checks: { ...ok, redis: 'cannot be written (OOM)' } });
    await redis.config('SET', 'maxmemory', '0');

    await rename(reports, `${reports}-gone`);
    expect(await ready()).toEqual({ ok: false, checks: { ...ok, reports: 'cannot be written (ENOENT)' } });
    await rename(`${reports}-gone`, reports);
    expect((await ready()).ok).toBe(true);
  } finally {
    redis.disconnect();
  }
});
