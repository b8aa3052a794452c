import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { DAEMON_COMMANDS } from '../../src/cli/commands/definitions/environment-commands.ts';

test('the page of decisions and the contract name only flags of the sandbox that exist', async () => {
  const [{ options = [] } = {}] = DAEMON_COMMANDS.filter(({ name }) => name === 'sandbox');
  const flags = options.map(({ flags: written }) => written.split(' ')[0]);
  const pages = await Promise.all(
    ['docs/decisions/sandbox.md', 'docs/contract.md'].map((page) => readFile(page, 'utf8')),
  );
  const [, contract = ''] = pages[1]?.split('## The reference API') ?? [];
  const named = [...`${pages[0]}${contract}`.matchAll(/(?<=[`| ])--[a-z][a-z-]*/g)].map(String);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((flag) => !['--environment', '--help', ...flags].includes(flag))).toEqual([]);
});
