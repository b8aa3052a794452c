import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { shownOnTerminal } from '../support/terminal.ts';
import { credentials, csvOf, openWorkplace } from '../support/workplace.ts';

it('on a protected environment, the commands that texts name can be run as they are shown', async () => {
  await using place = await openWorkplace({ environment: 'production' });
  const config = await readFile(place.config, 'utf8');
  await writeFile(place.config, config.replace('{ baseUrl', '{ protected: true, baseUrl'));
  const paused = await place.run(['pause', '--reason', 'stock-taking']);
  expect(paused.out).toContain('run po-sync --confirm production resume.');
  const { out } = await place.run(['status']);
  expect(out).toContain('(until po-sync --confirm production resume)');
  expect(out).toContain('start one with po-sync --confirm production start');
  // A command that changes nothing needs no confirmation, and JSON has the texts as they are.
  const refused = await place.run(['resume']);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('--confirm production') });
  expect((await place.run(['--json', 'pause'])).out).not.toContain('--confirm');
  expect(await place.run(['--confirm', 'production', 'resume'])).toMatchObject({ code: 0 });
});

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

it('on a protected environment, a line of status is no wider than the terminal', async () => {
  await using place = await openWorkplace({ environment: 'production' });
  const config = await readFile(place.config, 'utf8');
  await writeFile(place.config, config.replace('{ baseUrl', '{ protected: true, baseUrl'));
  const lines = await shownOnTerminal(place, 'status', 80, {
    ...credentials('PRODUCTION'),
    NO_COLOR: '1',
  });
  expect(lines.join(' ').replace(/\s+/g, ' ')).toContain(
    'start one with po-sync --confirm production start, or',
  );
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});

it('elsewhere they are shown without it', async () => {
  await using place = await openWorkplace();
  expect((await place.run(['pause'])).out).toContain('run po-sync resume.');
});

it('the commands that texts name work on the configuration and the environment of the command', async () => {
  await using place = await openWorkplace();
  const config = await readFile(place.config, 'utf8');
  const second =
    'production: { protected: true, baseUrl: http://127.0.0.1:9/api/v1, authUrl: http://127.0.0.1:9 }';
  await writeFile(
    place.config,
    config.replace(/^environments:\n/m, `environments:\n  ${second}\n`),
  );
  await place.run(['pause', '--reason', 'stock-taking']);
  const { out } = await place.run(['-e', 'production', 'pause']);
  const named = /run po-sync (.*resume)\./.exec(out)?.[1];
  expect(named).toBe('-e production --confirm production resume');
  // Without -e it would be staging that is resumed.
  expect(await place.run(['--confirm', 'production', 'resume'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('--confirm names production, but the command works on staging.'),
  });
  expect((await place.run(['status'])).out).toContain('(until po-sync resume)');
  expect(await place.run(named?.split(' ') ?? [])).toMatchObject({ code: 0 });
  expect((await place.run(['-e', 'production', 'status'])).out).toContain('not paused');
  const byFile = await place.run(['-c', place.config, 'status']);
  expect(byFile.out.replaceAll(/\s+/g, ' ')).toContain(`(until po-sync -c ${place.config} resume)`);
});
