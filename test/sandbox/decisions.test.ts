import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const FOLDER = 'docs/decisions';

test('every decision is in the index', async () => {
  const pages = (await readdir(FOLDER)).filter((name) => name !== 'README.md');
  const index = await readFile(`${FOLDER}/README.md`, 'utf8');
  expect(new Set([...index.matchAll(/\]\(([^)]+)\)/g)].map(([, page]) => page))).toEqual(new Set(pages));
});

test('every decision of the reference API states the choice, the reason, and what a client can rely on', async () => {
  const index = await readFile(`${FOLDER}/README.md`, 'utf8');
  const linked = [...index.matchAll(/^\|.*\| \[(.+)\]\((.+)\) \|$/gm)];
  expect(linked.length).toBeGreaterThan(10);
  for (const [, title, page] of linked) {
    const text = await readFile(`${FOLDER}/${page}`, 'utf8');
    expect(text.match(/^#.*$/gm)).toEqual([`# ${title}`, '## Chosen', '## Why', '## What a client may rely on']);
  }
});
