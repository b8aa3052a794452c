// `npm start` and `npm test` run this: it installs what is missing, then starts everything or runs the tests;
// `node bin/setup.mjs install` only installs.
// Plain JavaScript without dependencies, because it runs before they are installed, on Node.js 18 or later.
import { fileURLToPath } from 'node:url';
import { ensurePackages } from './setup/packages.mjs';
import { ensureRedisServer } from './setup/redis-server.mjs';
import { SetupFailure } from './setup/setup-failure.mjs';
import { startEverything } from './setup/start-everything.mjs';
import { runTests } from './setup/tests.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[/\\]$/, '');
const [command, ...args] = process.argv.slice(2);
const say = (line) => process.stdout.write(`po-sync: ${line}\n`);

// A closed terminal takes no more lines; the programs are stopped all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const commands = {
  start: () => startEverything(root, say, args),
  test: () => runTests(root, args, say),
  install: async () => 0,
};

try {
  const run = commands[command];
  if (!run) throw new SetupFailure('use `npm start` or `npm test`');
  await ensurePackages(root, say);
  await ensureRedisServer(say);
  process.exitCode = await run();
  // A reader that hangs must not keep the process.
  if (command === 'start') setTimeout(() => process.exit(), 1_000).unref();
} catch (error) {
  if (!(error instanceof SetupFailure)) throw error;
  process.stderr.write(`po-sync: ${error.message}\n`);
  process.exitCode = 1;
}
