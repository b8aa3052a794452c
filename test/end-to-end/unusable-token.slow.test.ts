import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

it('a stored token is not called valid while a new one is needed and none can be requested', async () => {
  await using place = await openWorkplace();
  await place.drop('orders.csv', csvOf(1));
  expect((await place.run(['start', '--once'])).code).toBe(0);
  const config = await readFile(place.config, 'utf8');
  // A token belongs to the address that issued it.
  await writeFile(
    place.config,
    config.replace(/authUrl: [^ ,}]+/, `authUrl: http://127.0.0.1:${await freePort()}`),
  );
  place.start(['start']);
  await place.drop('more.csv', csvOf(2).replaceAll('PO-', 'MORE-'));
  const { token } = await until('the pause', async () => {
    const status = await place.json('status');
    return (
      status.pauses.some(({ code }: { code: string }) => code === 'token-unavailable') && status
    );
  });
  expect(token).toEqual({
    present: true,
    expiresInMs: expect.any(Number),
    unusable: 'token-unavailable',
    reason: expect.stringContaining('ECONNREFUSED'),
  });
  await until('the text', async () =>
    (await place.run(['status'])).out.includes('none can be requested; the one before, '),
  );
});
