import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeExecutable } from '../support/executable.ts';
import { loadSetupPart } from '../support/setup-part.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

type Packages = {
  ensurePackages: (root: string, say: (line: string) => void) => Promise<void>;
  arePackagesInStep: (root: string) => Promise<boolean>;
};
const { ensurePackages, arePackagesInStep } = await loadSetupPart<Packages>('packages.mjs');

const wanted = {
  '': { name: 'po-sync' },
  'node_modules/a': { version: '1.2.3', integrity: 'sha512-a' },
  'node_modules/for-macs': { version: '1.0.0', integrity: 'sha512-m', optional: true },
};
const { 'node_modules/a': a } = wanted;

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let root: string;
let said: string[];
const environment = { ...process.env };

/** A checkout with a lock file, and an npm that notes its calls and installs what the lock file names. */
beforeEach(async () => {
  folder = await makeTempFolder();
  root = folder.path;
  said = [];
  await writeFile(path.join(root, 'package-lock.json'), JSON.stringify({ packages: wanted }));
  delete process.env['npm_execpath'];
  await writeExecutable(
    path.join(root, 'path', 'npm'),
    `echo "$*" >> ${root}/calls`,
    `mkdir -p ${root}/node_modules`,
    'sleep 0.3',
    `cp ${root}/package-lock.json ${root}/node_modules/.package-lock.json`,
  );
  process.env['PATH'] = `${path.join(root, 'path')}:${environment['PATH']}`;
});

afterEach(async () => {
  Object.assign(process.env, environment);
  await folder[Symbol.asyncDispose]();
});

const ensure = () => ensurePackages(root, (line) => said.push(line));
const calls = () =>
  readFile(path.join(root, 'calls'), 'utf8').then((text) => text.trim().split('\n'));

async function install(packages: object): Promise<void> {
  await mkdir(path.join(root, 'node_modules'), { recursive: true });
  await writeFile(
    path.join(root, 'node_modules', '.package-lock.json'),
    JSON.stringify({ packages }),
  );
}

describe('installed packages match the lock file', () => {
  test('if all packages of the lock file are installed, except those for other machines', async () => {
    await install({ 'node_modules/a': a });
    expect(await arePackagesInStep(root)).toBe(true);
  });

  test('also if a person added one', async () => {
    await install({ 'node_modules/a': a, 'node_modules/more': { version: '2.0.0' } });
    expect(await arePackagesInStep(root)).toBe(true);
  });

  test.each([
    ['with another version', { 'node_modules/a': { ...a, version: '1.2.4' } }],
    ['with other content', { 'node_modules/a': { ...a, integrity: 'sha512-b' } }],
    ['without one of them', {}],
    [
      'with another version of one that may be absent',
      { 'node_modules/a': a, 'node_modules/for-macs': { version: '2' } },
    ],
  ])('not %s', async (_, packages) => {
    await install(packages);
    expect(await arePackagesInStep(root)).toBe(false);
  });

  test('not after an interrupted installation', async () => {
    await mkdir(path.join(root, 'node_modules'));
    expect(await arePackagesInStep(root)).toBe(false);
  });
});

test('missing packages are installed once, after an announcement', async () => {
  await ensure();
  await ensure();
  expect(said).toEqual(['installing packages (npm ci)']);
  expect(await calls()).toEqual(['ci --include=dev --include=optional --no-progress']);
});

test('two concurrent setups install once', async () => {
  await Promise.all([ensure(), ensure()]);
  expect(await calls()).toHaveLength(1);
  expect(said).toContain('waiting for another setup of this checkout');
});

test('a killed setup does not block the next one', async () => {
  const gone = spawn('true');
  await once(gone, 'exit');
  await mkdir(path.join(root, 'data'));
  await writeFile(path.join(root, 'data', 'setup.lock'), String(gone.pid));
  await ensure();
  expect(await calls()).toHaveLength(1);
});

test('a failed installation reports what npm said', async () => {
  await writeExecutable(path.join(root, 'path', 'npm'), 'echo "npm error network" >&2', 'exit 1');
  await expect(ensure()).rejects.toMatchObject({
    name: 'SetupFailure',
    message: expect.stringContaining('npm error network'),
  });
});
