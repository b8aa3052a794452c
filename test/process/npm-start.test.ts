import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { killProcess } from '../support/kill-process.ts';
import { processesIn } from '../support/processes-in.ts';
import { settledBatches } from '../support/settled-batches.ts';
import { loadSetupPart } from '../support/setup-part.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let root: string;
let sandboxYaml: string;

/** A separate checkout on the packages of this one; the same for all, as compiled code is kept for its path. */
beforeAll(async () => {
  const { arePackagesInStep } = await loadSetupPart<{
    arePackagesInStep(root: string): Promise<boolean>;
  }>('packages.mjs');
  // Otherwise the set-up would install into the packages of this checkout, through the link.
  if (!(await arePackagesInStep(repository)))
    throw new Error('Install the packages first: npm ci.');
  folder = await makeTempFolder();
  root = path.join(folder.path, 'checkout');
  for (const name of ['bin', 'src', 'config', 'package.json', 'package-lock.json']) {
    await cp(path.join(repository, name), path.join(root, name), { recursive: true });
  }
  await symlink(path.join(repository, 'node_modules'), path.join(root, 'node_modules'));
  sandboxYaml = await readFile(path.join(root, 'config', 'sandbox.yaml'), 'utf8');
});
afterAll(() => folder[Symbol.asyncDispose]());

/** With separate ports, and nothing of an earlier start. */
beforeEach(async () => {
  await mkdir(path.join(root, 'inbox'));
  const port = await freePort(2);
  await writeFile(
    path.join(root, 'config', 'sandbox.yaml'),
    sandboxYaml.replaceAll(/401([01])/g, (_, nth) => String(port + Number(nth))),
  );
});
afterEach(async () => {
  await killEverything();
  for (const name of ['inbox', 'data', 'reports'])
    await rm(path.join(root, name), { recursive: true, force: true });
});

/** Whatever runs from the checkout, its Redis too. */
async function processes(): Promise<number[]> {
  const places = [root, path.join(root, 'data', 'redis')];
  return (await Promise.all(places.map(processesIn))).flat();
}

async function killEverything(): Promise<void> {
  for (const pid of await processes()) killProcess(pid, 'SIGKILL');
  await until('everything has ended', async () => (await processes()).length === 0);
}

/** `npm start`, without npm. */
async function start() {
  const setup = spawn(process.execPath, ['bin/setup.mjs', 'start'], {
    cwd: root,
    env: { ...process.env, PO_SYNC_ADMIN_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  for (const stream of [setup.stdout, setup.stderr]) {
    createInterface(stream).on('line', (line) => {
      if (line !== '') lines.push(line);
    });
  }
  await once(setup, 'spawn');
  const told = (what: RegExp) =>
    until(`it says ${what}`, () => {
      if (setup.exitCode !== null)
        throw new Error(`it ended with ${setup.exitCode}:\n${lines.join('\n')}`);
      return lines.find((line) => what.test(line));
    });
  return { setup, lines, told, end: (signal: NodeJS.Signals) => endOf(setup, signal) };
}

async function endOf(setup: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  setup.kill(signal);
  // What was killed may leave children that hold its output open; otherwise the last line counts too.
  const [code] = await once(setup, signal === 'SIGKILL' ? 'exit' : 'close');
  return code;
}

/** A command in another terminal, as the README describes it. */
async function command(...args: string[]): Promise<string> {
  const line = `. data/sandbox/env && export PATH="$PWD/bin:$PATH" && po-sync ${args.join(' ')}`;
  const { stdout } = await promisify(execFile)('sh', ['-c', line], {
    cwd: root,
    env: { ...process.env, PO_SYNC_ADMIN_PORT: '0' },
  });
  return stdout;
}

async function drop(name: string, ...rows: string[]): Promise<void> {
  const hidden = path.join(root, 'inbox', `.${name}`);
  await writeFile(hidden, ['purchaseOrderNumber,articleCode,quantity', ...rows, ''].join('\n'));
  await rename(hidden, path.join(root, 'inbox', name));
}

test('the samples give a first report, the commands in the README work beside it, also those that call the API, and Ctrl-C leaves no process running', async () => {
  const samples = (await readdir(path.join(root, 'config', 'samples'))).sort();
  const first = await start();
  for (const sample of samples) await first.told(new RegExp(`^po-sync: ${sample}: \\d+ orders`));
  const readme = await readFile(path.join(repository, 'README.md'), 'utf8');
  expect(readme).toMatch(
    /^\. data\/sandbox\/env\b.*\nexport PATH="\$PWD\/bin:\$PATH".*\npo-sync status\b/m,
  );
  expect(await command('doctor')).toContain('No problems found.');
  expect(await command('reconcile')).toContain('They agree.');
  expect(await command('explain', 'PO-2026-0105')).toContain('NO-SUCH-ARTICLE');
  await mkdir(path.join(root, 'inbox', 'august'));
  await first.told(
    /^po-sync: august is not read, because it is a folder: drop the files themselves into inbox\//,
  );
  // What a terminal does, and npm may do again.
  first.setup.kill('SIGINT');
  expect(await first.end('SIGINT')).toBe(0);
  expect(first.lines.at(-1)).toBe('po-sync: stopped');
  // A terminal of 80 columns breaks no path in them.
  expect(
    first.lines.filter((line) => /Ctrl-C|daemon\.log|data\/sandbox/.test(line) && line.length > 80),
  ).toEqual([]);
  expect(first.lines).toContain(
    'po-sync: the log is data/daemon.log, that of the sandbox data/sandbox.log',
  );
  const linesOf = async (log: string) =>
    (await readFile(path.join(root, 'data', log), 'utf8')).trim().split('\n');
  for (const line of await linesOf('daemon.log')) expect(JSON.parse(line)).toHaveProperty('msg');
  expect(await linesOf('sandbox.log')).toContainEqual(expect.stringMatching(/ POST \/.* 201 /));
  expect(await processes()).toEqual([]);
  // Its API has ended with it.
  expect(await command('status')).toContain('none running; start one with npm start');
  await expect(command('reconcile')).rejects.toThrow(
    /ECONNREFUSED[\s\S]*Try again while npm start is running/,
  );

  const batches = await settledBatches(path.join(root, 'reports'));
  expect(batches.map(({ report }) => report.file).sort()).toEqual(samples);
  const counts = batches.map(({ report }) => report.counts);
  expect(counts.reduce((sum, one) => sum + one.accepted, 0)).toBeGreaterThan(0);
  expect(counts.reduce((sum, one) => sum + one.invalid, 0)).toBeGreaterThan(0);
  expect(counts.reduce((sum, one) => sum + one.refused, 0)).toBeGreaterThan(0);
  for (const { folder } of batches)
    expect(first.lines).toContain(`  ${path.relative(root, folder)}/report.html`);
});

test('the next start stops the processes of a killed one; after kill -9 of everything it starts again and continues', async () => {
  const first = await start();
  await first.told(/press Ctrl-C to stop/);
  await first.end('SIGKILL');
  expect((await processes()).length).toBeGreaterThan(0);
  await drop('meanwhile.csv', 'P-1,A-1,1');
  await until(
    'the file to be settled',
    async () => (await settledBatches(path.join(root, 'reports'))).length === 3,
  );

  const second = await start();
  await second.told(/stopping process \d+ of an earlier start/);
  await second.told(/press Ctrl-C to stop/);
  const third = await start();
  await once(third.setup, 'close');
  expect(third.lines.at(-1)).toMatch(
    /^po-sync: `npm start` is already running here \(process \d+\); stop it first$/,
  );
  // Frozen, so that the file is not done before they are killed, however slow this test is.
  for (const pid of await processes()) killProcess(pid, 'SIGSTOP');
  await drop('before.csv', 'Q-1,A-1,1', 'Q-2,A-1,2');
  await killEverything();

  const fourth = await start();
  await fourth.told(/^po-sync: before\.csv: 2 orders, 2 accepted$/);
  await drop('after.csv', 'Q-1,A-1,1', 'Q-3,A-1,3');
  await fourth.told(/^po-sync: after\.csv: 2 orders, 1 accepted, 1 duplicate$/);
  // The sandbox refuses the same article as at the first start.
  await drop('unknown.csv', 'Q-4,NO-SUCH-ARTICLE,1');
  await fourth.told(/^po-sync: unknown\.csv: 1 order, 1 refused; 1 needs a person$/);
  await drop('unreadable.csv', '"Q-5,A-1,1');
  await fourth.told(/^po-sync: unreadable\.csv: cannot be read\. .*\.$/);
  await fourth.told(/^ {2}reports\/.*unreadable.*\/report\.html$/);
  expect(fourth.lines.filter((line) => line.includes('config/samples'))).toEqual([]);
  expect(await fourth.end('SIGTERM')).toBe(0);
  expect(await processes()).toEqual([]);
});

test('a port in use and a missing inbox end it with remedies that it accepts', async () => {
  const text = await readFile(path.join(root, 'config', 'sandbox.yaml'), 'utf8');
  const port = Number(/baseUrl: http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1]);
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  const first = await start();
  expect(await once(first.setup, 'close')).toEqual([1, null]);
  other.close();
  expect(first.lines).toEqual([
    `po-sync: Port ${port} on 127.0.0.1 is in use by another program.`,
    '  Set another port in baseUrl and authUrl of config/sandbox.yaml, or stop the program that uses it.',
    'po-sync: the sandbox did not start; its addresses are in config/sandbox.yaml',
  ]);

  await rm(path.join(root, 'inbox'), { recursive: true });
  const second = await start();
  expect(await once(second.setup, 'close')).toEqual([1, null]);
  expect(second.lines).toEqual([
    `po-sync: The folder ${path.join(root, 'inbox')} does not exist.`,
    expect.stringMatching(
      /^ {2}If it was used before, mount its share or move it back\. Create a new one with mkdir -p /,
    ),
    'po-sync: the daemon did not start; its configuration is config/sandbox.yaml',
  ]);
});

test('a closed terminal ends the sandbox, too', async () => {
  const { setup, told } = await start();
  await told(/press Ctrl-C to stop/);
  setup.stdout.destroy();
  setup.stderr.destroy();
  setup.kill('SIGHUP');
  await once(setup, 'exit');
  expect(await processes()).toEqual([]);
});
