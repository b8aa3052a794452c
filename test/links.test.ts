import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const filesOf = (...patterns: string[]) =>
  spawnSync('git', ['ls-files', ...patterns], { cwd: ROOT, encoding: 'utf8' })
    .stdout.split('\n')
    .filter((name) => name !== '' && existsSync(path.join(ROOT, name)));
const pages = filesOf('*.md');

const textOf = (page: string) =>
  readFileSync(path.join(ROOT, page), 'utf8').replace(/^ *```.*?^ *```$/gms, '');

/** The anchors of a page, as GitHub makes them from its headings. */
function anchorsOf(page: string): string[] {
  const headings = [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return [...headings, ...[...textOf(page).matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)];
}

function brokenIn(page: string): string[] {
  const links = [...textOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)];
  return links.flatMap(([link, file = '', anchor]) => {
    const target = file === '' ? page : path.join(path.dirname(page), file);
    const isFound =
      existsSync(path.join(ROOT, target)) &&
      (anchor === undefined || anchorsOf(target).includes(anchor));
    return isFound ? [] : [`${page}: ${link}`];
  });
}

it('every link of the documentation leads to a file and a heading that exist', () => {
  expect(pages.length).toBeGreaterThan(15);
  expect(pages.flatMap(brokenIn)).toEqual([]);
});

it('the code names only pages of the documentation that exist', () => {
  const named = filesOf('src', 'bin', 'config', 'bench', '.ci').flatMap((file) =>
    [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(
      ([page]) => page,
    ),
  );
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((page) => !pages.includes(page))).toEqual([]);
});
