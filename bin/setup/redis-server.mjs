import { access, readdir } from 'node:fs/promises';
import path from 'node:path';
import { lastLines, runQuietly } from './run-quietly.mjs';
import { SetupFailure } from './setup-failure.mjs';

/** Debian's `redis-tools` holds the server under this name, without a system service (see src/redis/find-server.ts). */
const underAnotherName = ['/usr/bin/redis-check-rdb', '/usr/local/bin/redis-check-rdb'];

const managers = [
  { program: 'apt-get', packages: ['redis-tools'], refresh: ['update', '-qq'], install: aptArguments },
  { program: 'dnf', packages: ['redis', 'valkey'], install: (name) => ['install', '-y', '-q', name] },
  { program: 'apk', packages: ['redis', 'valkey'], install: (name) => ['add', '-q', '--no-cache', name] },
];

/** Installs a Redis server when the machine has none, saying so before; needs root, or sudo without a password. */
export async function ensureRedisServer(say) {
  if (await hasRedisServer()) return;
  const manager = await firstOf(managers, ({ program }) => inPath(program));
  const first = manager?.packages[0] ?? 'redis';
  const byHand = manager
    ? `\`${manager.program} install ${first}\` as root`.replace('apk install', 'apk add')
    : 'Redis';
  if (!manager) throw new SetupFailure('there is no redis-server on this machine; install Redis, then try again');

  const asRoot = await rightToInstall();
  if (!asRoot) {
    throw new SetupFailure(
      `there is no redis-server on this machine, and no right to install it; run ${byHand}, then try again`,
    );
  }
  say(`installing a Redis server, once (${[...asRoot, manager.program].join(' ')}, package ${first})`);
  const said = await install(manager, asRoot);
  if (!(await hasRedisServer())) {
    throw new SetupFailure(`the Redis server could not be installed; run ${byHand}. It said:\n${lastLines(said)}`);
  }
}

/** Whether `redis-server` or `valkey-server` is in PATH, or Debian's other name for it exists. */
async function hasRedisServer() {
  if ((await inPath('redis-server')) || (await inPath('valkey-server'))) return true;
  return (await firstOf(underAnotherName, isExecutable)) !== undefined;
}

async function install({ program, packages, refresh, install: argumentsFor }, asRoot) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const run = (args) => {
    const [file, ...rest] = [...asRoot, program, ...args];
    return runQuietly(file, rest, { env });
  };
  let said = '';
  if (refresh && !(await hasPackageLists())) said += (await run(refresh)).output;
  for (const name of packages) {
    let result = await run(argumentsFor(name));
    if (result.code !== 0 && refresh) {
      said += (await run(refresh)).output;
      result = await run(argumentsFor(name));
    }
    said += result.output;
    if (result.code === 0) break;
  }
  return said;
}

function aptArguments(name) {
  return ['install', '-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120', name];
}

async function hasPackageLists() {
  const names = await readdir('/var/lib/apt/lists').catch(() => []);
  return names.some((name) => name.includes('_Packages'));
}

/** What to put before a command that needs root; undefined when there is no way. */
async function rightToInstall() {
  if (process.getuid?.() === 0) return [];
  if ((await runQuietly('sudo', ['-n', 'true'])).code === 0) return ['sudo', '-n'];
  return undefined;
}

function inPath(program) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/sbin'].filter(Boolean);
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
