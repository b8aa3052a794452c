import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { SetupFailure } from './setup-failure.mjs';

/**
 * Runs the fast tests, or the suite (`--project`) or files in `args`, on the Node.js that the program uses.
 * Returns the exit code.
 */
export async function runTests(root, args, say) {
  if (!existsSync(path.join(root, 'test')))
    throw new SetupFailure(
      '`npm test` needs a complete checkout of the repository: test/ is missing here; clone the repository',
    );
  const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const isChosen = args.some((arg) => arg.startsWith('--project') || arg.startsWith('test/'));
  const chosen = isChosen ? args : ['--project', 'fast', ...args];
  say(
    `running ${isChosen ? args.join(' ') : 'the fast tests; docs/contributing.md lists the longer suites'}`,
  );
  const tests = spawn(nodeOf(root), [vitest, 'run', ...chosen], { cwd: root, stdio: 'inherit' });
  // Ctrl-C reaches the tests too: they clean up, and this process waits for them.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => tests.kill('SIGTERM'));
  const [code] = await once(tests, 'exit');
  return code ?? 1;
}

/** The project's own Node.js, or this one if it is recent enough. */
function nodeOf(root) {
  const own = path.join(root, 'node_modules', '.bin', 'node');
  if (existsSync(own)) return own;
  if (Number.parseInt(process.versions.node, 10) >= 24) return process.execPath;
  throw new SetupFailure(
    `Node.js 24 required; the packages contain none for this machine, and this one is ${process.version}`,
  );
}
