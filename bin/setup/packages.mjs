import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { lastLines, runQuietly } from './run-quietly.mjs';
import { SetupFailure } from './setup-failure.mjs';
import { withLock } from './with-lock.mjs';

/**
 * Installs the packages of package-lock.json if one is missing or differs.
 */
export async function ensurePackages(root, say) {
  if (await arePackagesInStep(root)) return;
  await withLock(path.join(root, 'data', 'setup.lock'), say, async () => {
    if (await arePackagesInStep(root)) return;
    say('installing packages (npm ci)');
    await install(root);
  });
}

/** Whether node_modules matches package-lock.json, by npm's own list of installed packages. */
export async function arePackagesInStep(root) {
  const wanted = await packagesIn(path.join(root, 'package-lock.json'));
  const installed = await packagesIn(path.join(root, 'node_modules', '.package-lock.json'));
  if (!wanted)
    throw new SetupFailure(`${root} has no package-lock.json, so it is not a checkout of po-sync`);
  if (!installed) return false;
  return Object.entries(wanted).every(([place, { version, integrity, optional }]) => {
    if (place === '') return true;
    const here = installed[place];
    if (!here) return optional === true;
    return here.version === version && here.integrity === integrity;
  });
}

async function packagesIn(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8')).packages;
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Uses the npm that runs this script, on its own Node.js: the one in node_modules is about to be replaced. */
async function install(root) {
  const { npm_execpath: npm, npm_node_execpath: node } = process.env;
  const [file, ...before] = npm && node ? [node, npm] : ['npm'];
  // Development packages too, even with NODE_ENV=production: setup includes the tests and their tools.
  const args = [...before, 'ci', '--include=dev', '--include=optional', '--no-progress'];
  const { code, output } = await runQuietly(file, args, { cwd: root });
  if (code === 127)
    throw new SetupFailure('npm not found in PATH; install Node.js 18 or later with npm');
  if (code !== 0) throw new SetupFailure(`npm ci failed with:\n${lastLines(output)}`);
}
