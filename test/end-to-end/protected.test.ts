import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { openWorkplace } from '../support/workplace.ts';

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

it('elsewhere they are shown without it', async () => {
  await using place = await openWorkplace();
  expect((await place.run(['pause'])).out).toContain('run po-sync resume.');
});
