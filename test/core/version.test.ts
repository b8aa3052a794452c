import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { buildOf, versionOf } from '../../src/core/version.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const COMMIT = '20c68feb4a3b2c1d0e9f8a7b6c5d4e3f2a1b0c9d';
const SHOWN = `${versionOf()}+20c68feb`;

/** What is shown for a folder with these files. */
async function buildWith(files: Readonly<Record<string, string>>): Promise<string> {
  await using folder = await makeTempFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder.path, name)), { recursive: true });
    await writeFile(path.join(folder.path, name), text);
  }
  return buildOf(path.join(folder.path, 'po-sync'));
}

it.each([
  [
    'on a branch',
    {
      'po-sync/.git/HEAD': 'ref: refs/heads/main\n',
      'po-sync/.git/refs/heads/main': `${COMMIT}\n`,
    },
  ],
  [
    'whose branches are packed',
    {
      'po-sync/.git/HEAD': 'ref: refs/heads/site/a\n',
      'po-sync/.git/packed-refs': `# pack-refs with: peeled fully-peeled sorted\n${'0'.repeat(40)} refs/heads/a\n${COMMIT} refs/heads/site/a\n`,
    },
  ],
  ['of a single commit', { 'po-sync/.git/HEAD': `${COMMIT}\n` }],
  [
    'that is a linked worktree',
    {
      'po-sync/.git': 'gitdir: ../main/.git/worktrees/po-sync\n',
      'main/.git/worktrees/po-sync/HEAD': 'ref: refs/heads/next\n',
      'main/.git/worktrees/po-sync/commondir': '../..\n',
      'main/.git/refs/heads/next': `${COMMIT}\n`,
    },
  ],
])('the version of a checkout %s has its commit', async (_, files) => {
  expect(await buildWith(files)).toBe(SHOWN);
});

it.each([
  ['is an installed package', {}],
  ['has no commit yet', { 'po-sync/.git/HEAD': 'ref: refs/heads/main\n' }],
  [
    'has a HEAD that names no branch',
    { 'po-sync/.git/HEAD': 'ref: refs/../../secret\n', 'po-sync/secret': COMMIT },
  ],
  [
    'has a file of packed branches that is too large to read at a start',
    {
      'po-sync/.git/HEAD': 'ref: refs/heads/main\n',
      'po-sync/.git/packed-refs': `${COMMIT} refs/heads/main\n${`${'0'.repeat(40)} refs/heads/a\n`.repeat(90_000)}`,
    },
  ],
  ['stores its branches in another form', { 'po-sync/.git/HEAD': 'ref: refs/heads/.invalid\n' }],
  [
    'has something else where the commit is',
    { 'po-sync/.git/HEAD': 'ref: refs/heads/main\n', 'po-sync/.git/refs/heads/main': '<b>\n' },
  ],
])('the version of a folder that %s is that of its package', async (_, files) => {
  expect(await buildWith(files)).toBe(versionOf());
});
