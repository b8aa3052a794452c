import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { NEW_LEDGER, OPERATOR, ROLLED_BACK } from '../../src/ledger/pause-cause.ts';

const root = path.resolve(import.meta.dirname, '../..');
const src = path.join(root, 'src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);
const textOf = (name: string) => readFileSync(path.join(src, name), 'utf8');

/** The codes with which delivery pauses: written where it pauses, and those of a token that cannot be had. */
const inRules = [
  ...textOf('deliver/pause-rules.ts').matchAll(
    /\bcode: (?:\w+ \? )?'([a-z0-9-]+)'(?: : '([a-z0-9-]+)')?/g,
  ),
];
const ofToken = files
  .filter((name) => name.startsWith('api/'))
  .flatMap((name) => [...textOf(name).matchAll(/'(token-(?:refused|unavailable))'/g)]);
const codes = [...inRules, ...ofToken].flatMap(([, ...found]) =>
  found.filter((one) => one !== undefined),
);
const all = new Set([...codes, OPERATOR, NEW_LEDGER, ROLLED_BACK]);

it('the codes of a pause are found', () => {
  expect([...all]).toEqual(
    expect.arrayContaining([
      'token-not-accepted',
      'api-down',
      'answers-unclear',
      'token-refused',
      'token-unavailable',
    ]),
  );
});

it.each([...all])('docs/operations.md says what to do about %s', (code) => {
  const table = readFileSync(path.join(root, 'docs/operations.md'), 'utf8').split(
    '## Failures and remedies',
  )[1];
  const rows = table?.split('\n## ')[0]?.split('\n') ?? [];
  expect(rows.filter((row) => row.startsWith('|') && row.includes(`\`${code}\``))).not.toEqual([]);
});

it('the failure table names no code that does not exist', () => {
  const page = readFileSync(path.join(root, 'docs/operations.md'), 'utf8');
  const named = new Set(
    [...page.matchAll(/`(token-[a-z-]+|answers-[a-z-]+)`/g)].map(([, code = '']) => code),
  );
  expect([...named].filter((code) => !all.has(code))).toEqual([]);
});
