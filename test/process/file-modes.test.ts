import {
  appendFile,
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openOddApi } from '../support/odd-api.ts';
import { type Ended, type Running, startProgram } from '../support/program.ts';
import { CREDENTIALS, startSandboxProcess } from '../support/sandbox-process.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';

async function modeOf(file: string): Promise<string> {
  return ((await stat(file)).mode & 0o777).toString(8);
}

test('the data folder is private, and its files give other users no access', async () => {
  await using folder = await makeTempFolder();
  const data = path.join(folder.path, 'data', 'sandbox');
  await using _sandbox = await startSandboxProcess(data);
  expect(await modeOf(path.dirname(data))).toBe('700');
  expect(await modeOf(data)).toBe('700');
  expect(await modeOf(path.join(data, 'staging.sqlite'))).toMatch(/0$/);
});

/** Two users without special rights. */
const [OWNER, NEIGHBOR] = [65_534, 12_345];

/** Where Node.js keeps compiled code of users who have no home: compiling it at each start would take most of the time. */
const cache = await makeTempFolder();
await chmod(cache.path, 0o777);
afterAll(() => cache[Symbol.asyncDispose]());

type Home = AsyncDisposable & {
  folder: string;
  data: string;
  run(...args: string[]): Promise<Ended>;
  runAsRoot(...args: string[]): Promise<Ended>;
  start(): Running;
};

/** A folder of OWNER, who runs po-sync in it. Without `redis` it uses its private one. */
async function openHome(redis?: string, api = 'http://127.0.0.1:9'): Promise<Home> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await makeTempFolder());
  const data = path.join(folder, 'data');
  for (const name of ['inbox', 'reports']) await mkdir(path.join(folder, name));
  await writeFile(
    path.join(folder, 'po-sync.yaml'),
    `environment: staging
data: data
${redis === undefined ? '' : `redis: { url: '${redis}' }\n`}environments:
  staging: { baseUrl: '${api}/api/v1', authUrl: '${api}' }
sources:
  - { name: inbox, type: inbox, path: inbox }
reports: { path: reports }
admin: { port: 0 }
`,
  );
  for (const name of ['', 'inbox', 'reports']) await chown(path.join(folder, name), OWNER, OWNER);
  const kept = stack.move();
  const start = (user: number, args: readonly string[]) =>
    startProgram(['--config', path.join(folder, 'po-sync.yaml'), ...args], {
      cwd: folder,
      env: { ...CREDENTIALS, NODE_COMPILE_CACHE: cache.path },
      user,
    });
  return {
    folder,
    data,
    run: (...args) => start(OWNER, args).ended,
    runAsRoot: (...args) => start(0, args).ended,
    start: () => start(OWNER, ['start']),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function makeFolder(folder: string, owner: number, mode: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chown(folder, owner, owner);
  await chmod(folder, mode);
}

/** Needs root, and a checkout that everybody may read. */
const canRunAsOwner = await startProgram(['--version'], {
  cwd: '/',
  env: {},
  user: OWNER,
}).ended.then(
  ({ code }) => code === 0,
  () => false,
);

describe.runIf(canRunAsOwner)('a folder that another user can change', () => {
  test('is refused as `data` by every command, which leaves nothing in it and says what to do', async () => {
    await using home = await openHome();
    for (const [owner, mode, args] of [
      [NEIGHBOR, 0o777, 'start'],
      [0, 0o777, 'status'],
      [OWNER, 0o1777, 'status'],
    ] as const) {
      await makeFolder(home.data, owner, mode);
      const { code, out, err } = await home.run(args);
      expect([args, code]).toEqual([args, 1]);
      expect(out + err).toContain(`${home.data} can be changed by other users of this machine.`);
      expect(out + err).toContain('(chown)');
      expect(out + err).toContain(`A tmpfs needs the mount options uid=${OWNER},mode=0700.`);
      expect(out + err).not.toMatch(/^\s+at /m);
      expect(await readdir(path.join(home.data, 'redis')).catch(() => [])).toEqual([]);
    }
  });

  test('is refused as the folder of the private Redis, also through a link', async () => {
    await using home = await openHome();
    const foreign = path.join(home.folder, 'foreign');
    await makeFolder(home.data, OWNER, 0o700);
    await makeFolder(foreign, NEIGHBOR, 0o777);
    await symlink(foreign, path.join(home.data, 'redis'));
    const { code, err } = await home.run('status');
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('redis can be changed by other users'),
    ]);
    expect(await readdir(foreign)).toEqual([]);
  });

  test('is closed where it belongs to the user that runs po-sync', async () => {
    await using home = await openHome();
    await makeFolder(home.data, OWNER, 0o777);
    await makeFolder(path.join(home.data, 'redis'), OWNER, 0o2775);
    expect((await home.run('status')).code).toBe(0);
    expect(await modeOf(home.data)).toBe('775');
    expect(await modeOf(path.join(home.data, 'redis'))).toBe('700');
  });
});

describe.runIf(canRunAsOwner)('a folder of reports without write permission', () => {
  test('is refused at the start, before an order is sent, and waited for when it loses the permission later', async () => {
    await using redis = await startTestRedis();
    await using home = await openHome(redis.url);
    const reports = path.join(home.folder, 'reports');
    await makeFolder(reports, 0, 0o755);
    const { code, err } = await home.run('start', '--once');
    expect(code).toBe(1);
    expect(err.replace(/\s+/g, ' ')).toMatch(
      new RegExp(
        `po-sync has no write permission for ${reports}\\. Give the user that runs po-sync permission ` +
          `.*, or correct reports\\.path in ${home.folder}/po-sync.yaml`,
      ),
    );
    expect(await readdir(path.join(home.folder, 'inbox'))).toEqual([]);

    await makeFolder(reports, OWNER, 0o700);
    const daemon = home.start();
    await until('the start', () => daemon.out().includes('daemon ready'));
    await makeFolder(reports, 0, 0o755);
    await writeFile(
      path.join(home.folder, 'inbox', 'orders.csv'),
      'purchaseOrderNumber,articleCode,quantity\n,A,1\n',
    );
    await chown(path.join(home.folder, 'inbox', 'orders.csv'), OWNER, OWNER);
    await until('the batch that waits', async () => {
      const [one] = JSON.parse((await home.run('--json', 'batches', 'list')).out).batches;
      return one?.unsettled?.reason.includes('EACCES');
    });
    await makeFolder(reports, OWNER, 0o700);
    await until('the report', async () => (await readdir(reports)).some((one) => one !== 'open'));
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0 });
  });
});

describe.runIf(canRunAsOwner)('a dropped file of another user without read permission', () => {
  test('is an alarm of a running daemon until it is taken: exit code, notice and metric', async () => {
    await using redis = await startTestRedis();
    await using api = await openOddApi();
    await using home = await openHome(redis.url, api.url);
    const notices = path.join(home.folder, 'reports', 'notices');
    await appendFile(
      path.join(home.folder, 'po-sync.yaml'),
      `notify: [{ on: [attention], command: [sh, -c, 'cat >> ${notices}'] }]\n`,
    );
    const file = path.join(home.folder, 'inbox', 'locked.csv');
    await mkdir(path.join(home.folder, 'inbox', 'folder'));
    await writeFile(file, 'purchaseOrderNumber,articleCode,quantity\nPO-1,A,1\n', { mode: 0o600 });
    const daemon = home.start();
    const port = await until('the admin port', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]);
    const get = async (page: string) => (await fetch(`http://127.0.0.1:${port}${page}`)).text();
    const endsWith = (expected: number) =>
      until(`exit code ${expected}`, async () => {
        const { code } = await home.run('status', '--exit-code');
        return code === expected;
      });
    const isAlarm = async (count: number) =>
      new RegExp(`^po_sync_files_not_taken\\{.*source="inbox".*\\} ${count}$`, 'm').test(
        await get('/metrics'),
      );
    await until('the alarm', () => isAlarm(1));
    await endsWith(2);
    expect(JSON.parse((await home.run('status', '--json')).out).notTaken).toMatchObject([
      {
        source: 'inbox',
        file: 'locked.csv',
        reason: expect.stringContaining('No permission to read'),
      },
    ]);
    expect(await get('/readyz')).toContain('"ok":true');
    await until('the notice', async () =>
      (await readFile(notices, 'utf8').catch(() => '')).includes('not-taken'),
    );

    await chmod(file, 0o644);
    // A folder in the inbox is only listed.
    await until('the end of the alarm', () => isAlarm(0));
    await endsWith(0);
    expect((await readFile(notices, 'utf8')).match(/"kind":/g)).toHaveLength(1);
    daemon.child.kill('SIGTERM');
    await daemon.ended;
  });

  test('does not keep start --once, which takes the other files and names it', async () => {
    await using redis = await startTestRedis();
    await using api = await openOddApi();
    await using home = await openHome(redis.url, api.url);
    const drop = (name: string) =>
      writeFile(
        path.join(home.folder, 'inbox', name),
        'purchaseOrderNumber,articleCode,quantity\nPO-1,A,1\n',
      );
    await drop('locked.csv');
    await chmod(path.join(home.folder, 'inbox', 'locked.csv'), 0o600);
    await drop('orders.csv');
    const { code, out, err } = await home.run('start', '--once', '--json');
    expect(err).toMatch(
      /^Not taken: locked\.csv of source inbox: No permission to read .*read permission\.$/m,
    );
    const remedy = 'Give the user that runs po-sync read permission.';
    expect({ code, ...JSON.parse(out) }).toMatchObject({
      code: 2,
      end: 'done',
      exitCode: 2,
      batches: [{ file: 'orders.csv', counts: { accepted: 1 }, needPerson: 0 }],
      notTaken: [{ source: 'inbox', file: 'locked.csv', remedy }],
    });
    expect(err).toContain('"event":"file-trouble"');
  });
});

describe.runIf(canRunAsOwner)("root's commands in the folder of a service user", () => {
  const REFUSED = `belongs to user ${OWNER}, and root's private Redis would lock that user out.`;
  const foreign = async (folder: string) => {
    const names = await readdir(folder, { recursive: true });
    const owners = await Promise.all(
      names.map(async (name) => (await stat(path.join(folder, name))).uid),
    );
    return names.filter((_, i) => owners[i] !== OWNER);
  };

  test('start no private Redis there, before and after its first start, and say what to do', async () => {
    await using home = await openHome();
    await makeFolder(home.data, OWNER, 0o700);
    for (let round = 0; round < 2; round += 1) {
      const { code, err } = await home.runAsRoot('status');
      expect([code, err]).toEqual([1, expect.stringContaining(REFUSED)]);
      expect(err).toContain(`sudo -u '#${OWNER}' po-sync`);
      expect(await foreign(home.data)).toEqual([]);
      expect((await home.run('status')).code).toBe(0);
    }
  });

  test('use the one that runs', async () => {
    await using home = await openHome();
    await makeFolder(home.data, OWNER, 0o700);
    const daemon = home.start();
    await until('its Redis', () => daemon.out().includes('private-redis-started'));
    const { code, err } = await home.runAsRoot('status');
    expect([code, err]).toEqual([0, '']);
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    expect(await foreign(home.data)).toEqual([]);
    expect((await home.run('status')).code).toBe(0);
  });
});
