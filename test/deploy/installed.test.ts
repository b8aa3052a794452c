import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeExecutable } from '../support/executable.ts';
import { CREDENTIALS } from '../support/sandbox-process.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const NODE = path.dirname(process.execPath);

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let installed: string;
let launcher: string;

/** `npm pack`, then a global installation into an empty prefix. */
beforeAll(async () => {
  folder = await makeTempFolder();
  await run('npm', ['pack', '--pack-destination', folder.path], { cwd: ROOT });
  const prefix = path.join(folder.path, 'prefix');
  const archive = path.join(folder.path, 'po-sync-0.1.0.tgz');
  // The Node.js that this test runs on takes the place of the optional package, which has 190 MB.
  const flags = [
    '--global',
    '--prefix',
    prefix,
    '--offline',
    '--omit=optional',
    '--loglevel=error',
  ];
  await mkdir(path.join(prefix, 'lib'), { recursive: true });
  await run('npm', ['install', ...flags, archive], { cwd: folder.path });
  installed = path.join(prefix, 'lib/node_modules/po-sync');
  launcher = path.join(prefix, 'bin/po-sync');
});
afterAll(() => folder[Symbol.asyncDispose]());

const env = { PATH: `${NODE}:${process.env['PATH'] ?? ''}`, HOME: '/nonexistent' };
const versionIn = async (file: string): Promise<unknown> =>
  JSON.parse(await readFile(file, 'utf8')).version;

test('an installed package has the exact version of each library that was tested', async () => {
  const { dependencies } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  const lock = JSON.parse(await readFile(path.join(ROOT, 'package-lock.json'), 'utf8')).packages;
  for (const [name, version] of Object.entries(dependencies)) {
    expect(await versionIn(path.join(installed, 'node_modules', name, 'package.json')), name).toBe(
      version,
    );
  }
  const { stdout } = await run(
    'npm',
    ['ls', '--all', '--parseable', '--long', '--omit=dev', '--omit=optional'],
    {
      cwd: installed,
    },
  );
  const found = stdout.split('\n').filter((line) => line.includes('/po-sync/node_modules/'));
  expect(found.length).toBeGreaterThan(40);
  for (const line of found) {
    const [place = '', named = ''] = line.split(':');
    const name = place.slice(place.indexOf('/po-sync/node_modules/') + '/po-sync/'.length);
    expect(named, name).toMatch(new RegExp(`@${lock[name]?.version}$`));
  }
});

test('an installed po-sync delivers a file with its private Redis', async () => {
  await using place = await openWorkplace({ redis: 'private', launcher });
  await place.drop('orders.csv', 'purchaseOrderNumber,articleCode,quantity\nPO-1,A,1\nPO-2,B,2\n');
  const { code, err } = await place.spawn(['start', '--once'], { PATH: env.PATH }).ended;
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(place.stored()).toEqual(
    new Map([
      ['PO-1', 1],
      ['PO-2', 1],
    ]),
  );
});

test('the commands of docs/deploy.md lead from the package to a running daemon', async () => {
  await using place = await openWorkplace({ redis: 'private' });
  const page = await readFile(path.join(ROOT, 'docs/deploy.md'), 'utf8');
  const block = /^```sh\n(mkdir -p ~\/orders\/config.*?)^```/ms.exec(page)?.[1] ?? '';
  expect(block).toContain('po-sync start');
  // What a person enters in the three files.
  const { baseUrl, authUrl } = place.api;
  const [id = '', secret = ''] = Object.values(CREDENTIALS);
  await writeExecutable(
    path.join(place.folder, 'bin/editor'),
    `case $1 in client-id) echo '${id}' >"$1" ;; client-secret) echo '${secret}' >"$1" ;;`,
    `*) sed -i 's#https://api.*#${baseUrl}#; s#https://auth.*#${authUrl}#' "$1" ;; esac`,
  );
  const PATH = [path.join(place.folder, 'bin'), path.dirname(launcher), env.PATH].join(':');
  const home = path.join(place.folder, 'home');
  await mkdir(home);
  const child = spawn('sh', ['-ec', block], {
    env: {
      PATH,
      HOME: home,
      npm_config_prefix: path.join(folder.path, 'prefix'),
      PO_SYNC_ADMIN_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const closed = once(child, 'close');
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (out += text));
  try {
    await until(
      'the daemon is ready',
      () => out.includes('daemon-ready') || (child.exitCode !== null && out),
    );
    expect(out).toContain('daemon-ready');
    expect(out).toMatch(/^No problems found\.|^0 failed/m);
    await writeFile(
      path.join(home, 'orders/inbox/orders.csv'),
      'purchaseOrderNumber,articleCode,quantity\nPO-1,A,1\n',
    );
    await until('the order is stored', () => place.stored().size === 1);
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    await closed;
  }
});
