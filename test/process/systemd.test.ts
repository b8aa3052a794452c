import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { writeExecutable } from '../support/executable.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

const UNIT = path.resolve(import.meta.dirname, '../../docs/deploy/po-sync.service');

/** Variables as systemd sets them, and a `systemd-notify` that keeps what it is called with. */
async function asService(place: Workplace) {
  const file = path.join(place.folder, 'notified');
  await writeFile(file, '');
  await writeExecutable(path.join(place.folder, 'systemd-notify'), `echo "$@" >>'${file}'`);
  return {
    env: {
      PATH: `${place.folder}:${process.env.PATH}`,
      NOTIFY_SOCKET: path.join(place.folder, 'socket'),
      WATCHDOG_USEC: '300000',
    },
    heard: async () => (await readFile(file, 'utf8')).split('\n').filter((line) => line !== ''),
  };
}

describe('under systemd', () => {
  test('the daemon reports that it is ready, that it works, and that it stops; frozen it reports nothing', async () => {
    await using place = await openWorkplace();
    const { env, heard } = await asService(place);
    const { child, ended } = place.spawn(['start'], env);
    await until('five reports', async () => (await heard()).length >= 5);
    // Each is written by a separate process, so the first two may be in either order.
    await until('that it is ready', async () => (await heard()).includes('READY=1'));
    const reports = await heard();
    expect(reports.filter((report) => report !== 'WATCHDOG=1')).toEqual(['READY=1']);

    child.kill('SIGSTOP');
    // A helper that was started before may still report.
    let before = -1;
    await until('no more reports for ten intervals', async () => {
      before = (await heard()).length;
      await delay(1_000);
      return (await heard()).length === before;
    });
    child.kill('SIGCONT');
    await until('reports again', async () => (await heard()).length > before);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
    await until('the stop is reported', async () => (await heard()).includes('STOPPING=1'));
  });

  test('a Redis that comes after the daemon has ended is found by a later start, and nothing counts the starts', async () => {
    const unit = await readFile(UNIT, 'utf8');
    // A start that fails takes ten seconds; a limit would end the restarts of an outage of minutes.
    expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
    expect(unit).toMatch(/^Restart=on-failure$/m);
    expect(unit).toMatch(/^Type=notify$/m);
    expect(unit).toMatch(/^NotifyAccess=all$/m);

    await using redis = await startTestRedis();
    await redis.kill();
    await using place = await openWorkplace({ redis: redis.url });
    const { env, heard } = await asService(place);
    expect((await place.spawn(['start'], env).ended).code).toBe(1);
    expect(await heard()).toEqual([]);
    await redis.restart();
    const { child, ended } = place.spawn(['start'], env);
    await until('the daemon is ready', async () => (await heard()).includes('READY=1'));
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });
});
