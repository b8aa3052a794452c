import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { writeExecutable } from '../support/executable.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/open-sandbox.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const DEPLOY = path.join(ROOT, 'docs/deploy');
const isThere = (program: string) =>
  run('sh', ['-c', `command -v ${program}`]).then(
    () => true,
    () => false,
  );

describe.skipIf(!(await isThere('systemd-analyze')))('the systemd unit', () => {
  const unit = path.join(DEPLOY, 'po-sync.service');

  test('is exposed at 2.0 or less', async () => {
    const { stdout } = await run('systemd-analyze', ['security', '--offline=true', unit]);
    const level = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
    expect(level).toBeGreaterThan(0);
    expect(level).toBeLessThanOrEqual(2);
  });

  test('has only settings that systemd knows', async () => {
    await using folder = await makeTempFolder();
    // The program that the unit starts is not installed here.
    const text = (await readFile(unit, 'utf8')).replace('/opt/po-sync/bin/po-sync', '/bin/true');
    const copy = path.join(folder.path, 'po-sync.service');
    await writeFile(copy, text);
    const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', copy]);
    expect(stdout + stderr).toBe('');
  });
});

describe.runIf(process.getuid?.() === 0)('po-sync-service', () => {
  /** The script with paths of `folder`, a user of every system, and a program that prints what it gets. */
  async function openScript(folder: string): Promise<string> {
    await chmod(folder, 0o755);
    for (const name of ['etc', 'bin']) await mkdir(path.join(folder, name));
    await writeFile(
      path.join(folder, 'etc/environment'),
      'PO_SYNC_PRODUCTION_CLIENT_ID=erp\nPO_SYNC_CONFIRM=production\n',
    );
    await writeFile(path.join(folder, 'etc/client-secret'), 'the secret\n', { mode: 0o600 });
    await writeExecutable(path.join(folder, 'bin/po-sync'), 'echo "$(id -un) $*"; env');
    const text = await readFile(path.join(DEPLOY, 'po-sync-service'), 'utf8');
    const script = path.join(folder, 'po-sync-service');
    const here = text
      .replaceAll('/etc/po-sync/', `${folder}/etc/`)
      .replace('/opt/po-sync/', `${folder}/`)
      .replace('--reuid=po-sync --regid=po-sync', '--reuid=nobody --regid=nogroup');
    await writeFile(script, here, { mode: 0o755 });
    return script;
  }

  test('runs a command as the user of the service, with its configuration and credentials, not its confirmation', async () => {
    await using folder = await makeTempFolder();
    const script = await openScript(folder.path);
    const { stdout } = await run(script, ['check', '--preview', 'a b.csv'], {
      env: { PATH: process.env['PATH'] },
    });
    const [first, ...variables] = stdout.trimEnd().split('\n');
    expect(first).toBe('nobody check --preview a b.csv');
    expect(variables).toEqual(
      expect.arrayContaining([
        `PO_SYNC_CONFIG=${folder.path}/etc/po-sync.yaml`,
        'PO_SYNC_PRODUCTION_CLIENT_ID=erp',
        'PO_SYNC_PRODUCTION_CLIENT_SECRET=the secret',
      ]),
    );
    expect(stdout).not.toContain('PO_SYNC_CONFIRM');
  });

  test('needs root, and says so', async () => {
    await using folder = await makeTempFolder();
    const script = await openScript(folder.path);
    const refused = run(script, ['status'], { uid: 65_534, gid: 65_534 });
    await expect(refused).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('sudo po-sync-service status'),
    });
  });
});

test('the configuration that docs/deploy.md writes for systemd is right', async () => {
  await using folder = await makeTempFolder();
  const page = await readFile(path.join(ROOT, 'docs/deploy.md'), 'utf8');
  const text =
    /\/dev\/stdin \/etc\/po-sync\/po-sync\.yaml <<'END'\n(.*?)^END$/ms.exec(page)?.[1] ?? '';
  const config = path.join(folder.path, 'po-sync.yaml');
  await writeFile(config, text);
  const { stdout } = await run(path.join(ROOT, 'bin/po-sync'), [
    'config',
    'show',
    '--config',
    config,
    '--json',
  ]);
  expect(JSON.parse(stdout).config).toMatchObject({
    environment: 'production',
    data: '/var/lib/po-sync/data',
  });
});

test('the commands of docs/deploy.md for pm2 lead to a configuration in which doctor finds no problem', async () => {
  await using place = await openWorkplace();
  const [, page = ''] = (await readFile(path.join(ROOT, 'docs/deploy.md'), 'utf8')).split(
    /^## pm2$/m,
  );
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, text = '']) => text);
  const commands = blocks
    .filter((text) => /\/etc\/po-sync\/(?:env|po-sync\.yaml)/.test(text))
    .slice(0, 2)
    .join('');
  const [prepare = '', rest] = commands.split('pm2 start ');
  expect(prepare).toMatch(/^sudo install -d .*doctor\n$/s);
  expect(rest).toContain('pm2 save');
  const { baseUrl, authUrl, redis } = { ...place.api, redis: await openDatabase() };
  await writeExecutable(path.join(place.folder, 'bin/sudo'), 'exec "$@"');
  await writeExecutable(
    path.join(place.folder, 'bin/editor'),
    `case $1 in */client-id) echo '${CLIENT_ID}' >"$1" ;; */client-secret) echo '${CLIENT_SECRET}' >"$1" ;;`,
    `*) sed -i 's#https://api.*#${baseUrl}#; s#https://auth.*#${authUrl}#; s#/srv/#${place.folder}/srv/#' "$1" ;; esac`,
  );
  const here = prepare.replaceAll(/\/(?:etc|srv)\//g, (root) => `${place.folder}${root}`);
  const env = {
    PATH: `${place.folder}/bin:${process.env['PATH']}`,
    PO_SYNC_REDIS_URL: redis,
    PO_SYNC_ADMIN_PORT: '0',
  };
  const { stdout } = await run('sh', ['-ec', here], { cwd: ROOT, env });
  expect(stdout).toMatch(/^No problems found\.|^0 failed/m);
});

test('the health check of the image passes for a daemon with tokens at another port, and fails without one', async () => {
  const text = await readFile(path.join(DEPLOY, 'Dockerfile'), 'utf8');
  const [, ...args]: string[] = JSON.parse(
    /^HEALTHCHECK .*\\\n\s+CMD (\[.*\])$/m.exec(text)?.[1] ?? '[]',
  );
  await using place = await openWorkplace();
  const daemon = place.spawn(['start'], {
    PO_SYNC_ADMIN_TOKEN: 'a-token-of-the-operator',
    PO_SYNC_METRICS_TOKEN: 'another-token-for-metrics',
  });
  const port = await until('the admin port', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
  const check = () => run(process.execPath, args, { env: { PO_SYNC_ADMIN_PORT: port } });
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(401);
  await expect(check()).resolves.toBeDefined();
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  await expect(check()).rejects.toMatchObject({ code: 1 });
});

describe('Docker Compose', () => {
  test('keeps every order that Redis acknowledged, like the commands of docs/deploy.md', async () => {
    const { redis } = parse(
      await readFile(path.join(DEPLOY, 'compose/compose.yaml'), 'utf8'),
    ).services;
    const page = await readFile(path.join(ROOT, 'docs/deploy.md'), 'utf8');
    expect(page).toContain(`\n  ${redis.command.join(' ')}\n`);
  });

  test('starts the sandbox with flags that it knows, and the daemon with a configuration that is right', async () => {
    const compose = parse(await readFile(path.join(DEPLOY, 'compose/compose.yaml'), 'utf8'));
    const command: string[] = compose.services.sandbox.command;
    const flags = command.filter((word) => word.startsWith('--'));
    const { stdout: help } = await run(path.join(ROOT, 'bin/po-sync'), ['sandbox', '--help']);
    for (const flag of flags) expect(help).toContain(`${flag} <`);
    const config = path.join(DEPLOY, 'compose/po-sync.yaml');
    const { stdout } = await run(path.join(ROOT, 'bin/po-sync'), [
      'config',
      'show',
      '--config',
      config,
      '--json',
    ]);
    const { staging } = JSON.parse(stdout).config.environments;
    const publicUrl = command[command.indexOf('--public-url') + 1];
    expect(staging).toMatchObject({
      baseUrl: `${publicUrl}/api/v1`,
      authUrl: publicUrl,
      plainHttp: true,
    });
  });

  test('starts the delivery daemons of roles.yaml like the daemon of compose.yaml, without the folders of intake', async () => {
    const read = async (file: string) =>
      parse(await readFile(path.join(DEPLOY, 'compose', file), 'utf8')).services;
    const { 'po-sync': intake, delivery } = await read('roles.yaml');
    const { command, deploy, ...rest } = delivery;
    expect([intake.command, command]).toEqual([
      ['start', '--role', 'intake'],
      ['start', '--role', 'delivery'],
    ]);
    expect(deploy).toEqual({ replicas: 4 });
    const { 'po-sync': alone } = await read('compose.yaml');
    const volumes = alone.volumes.filter((one: string) => !/inbox|reports/.test(one));
    expect(rest).toEqual({ ...alone, volumes });
  });
});
