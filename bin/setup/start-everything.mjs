import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sandboxCredentials } from './credentials.mjs';
import { endLeftovers } from './leftovers.mjs';
import { startProgram } from './program.mjs';
import { tellReports } from './reports.mjs';
import { areSamplesDropped, dropSamples } from './samples.mjs';
import { SetupFailure } from './setup-failure.mjs';
import { listenForStop } from './stop-signals.mjs';

const CONFIGURATION = path.join('config', 'sandbox.yaml');
/** Refuses one of the samples, once: a report should show what that looks like. */
const FIRST_REHEARSAL = path.join('config', 'rehearsals', 'unknown-article.yaml');
const LOG_LIMIT = 10_000_000;

/**
 * Starts the sandbox and a daemon that delivers to it, drops the samples the first time, and tells what becomes of
 * every file until it is told to stop: then the daemon first, which hands its work back and stops its private Redis
 * as the last user, and the API last. Gives the exit code.
 */
export async function startEverything(root, say) {
  const state = path.join(root, 'data', 'npm-start.json');
  const stop = listenForStop();
  await endLeftovers(root, state, say);
  const log = await openLog(path.join(root, 'data', 'daemon.log'));
  const env = await sandboxCredentials(path.join(root, 'data', 'sandbox'));
  // The log goes to its file; what the programs say to people stays as they say it.
  const onLine = (line) => (line.startsWith('{') ? log : process.stderr).write(`${line}\n`);

  const running = [];
  const codes = [];
  try {
    const { args, baseUrl } = await sandboxArguments(root);
    const sandbox = startProgram(root, args, { env, onLine });
    running.unshift(sandbox);
    await remember(state, { sandbox: sandbox.pid });
    await begun(sandbox, 'the sandbox', stop);
    if (!stop.signal.aborted) say(`the sandbox API answers at ${baseUrl}`);

    const daemon = startProgram(root, ['start', '--config', CONFIGURATION], { env, onLine });
    running.unshift(daemon);
    stop.onForce(() => daemon.signal('SIGTERM'));
    await remember(state, { sandbox: sandbox.pid, daemon: daemon.pid });
    await begun(daemon, 'the daemon', stop);

    await watch(root, say, stop, { daemon, sandbox });
    say('stopping: calls in flight are finished, the rest is kept');
  } finally {
    for (const program of running) codes.push(await program.stop('SIGTERM'));
    await rm(state, { force: true });
    await new Promise((resolve) => log.end(resolve));
  }
  const isClean = codes.every((code) => code === 0);
  say(isClean ? 'stopped' : `stopped in haste (${codes.join(', ')})`);
  return isClean ? 0 : 1;
}

async function watch(root, say, stop, { daemon, sandbox }) {
  if (stop.signal.aborted) return;
  const names = await dropSamples(root);
  if (names.length > 0) say(`dropped ${names.join(', ')} from config/samples/ into inbox/`);
  say('drop order files into inbox/; Ctrl-C stops; the log is data/daemon.log');
  const tell = (sentence, report) => say(`${sentence}\n  ${path.relative(process.cwd(), report)}`);
  const watching = new AbortController();
  const told = tellReports(path.join(root, 'reports'), watching.signal, tell);
  const fallen = await Promise.race([
    stop.asked.then(() => undefined),
    daemon.ended.then((code) => `the daemon ended by itself (${code})`),
    sandbox.ended.then((code) => `the sandbox ended by itself (${code})`),
  ]);
  watching.abort();
  await told;
  if (fallen && !stop.signal.aborted) throw new SetupFailure(`${fallen}; see above, or data/daemon.log`);
}

async function begun(program, name, stop) {
  const isReady = await Promise.race([program.ready, stop.asked]);
  if (isReady === false && !stop.signal.aborted) throw new SetupFailure(`${name} did not start`);
}

/** Where the configuration expects the sandbox is where it must listen. */
async function sandboxArguments(root) {
  const text = await readFile(path.join(root, CONFIGURATION), 'utf8');
  const baseUrl = /^\s*baseUrl:\s*(\S+)/m.exec(text)?.[1];
  const authUrl = /^\s*authUrl:\s*(\S+)/m.exec(text)?.[1];
  if (!baseUrl || !authUrl) throw new SetupFailure(`${CONFIGURATION} names no baseUrl and authUrl`);
  const ports = ['--port', new URL(baseUrl).port, '--auth-port', new URL(authUrl).port];
  const faults = areSamplesDropped(root) ? [] : ['--faults', FIRST_REHEARSAL];
  const data = ['--data', path.join('data', 'sandbox')];
  return { baseUrl, args: ['sandbox', '--environment', 'sandbox', ...ports, ...data, ...faults] };
}

async function remember(state, pids) {
  await writeFile(state, JSON.stringify({ setup: process.pid, ...pids }));
}

async function openLog(file) {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size > LOG_LIMIT) await rename(file, `${file}.old`);
  return createWriteStream(file, { flags: 'a', mode: 0o600 });
}
