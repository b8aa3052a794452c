import { rm, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { openWorkplace } from '../support/workplace.ts';

it('start ends with 1 when Redis cannot be reached for ten seconds', async () => {
  await using place = await openWorkplace();
  const url = `redis://:pass-word@127.0.0.1:${await freePort()}/0`;
  const began = performance.now();
  const { code, err } = await place.start(['start'], { PO_SYNC_REDIS_URL: url }).ended;
  expect(code).toBe(1);
  expect(err).toMatch(/Redis at redis:\/\/\[redacted\]@127\.0\.0\.1:\d+\/0 does not answer/);
  expect(err).not.toContain('pass-word');
  expect(performance.now() - began).toBeGreaterThan(9_000);
});

it('start ends with 1 when a file is where a folder is configured, and names the file and the key', async () => {
  await using place = await openWorkplace();
  const { reports, config } = place;
  await writeFile(reports, 'x');
  const said = async () => (await place.start(['start']).ended).err;
  expect(await said()).toContain(
    `${reports} cannot be used as a folder: it is a file.\n  Enter a folder as reports.path in ${config}.`,
  );
  await rm(reports);
});
