import { execFile } from 'node:child_process';
import { mkdir, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createReadiness, healthRoutes } from '../../src/admin/http/health.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';

const keys = keysOf('staging');
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
    expect(await ready()).toEqual({
      ok: false,
      checks: { ...ok, redis: 'cannot be written (OOM)' },
    });
    await redis.config('SET', 'maxmemory', '0');

    await rename(reports, `${reports}-gone`);
    expect(await ready()).toEqual({
      ok: false,
      checks: { ...ok, reports: 'cannot be written (ENOENT)' },
    });
    await rename(`${reports}-gone`, reports);
    expect((await ready()).ok).toBe(true);
  } finally {
    redis.disconnect();
  }
});

it('a folder that takes only small files, as on a full disk, is not ready', async () => {
  await using folder = await makeTempFolder();
  const health = new URL('../../src/admin/http/health.ts', import.meta.url).href;
  const script = `import { createReadiness } from ${JSON.stringify(health)};
const redis = { set: async () => 'OK' };
const folders = { reports: ${JSON.stringify(folder.path)} };
const { ready } = createReadiness({ redis, keys: {}, folders, sources: { healthy: () => true } });
console.log(JSON.stringify([await ready(), await ready()]));`;
  // Files of at most 4 KiB (8 blocks of 512 bytes).
  const limited = 'trap "" XFSZ; ulimit -f 8; exec "$0" --input-type=module -e "$1"';
  const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, script]);
  const full = {
    ok: false,
    checks: { redis: 'ok', reports: 'cannot be written (EFBIG)', sources: 'ok' },
  };
  expect(JSON.parse(stdout)).toEqual([full, full]);
  expect(await readdir(folder.path)).toEqual([]);
});

it('readiness names the Redis that is stopped (SIGSTOP), and the checks that pass', async () => {
  await using folder = await makeTempFolder();
  await using server = await startTestRedis();
  const redis = await connectRedis(server.url);
  const checks = createReadiness({ redis, keys, folders: { data: folder.path }, sources });
  const route = healthRoutes(checks).find(({ path: at }) => at === '/readyz');
  const answer = async () => JSON.parse((await route?.handle({} as never))?.body as string);
  const ok = { redis: 'ok', data: 'ok', sources: 'ok' };
  try {
    await until('ready', async () => (await answer()).ok === true);
    server.freeze();
    const late = { ...ok, redis: 'does not answer (waited 1500 ms)' };
    await until('Redis is named', async () =>
      isDeepStrictEqual(await answer(), { ok: false, checks: late }),
    );
    server.thaw();
    await until('ready again', async () =>
      isDeepStrictEqual(await answer(), { ok: true, checks: ok }),
    );
  } finally {
    redis.disconnect();
  }
});
