import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { DAEMON_COMMANDS } from '../../src/cli/commands/definitions/environment-commands.ts';

const FOLDER = 'docs/decisions';

test('every decision is in the index', async () => {
  const pages = (await readdir(FOLDER)).filter((name) => name !== 'README.md');
  const index = await readFile(`${FOLDER}/README.md`, 'utf8');
  expect(new Set([...index.matchAll(/\]\(([^)]+)\)/g)].map(([, page]) => page))).toEqual(
    new Set(pages),
  );
});

test('every decision of the reference API states the choice, the reason, and what a client can rely on', async () => {
  const index = await readFile(`${FOLDER}/README.md`, 'utf8');
  const linked = [...index.matchAll(/^\|.*\| \[(.+)\]\((.+)\) \|$/gm)];
  expect(linked.length).toBeGreaterThan(10);
  for (const [, title, page] of linked) {
    const text = await readFile(`${FOLDER}/${page}`, 'utf8');
    expect(text.match(/^#.*$/gm)).toEqual([
      `# ${title}`,
      '## Chosen',
      '## Why',
      '## What a client may rely on',
    ]);
  }
});

/** What no switch can change, because the sandbox has nothing there. */
const NOTHING_TO_SWITCH = [
  'business-functions.md',
  'events.md',
  'other-records.md',
  'additions.md',
];

const sandboxFlags = DAEMON_COMMANDS.flatMap(({ name, options = [] }) =>
  name === 'sandbox' ? options : [],
).map(({ flags }) => flags.split(' ')[0] ?? '');

test('every decision that a real environment could contradict names a flag or a fault, and every flag exists', async () => {
  const index = await readFile(`${FOLDER}/README.md`, 'utf8');
  const pages = [...index.matchAll(/^\|.*\| \[.+\]\((.+)\) \|$/gm)].map(([, page = '']) => page);
  for (const page of pages) {
    const text = await readFile(`${FOLDER}/${page}`, 'utf8');
    const flags = [...text.matchAll(/`(--[a-z-]+)/g)].map(([, flag]) => flag);
    expect([page, flags.filter((flag) => !sandboxFlags.includes(flag ?? ''))]).toEqual([page, []]);
    const isSwitched = flags.length > 0 || /[Ff]ault/.test(text);
    expect([page, isSwitched || NOTHING_TO_SWITCH.includes(page)]).toEqual([page, true]);
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
