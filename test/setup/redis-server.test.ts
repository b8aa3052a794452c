import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeExecutable } from '../support/executable.ts';
import { loadSetupPart } from '../support/setup-part.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

type Machine = { path: string; otherNames: string[]; isRoot: boolean };

const { ensureRedisServer } = await loadSetupPart<{
  ensureRedisServer: (say: (line: string) => void, machine: Machine) => Promise<void>;
}>('redis-server.mjs');

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let said: string[];

beforeEach(async () => {
  folder = await makeTempFolder();
  said = [];
});
afterEach(() => folder[Symbol.asyncDispose]());

const inFolder = (name: string) => path.join(folder.path, name);
const ensure = (machine: Partial<Machine> = {}) =>
  ensureRedisServer((line) => said.push(line), {
    path: folder.path,
    otherNames: [],
    isRoot: true,
    ...machine,
  });
const calls = () => readFile(inFolder('calls'), 'utf8').then((text) => text.trim().split('\n'));

/** A package manager that brings a redis-server when the named package is asked for. */
const manager = (name: string, wanted: string) =>
  writeExecutable(
    inFolder(name),
    `echo "${name} $*" >> ${inFolder('calls')}`,
    `case "$*" in *${wanted}) printf '#!/bin/sh\\n' > ${inFolder('redis-server')} && /bin/chmod 755 ${inFolder('redis-server')};;`,
    '*update*) ;;',
    '*) echo "no such package" >&2; exit 1;; esac',
  );

test('nothing is installed if there is a server', async () => {
  await writeExecutable(inFolder('valkey-server'));
  await manager('apt-get', 'redis-tools');
  await ensure();
  expect(said).toEqual([]);
});

test('the server in redis-tools is found under its other name', async () => {
  await ensure({ otherNames: [await writeExecutable(inFolder('redis-check-rdb'))] });
  expect(said).toEqual([]);
});

test('apt-get installs the package without a system service, after an announcement', async () => {
  await manager('apt-get', 'redis-tools');
  await ensure();
  expect(said).toEqual(['installing a Redis server (apt-get install redis-tools)']);
  expect((await calls()).at(-1)).toMatch(/^apt-get install -y .* redis-tools$/);
  await ensure();
  expect(said).toHaveLength(1);
});

test('dnf installs valkey if there is no redis', async () => {
  await manager('dnf', 'valkey');
  await ensure();
  expect(await calls()).toEqual(['dnf install -y -q redis', 'dnf install -y -q valkey']);
});

test('sudo without a password is sufficient', async () => {
  await manager('apk', 'redis');
  await writeExecutable(inFolder('sudo'), `shift; echo "sudo $*" >> ${inFolder('calls')}; "$@"`);
  await writeExecutable(inFolder('true'));
  await ensure({ isRoot: false });
  expect(said).toEqual(['installing a Redis server (sudo -n apk add redis)']);
  expect(await calls()).toContain('sudo apk add -q --no-cache redis');
});

test('without permission to install, one line says what to run', async () => {
  await manager('apt-get', 'redis-tools');
  await expect(ensure({ isRoot: false })).rejects.toMatchObject({
    name: 'SetupFailure',
    message:
      'redis-server is not installed, and this user has no permission to install it; run `apt-get install redis-tools` as root and try again',
  });
  await expect(calls()).rejects.toThrow('ENOENT');
});

test('a failed installation reports what the package manager said', async () => {
  await manager('apt-get', 'something-else');
  await expect(ensure()).rejects.toThrow(
    /apt-get did not install redis-server.*\n.*no such package/s,
  );
});

test('a machine without a known package manager is reported', async () => {
  await expect(ensure()).rejects.toThrow(
    'redis-server is not installed; install Redis and try again',
  );
});
