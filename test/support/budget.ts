import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The size of the project: lines of code of the two halves, and words of its Markdown. */
export type Size = { src: number; test: number; words: number };

/** Generated, locked or fixed data: nobody reads it as code. */
const LEFT_OUT =
  /(?:^|\/)(?:package-lock\.json|po-sync\.schema\.json|[^/]*\.gen\.ts)$|^bench\/results\/|^docs\/reference\/|\.(?:png|ico|gz|xlsx)$/;

/** Lines that are neither blank nor only a comment. */
export function linesOfCode(text: string): number {
  return text.split('\n').filter((line) => !/^\s*(?:$|\/\/|\/?\*|--|#)/.test(line)).length;
}

/** The size of every file that git knows, or would add. */
export function sizeOf(root: string): Size {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const names = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0');
  const size: Size = { src: 0, test: 0, words: 0 };
  for (const name of names) {
    const file = path.join(root, name);
    if (name === '' || LEFT_OUT.test(name) || !existsSync(file)) continue;
    const text = readFileSync(file, 'utf8');
    if (name.endsWith('.md')) size.words += text.split(/\s+/).filter(Boolean).length;
    if (/^(?:src|bin)\//.test(name)) size.src += linesOfCode(text);
    if (/^(?:test|bench|\.ci)\//.test(name)) size.test += linesOfCode(text);
  }
  return size;
}
