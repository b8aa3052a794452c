import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

// Needs root and Debian's buildah, podman and mmdebstrap. There is no container engine involved: buildah runs each program
// in a chroot on the network of the machine.

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const USER = 10001;
const SECRET = 'canary-of-the-container';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let storage: string[];
const buildah = (...args: string[]) =>
  run('buildah', [...storage, ...args], { maxBuffer: 64 * 1024 * 1024 });

/** A Debian with Node.js, and the image on it as the documentation builds it. */
beforeAll(async () => {
  folder = await makeTempFolder();
  const place = (name: string) => path.join(folder.path, name);
  storage = ['--storage-driver', 'vfs', '--root', place('root'), '--runroot', place('run')];
  const base = place('base.tar');
  await run('mmdebstrap', [
    '--variant=minbase',
    '--include=ca-certificates,libstdc++6',
    'bookworm',
    base,
  ]);
  await mkdir(place('add/usr/local/bin'), { recursive: true });
  await copyFile(process.execPath, place('add/usr/local/bin/node'));
  await run('tar', ['--append', '-f', base, '-C', place('add'), './usr/local/bin/node']);
  await run('podman', [...storage, 'import', base, 'localhost/base:bookworm']);
  await cp(path.join(ROOT, 'docs/deploy'), place('context'), { recursive: true });
  await run('npm', ['pack', '--pack-destination', place('context')], { cwd: ROOT });
  // What a checkout may contain beside the package must not reach the image.
  await writeFile(place('context/client-secret'), SECRET);
  const onBase = ['--build-arg', 'BASE=localhost/base:bookworm'];
  await buildah(
    'bud',
    '--isolation',
    'chroot',
    '--format',
    'docker',
    '--layers=false',
    ...onBase,
    '-t',
    'po-sync:test',
    place('context'),
  );
});
afterAll(async () => {
  await buildah('rm', '--all').catch(() => undefined);
  await folder[Symbol.asyncDispose]();
});

const CREDENTIALS = [
  '--env',
  'PO_SYNC_STAGING_CLIENT_ID=compose',
  '--env',
  `PO_SYNC_STAGING_CLIENT_SECRET=${SECRET}`,
];
const PROGRAM = ['--', '/opt/po-sync/bin/po-sync'];

async function container(): Promise<string> {
  return (await buildah('from', 'localhost/po-sync:test')).stdout.trim();
}

test('the image runs as a user without rights, has a health check and a stop signal, and no secret', async () => {
  const { stdout } = await buildah('inspect', '--type', 'image', 'localhost/po-sync:test');
  const { config } = JSON.parse(stdout).Docker;
  expect(config).toMatchObject({
    User: '10001:10001',
    StopSignal: 'SIGTERM',
    Entrypoint: ['/opt/po-sync/bin/po-sync'],
  });
  expect(config.Healthcheck.Test.join(' ')).toContain('/healthz');
  expect(config.Volumes ?? {}).toEqual({});
  const search = [
    '--',
    'sh',
    '-c',
    `grep -rl "${SECRET}" /opt /srv /etc /tmp; find / -xdev -name client-secret; id -u`,
  ];
  const found = await buildah('run', '--isolation', 'chroot', await container(), ...search);
  expect(found.stdout).toBe(`${USER}\n`);
});

test('a daemon in one container delivers to the sandbox in another', async () => {
  const place = (name: string) => path.join(folder.path, name);
  const port = await freePort();
  const listen = [
    '--host',
    '0.0.0.0',
    '--port',
    `${port}`,
    '--public-url',
    `http://127.0.0.1:${port}`,
  ];
  const flags = [
    'sandbox',
    '--environment',
    'staging',
    '--data',
    '/srv/po-sync/sandbox',
    ...listen,
  ];
  const sandbox = spawn(
    'buildah',
    [
      ...storage,
      'run',
      '--isolation',
      'chroot',
      ...CREDENTIALS,
      await container(),
      ...PROGRAM,
      ...flags,
    ],
    { stdio: ['ignore', 'pipe', 'ignore'], detached: true },
  );
  const closed = once(sandbox, 'close');
  try {
    const [line] = await once(createInterface(sandbox.stdout), 'line');
    expect(JSON.parse(String(line)).baseUrl).toBe(`http://127.0.0.1:${port}/api/v1`);
    for (const name of ['inbox', 'data', 'reports', 'etc']) {
      await mkdir(place(name));
      await chown(place(name), USER, USER);
    }
    const config = await readFile(path.join(ROOT, 'docs/deploy/compose/po-sync.yaml'), 'utf8');
    await writeFile(
      place('etc/po-sync.yaml'),
      config.replaceAll('sandbox:7400', `127.0.0.1:${port}`),
    );
    await writeFile(
      place('inbox/orders.csv'),
      'purchaseOrderNumber,articleCode,quantity\nPO-1,A,1\n',
    );
    await chown(place('inbox/orders.csv'), USER, USER);
    const folders = ['inbox', 'data', 'reports'].flatMap((name) => [
      '-v',
      `${place(name)}:/srv/po-sync/${name}`,
    ]);
    const volumes = [...folders, '-v', `${place('etc')}:/etc/po-sync:ro`];
    const redis = ['--env', `PO_SYNC_REDIS_URL=${await openDatabase()}`];
    const program = [...PROGRAM, 'start', '--once'];
    const { stdout } = await buildah(
      'run',
      '--isolation',
      'chroot',
      ...volumes,
      ...CREDENTIALS,
      ...redis,
      await container(),
      ...program,
    );
    expect(stdout).toContain('"accepted":1');
  } finally {
    process.kill(-(sandbox.pid ?? 0), 'SIGTERM');
    await closed;
  }
});
