import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { DAEMON_COMMANDS } from '../../src/cli/commands/definitions/environment-commands.ts';

test('docs/rehearsals.md names only flags of the sandbox that exist', async () => {
  const [{ options = [] } = {}] = DAEMON_COMMANDS.filter(({ name }) => name === 'sandbox');
  const flags = options.map(({ flags: written }) => written.split(' ')[0]);
  const [, page = ''] = (await readFile('docs/rehearsals.md', 'utf8')).split('\n## The sandbox\n');
  const named = [...page.matchAll(/(?<=[`| ])--[a-z][a-z-]*/g)].map(String);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((flag) => !['--environment', '--help', ...flags].includes(flag))).toEqual([]);
});
