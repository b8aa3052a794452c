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
    const status = JSON.parse((await place.run(['status', '--json'])).out);
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
  expect((await place.run(['status'])).out).toContain('none can be requested; the one before, ');
});

const unauthorized = { kind: 'answer', status: 401, message: 'Rehearsed status 401' };

it.each([
  [
    'token-unavailable',
    [unauthorized, { kind: 'answer', on: 'token', status: 503 }],
    'none, and none can be requested now: ',
  ],
  ['token-not-accepted', [unauthorized], 'none that the API accepts: Rehearsed status 401'],
])('the status says why no token is stored in a pause of %s', async (code, faults, text) => {
  await using place = await openWorkplace({ faults: { faults: [] }, sandbox: { record: true } });
  await place.drop('orders.csv', csvOf(1));
  expect((await place.run(['start', '--once'])).code).toBe(0);
  await place.setFaults(faults);
  place.start(['start']);
  await place.drop('more.csv', csvOf(2).replaceAll('PO-', 'MORE-'));
  const { token } = await until('the pause', async () => {
    const status = JSON.parse((await place.run(['status', '--json'])).out);
    return status.token.unusable === code && !status.token.present && status;
  });
  expect(token).toEqual({ present: false, unusable: code, reason: expect.any(String) });
  // While an order is tried, a token is stored for a moment.
  await until('the text', async () =>
    (await place.run(['status'])).out.includes(`token         ${text}`),
  );
});
