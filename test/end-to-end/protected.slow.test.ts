import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { csvOf, openWorkplace } from '../support/workplace.ts';

it('doctor says before the first start what start needs confirmed, and that the Redis has no ledger', async () => {
  await using place = await openWorkplace({ environment: 'production' });
  const config = await readFile(place.config, 'utf8');
  await writeFile(place.config, config.replace('{ baseUrl', '{ protected: true, baseUrl'));
  const needs =
    'start needs it confirmed. To confirm, use --confirm production or PO_SYNC_CONFIRM=production.';
  const said = (await place.run(['doctor'])).out.replace(/\s+/g, ' ');
  expect(said).toContain(`confirmation production is a protected environment. ${needs}`);
  expect(said).toContain('Redis ledger none of this environment yet');
  await place.run(['start', '--once', '--confirm', 'production']);
  const later = (await place.run(['doctor', '--confirm', 'production'])).out;
  expect(later).not.toMatch(/start needs it confirmed|none of this environment/);
});

it('on a protected environment, --dry-run needs no confirmation, and the same command without it does', async () => {
  const refuse = {
    kind: 'answer',
    status: 400,
    message: 'articleCode is invalid',
    orders: ['PO-2'],
  };
  await using place = await openWorkplace({
    environment: 'production',
    faults: { faults: [refuse] },
  });
  const config = await readFile(place.config, 'utf8');
  await writeFile(place.config, config.replace('{ baseUrl', '{ protected: true, baseUrl'));
  await place.drop('orders.csv', csvOf(2));
  await place.run(['start', '--once', '--confirm', 'production']);
  for (const action of ['retry', 'discard']) {
    const command = ['dead-letters', action, '--order', 'PO-2'];
    expect(await place.run([...command, '--dry-run'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('1 order would be'),
    });
    expect(await place.run([...command, '--yes'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('--confirm production'),
    });
  }
  const { out } = await place.run([
    'dead-letters',
    'resolve',
    'PO-2',
    '--as',
    'accepted',
    '--dry-run',
    '--json',
  ]);
  expect(out).not.toContain('confirmation-missing');
});
