import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { DAEMON_COMMANDS } from '../../src/cli/commands/definitions/environment-commands.ts';

const FOLDER = 'docs/decisions';

test('every page of decisions is in the index', async () => {
  const pages = (await readdir(FOLDER)).filter((name) => name !== 'README.md');
  const index = await readFile(`${FOLDER}/README.md`, 'utf8');
  expect(new Set([...index.matchAll(/\]\(([^)]+)\)/g)].map(([, page]) => page))).toEqual(
    new Set(pages),
  );
});

/** What no switch can change, because the sandbox has nothing there. */
const NOTHING_TO_SWITCH = ['Business functions', 'Events', 'Other records and single orders'];

const sandboxFlags = DAEMON_COMMANDS.flatMap(({ name, options = [] }) =>
  name === 'sandbox' ? options : [],
).map(({ flags }) => flags.split(' ')[0] ?? '');

test('every decision of the sandbox says what a client may rely on, and names an existing flag or a fault', async () => {
  const [, ...decisions] = (await readFile(`${FOLDER}/sandbox.md`, 'utf8')).split(/^## /m);
  expect(decisions.length).toBeGreaterThan(15);
  for (const text of decisions) {
    const [title = ''] = text.split('\n');
    const flags = [...text.matchAll(/`(--[a-z-]+)/g)].map(([, flag]) => flag);
    expect([title, flags.filter((flag) => !sandboxFlags.includes(flag ?? ''))]).toEqual([
      title,
      [],
    ]);
    const isSwitched = flags.length > 0 || /[Ff]ault/.test(text);
    expect([title, isSwitched || NOTHING_TO_SWITCH.includes(title)]).toEqual([title, true]);
    expect([title, text.match(/\*\*A client may rely on\*\*/g)?.length]).toEqual([title, 1]);
  }
});

test('the table of flags has every flag of the command', async () => {
  const text = await readFile('docs/rehearsals.md', 'utf8');
  const table = text.split('\n').filter((line) => line.startsWith('| `--'));
  const listed = table.flatMap((line) =>
    [...(line.split(' | ')[0] ?? '').matchAll(/`(--[a-z-]+)/g)].map(([, flag]) => flag),
  );
  expect(new Set(listed)).toEqual(new Set(['--environment', ...sandboxFlags]));
  expect(new Set(listed).size).toBe(listed.length);
});
