import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadSetupPart } from './support/setup-part.ts';
import { makeTempFolder } from './support/temp-folder.ts';

type Manifest = Record<
  'dependencies' | 'optionalDependencies' | 'devDependencies',
  Record<string, string>
>;

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const manifest: Manifest = JSON.parse(read('package.json'));
const direct = {
  ...manifest.dependencies,
  ...manifest.optionalDependencies,
  ...manifest.devDependencies,
};

test('every chosen package is explained, and no other', () => {
  const rows = read('docs/dependencies.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const explained = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );
  expect(new Set(explained)).toEqual(new Set(Object.keys(direct)));
});

test('versions are exact', () => {
  expect(
    Object.entries(direct).filter(
      ([, version]) => !/^(?:npm:[a-z-]+@)?\d+\.\d+\.\d+$/.test(version),
    ),
  ).toEqual([]);
});

test('no package runs a script when it is installed, with any npm', () => {
  expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
});

test('`npm run check` says at once that it needs a complete checkout, where the tests are missing', async () => {
  await using folder = await makeTempFolder();
  for (const name of ['package.json', '.npmrc'])
    await writeFile(path.join(folder.path, name), read(name));
  const { status, stderr } = spawnSync('npm', ['run', 'check'], {
    cwd: folder.path,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/^npm run check needs a complete checkout .*test\/ or \.ci\/ is missing/),
  ]);
});

test('each program that needs the tests says so first, in the same words', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const name of ['bench', 'soak', 'compare', 'test:flake', 'test:mutants'])
    expect(scripts[name]).toMatch(
      RegExp(
        `^.*test -d test .*\\|\\| \\{ echo 'npm run ${name} needs a complete checkout .*; exit 1; \\}; node `,
      ),
    );
});

test('`npm test` says that it needs a complete checkout, where the tests are missing', async () => {
  await using folder = await makeTempFolder();
  const { runTests } = await loadSetupPart<{
    runTests(root: string, args: string[]): Promise<number>;
  }>('tests.mjs');
  await expect(runTests(folder.path, [])).rejects.toThrow('`npm test` needs a complete checkout');
});

/** `npm run check:supply` on a copy of the files that it reads, with one of them changed. Nothing answers as the registry. */
async function checkSupply(
  change: { file: string; from: string | RegExp; to: string } | undefined,
) {
  await using folder = await makeTempFolder();
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
    const text = name === change?.file ? read(name).replace(change.from, change.to) : read(name);
    if (name === change?.file) expect(text).not.toBe(read(name));
    await writeFile(path.join(folder.path, name), text);
  }
  const program = fileURLToPath(new URL('../.ci/supply.mjs', import.meta.url));
  const env = {
    ...process.env,
    PO_SYNC_SUPPLY_ROOT: folder.path,
    npm_config_registry: 'http://127.0.0.1:9/',
  };
  const { status, stdout } = spawnSync(process.execPath, [program], { env, encoding: 'utf8' });
  return { status, stdout };
}

test('`npm run check:supply` passes, and says that nobody could be asked for advisories', async () => {
  const { status, stdout } = await checkSupply(undefined);
  expect(stdout).toContain('advisories: not checked');
  expect([status, stdout]).toEqual([0, expect.stringContaining('as they should be')]);
});

const HASH = /"integrity": "sha512-[^"]*"/;

test.each([
  ['a hash is missing', 'package-lock.json', HASH, '"integrity": ""', 'no SHA-512'],
  [
    'a hash is of another kind',
    'package-lock.json',
    HASH,
    '"integrity": "sha1-aaaa"',
    'no SHA-512',
  ],
  ['there is an address', 'package-lock.json', HASH, '$&, "resolved": "http://x/"', 'an address'],
  ['the lock file is older', 'package.json', '"bullmq": "', '"bullmq": "9', 'dependencies differ'],
  [
    'a license changes',
    'package-lock.json',
    /"license": "MIT"/g,
    '"license": "AGPL-3.0"',
    'license AGPL-3.0',
  ],
  [
    'a script would run',
    'package.json',
    '"msgpackr-extract": false',
    '"msgpackr-extract": true',
    'runs a script',
  ],
  [
    'npm 10 would run scripts',
    '.npmrc',
    'ignore-scripts=true',
    'ignore-scripts=false',
    'ignore-scripts',
  ],
])('`npm run check:supply` fails when %s', async (_, file, from, to, says) => {
  const { status, stdout } = await checkSupply({ file, from, to });
  expect([status, stdout]).toEqual([1, expect.stringContaining(says)]);
});
