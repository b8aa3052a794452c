import { access, readdir } from 'node:fs/promises';
import path from 'node:path';
import { lastLines, runQuietly } from './run-quietly.mjs';
import { SetupFailure } from './setup-failure.mjs';

/** Debian's `redis-tools` contains the server under this name, without a system service (see src/redis/private-server/server-process.ts). */
const underAnotherName = ['/usr/bin/redis-check-rdb', '/usr/local/bin/redis-check-rdb'];

const MISSING = 'redis-server is not installed';

const managers = [
  {
    program: 'apt-get',
    byHand: 'apt-get install redis-tools',
    packages: ['redis-tools'],
    refresh: ['update', '-qq'],
    // Wait for the lock: on a new machine another installation may be running.
    install: ['install', '-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120'],
  },
  {
    program: 'dnf',
    byHand: 'dnf install redis',
    packages: ['redis', 'valkey'],
    install: ['install', '-y', '-q'],
  },
  {
    program: 'apk',
    byHand: 'apk add redis',
    packages: ['redis', 'valkey'],
    install: ['add', '-q', '--no-cache'],
  },
];

/** The relevant properties of this machine; tests pass others. */
const thisMachine = {
  path: process.env.PATH ?? '',
  otherNames: underAnotherName,
  isRoot: process.getuid?.() === 0,
};

/** Installs a Redis server if there is none, and announces it first; requires root, or sudo without a password. */
export async function ensureRedisServer(say, machine = thisMachine) {
  if (await hasRedisServer(machine)) return;
  const manager = await firstOf(managers, ({ program }) => inPath(program, machine));
  if (!manager) throw new SetupFailure(`${MISSING}; install Redis and try again`);
  const { program, byHand } = manager;
  const asRoot = await rightToInstall(machine);
  if (!asRoot)
    throw new SetupFailure(
      `${MISSING}, and this user has no permission to install it; run \`${byHand}\` as root and try again`,
    );

  say(`installing a Redis server (${[...asRoot, byHand].join(' ')})`);
  const said = await install(manager, asRoot, machine);
  if (await hasRedisServer(machine)) return;
  throw new SetupFailure(
    `${program} did not install redis-server; run \`${byHand}\` as root. Its output:\n${lastLines(said)}`,
  );
}

/** Whether `redis-server` or `valkey-server` is in PATH, or Debian's other name for it exists. */
async function hasRedisServer(machine) {
  if ((await inPath('redis-server', machine)) || (await inPath('valkey-server', machine)))
    return true;
  return (await firstOf(machine.otherNames, isExecutable)) !== undefined;
}

/** Tries each package; refreshes the package lists first if there are none, otherwise after a failure. */
async function install({ program, packages, refresh, install: first }, asRoot, machine) {
  const env = { ...process.env, PATH: machine.path, DEBIAN_FRONTEND: 'noninteractive' };
  let said = '';
  const run = async (args) => {
    const [file, ...rest] = [...asRoot, program, ...args];
    const { code, output } = await runQuietly(file, rest, { env });
    said += output;
    return code === 0;
  };
  const isFresh = refresh !== undefined && !(await hasPackageLists()) && (await run(refresh));
  for (const name of packages) {
    if (await run([...first, name])) break;
    if (refresh && !isFresh && (await run(refresh)) && (await run([...first, name]))) break;
  }
  return said;
}

async function hasPackageLists() {
  const names = await readdir('/var/lib/apt/lists').catch(() => []);
  return names.some((name) => name.includes('_Packages'));
}

/** The prefix for a command that requires root; undefined if there is no permission. */
async function rightToInstall({ path: PATH, isRoot }) {
  if (isRoot) return [];
  if ((await runQuietly('sudo', ['-n', 'true'], { env: { ...process.env, PATH } })).code === 0)
    return ['sudo', '-n'];
  return undefined;
}

function inPath(program, machine) {
  const folders = machine.path.split(path.delimiter).filter(Boolean);
  return firstOf(folders, (folder) => isExecutable(path.join(folder, program)));
}

function isExecutable(file) {
  return access(file, 1).then(
    () => true,
    () => false,
  );
}

async function firstOf(candidates, accepts) {
  for (const one of candidates) if (await accepts(one)) return one;
  return undefined;
}
