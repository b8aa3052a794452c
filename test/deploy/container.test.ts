import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeExecutable } from '../support/executable.ts';
import { freePort } from '../support/free-port.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/open-sandbox.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

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

/** `docker` with buildah: one container for each command, and a Redis of the test for any image of Redis. */
const DOCKER = `
buildah="buildah $STORAGE"
isolated="--isolation chroot --env PO_SYNC_ADMIN_PORT=0"
command=$1; shift
case $command in
  build) test "$1" = -t && test -s "$3/Dockerfile" && test -s "$3"/po-sync-*.tgz && $buildah tag localhost/po-sync:test "$2" ;;
  network) test "$1" = create ;;
  run)
    options=
    while :; do
      case $1 in
        -d | --init | --read-only) shift ;;
        -v) options="$options -v $2"; shift 2 ;;
        -e) options="$options --env $2"; shift 2 ;;
        --name) name=$2; shift 2 ;;
        --*) shift 2 ;;
        *) break ;;
      esac
    done
    case $1 in redis:*) exit 0 ;; esac
    options=$(echo "$options" | sed "s#redis://po-sync-redis:6379/0#$REDIS#")
    echo "$options" >"$HOME/$name.options"
    setsid $buildah run $isolated $options "$($buildah from "localhost/$1")" -- /opt/po-sync/bin/po-sync start >"$HOME/$name.log" 2>&1 &
    echo $! >"$HOME/$name.pid" ;;
  exec) name=$1; shift; $buildah run $isolated $(cat "$HOME/$name.options") "$($buildah from localhost/po-sync)" -- "$@" ;;
  logs) ;;
esac`;

test('the commands of docs/deploy.md for a container lead to one that delivers, and doctor finds no problem', async () => {
  await using place = await openWorkplace();
  const page = await readFile(path.join(ROOT, 'docs/deploy.md'), 'utf8');
  const block = /^```sh\n((?:(?!```).)*?docker run.*?)^```/ms.exec(page)?.[1] ?? '';
  expect(block).toMatch(/^npm ci .*docker logs/s);
  const drop = /`(sudo install -o 10001 [^`]*)`/.exec(page)?.[1] ?? '';
  const [home, checkout, bin] = ['home', 'checkout', 'bin'].map((name) =>
    path.join(place.folder, name),
  ) as [string, string, string];
  await mkdir(home);
  await cp(path.join(ROOT, 'docs'), path.join(checkout, 'docs'), { recursive: true });
  await writeExecutable(path.join(bin, 'sudo'), 'exec "$@"');
  await writeExecutable(path.join(bin, 'docker'), DOCKER);
  await writeExecutable(
    path.join(bin, 'npm'),
    `case $1 in ci) ;; pack) cp '${path.join(folder.path, 'context')}'/po-sync-*.tgz "$3" ;; *) exit 1 ;; esac`,
  );
  await writeExecutable(
    path.join(bin, 'editor'),
    `case $1 in */client-id) echo '${CLIENT_ID}' >"$1" ;; */client-secret) echo '${CLIENT_SECRET}' >"$1" ;;`,
    `*) sed -i 's#https://api.*#${place.api.baseUrl}#; s#https://auth.*#${place.api.authUrl}#' "$1" ;; esac`,
  );
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: home,
    STORAGE: storage.join(' '),
    REDIS: await openDatabase(),
  };
  const shell = (commands: string, cwd: string) => run('sh', ['-ec', commands], { cwd, env });
  try {
    const { stdout } = await shell(block, checkout);
    expect(stdout).toMatch(/^No problems found\.|^0 failed/m);
    await writeFile(
      path.join(place.folder, 'orders.csv'),
      'purchaseOrderNumber,articleCode,quantity\nPO-1,A,1\n',
    );
    await shell(drop, place.folder);
    await until('the order is stored', () => place.stored().size === 1, 120_000);
  } finally {
    const daemon = Number(await readFile(path.join(home, 'po-sync.pid'), 'utf8').catch(() => '0'));
    if (daemon > 0) process.kill(-daemon, 'SIGTERM');
    await until('the container ended', () => daemon === 0 || !isAlive(daemon), 60_000);
  }
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}
