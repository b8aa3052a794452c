import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sandboxCredentials, writeShellFile } from './credentials.mjs';
import { endLeftovers } from './leftovers.mjs';
import { newsOf } from './news.mjs';
import { startProgram } from './program.mjs';
import { dropSamples } from './samples.mjs';
import { SetupFailure } from './setup-failure.mjs';
import { listenForStop } from './stop-signals.mjs';

const CONFIGURATION = path.join('config', 'sandbox.yaml');
/** For commands in another terminal. */
const SHELL_FILE = path.join('data', 'sandbox', 'env');
/** Refuses one article of the samples, at every start, so that a report shows an order that needs a person. */
const REHEARSAL = path.join('config', 'rehearsals', 'unknown-article.yaml');
const LOG_LIMIT = 10_000_000;

/**
 * Starts the sandbox and a daemon that delivers to it, copies the samples into the inbox the first time, and prints the
 * result of every file. On a signal it stops the daemon first, which hands its work back and stops its private Redis,
 * and then the sandbox. Returns the exit code.
 */
export async function startEverything(root, say, args = []) {
  if (args.length > 0) {
    throw new SetupFailure(
      `npm start takes no options (${args.join(' ')}); ${CONFIGURATION} sets the ports and folders`,
    );
  }
  const state = path.join(root, 'data', 'npm-start.json');
  const stop = listenForStop();
  await endLeftovers(root, state, say);
  const log = await openLog(path.join(root, 'data', 'daemon.log'));
  const calls = await openLog(path.join(root, 'data', 'sandbox.log'));
  const env = await sandboxCredentials(path.join(root, 'data', 'sandbox'));
  await writeShellFile(path.join(root, SHELL_FILE), {
    PO_SYNC_CONFIG: path.join(root, CONFIGURATION),
    ...env,
  });
  const linesTo = (file) => (line) => {
    (isForLog(line) ? file : process.stderr).write(`${line}\n`);
    const news = newsOf(line);
    if (news !== undefined) say(news);
  };
  const onCall = linesTo(calls);

  const running = [];
  const codes = [];
  try {
    const { args, baseUrl } = await sandboxArguments(root);
    const sandbox = startProgram(root, args, { env, onLine: (line) => onCall(withoutFlags(line)) });
    running.unshift(sandbox);
    await remember(state, { sandbox: sandbox.pid });
    await started(
      sandbox,
      `the sandbox did not start; its addresses are in ${CONFIGURATION}`,
      stop,
    );
    const daemon = startProgram(root, ['start', '--config', CONFIGURATION], {
      env,
      onLine: linesTo(log),
    });
    running.unshift(daemon);
    stop.onForce(() => daemon.signal('SIGTERM'));
    await remember(state, { sandbox: sandbox.pid, daemon: daemon.pid });
    await started(daemon, `the daemon did not start; its configuration is ${CONFIGURATION}`, stop);
    // Not before: a daemon that cannot start ends the sandbox, too.
    if (!stop.signal.aborted) say(`the sandbox API is available at ${baseUrl}`);

    await watch(root, say, stop, { daemon, sandbox });
    say('stopping: finishing calls in progress; remaining orders are kept');
  } finally {
    for (const program of running) codes.push(await program.stop('SIGTERM'));
    await remember(state);
    for (const stream of [log, calls]) await new Promise((resolve) => stream.end(resolve));
  }
  const isClean = codes.every((code) => code === 0);
  say(
    isClean
      ? 'stopped'
      : `stopped before all work was handed back (exit codes ${codes.join(', ')})`,
  );
  return isClean ? 0 : 1;
}

async function watch(root, say, stop, { daemon, sandbox }) {
  if (stop.signal.aborted) return;
  const names = await dropSamples(root);
  if (names.length > 0) say(`copied ${names.join(', ')} from config/samples/ to inbox/`);
  say('drop order files into inbox/; press Ctrl-C to stop');
  say('what needs a person is in reports/open/open.html');
  say('the log is data/daemon.log, that of the sandbox data/sandbox.log');
  say(`in another terminal: . ${SHELL_FILE} && bin/po-sync status`);
  const failure = await Promise.race([
    stop.asked.then(() => undefined),
    daemon.ended.then((code) => `the daemon ended unexpectedly (${code}); see data/daemon.log`),
    sandbox.ended.then((code) => `the sandbox ended unexpectedly (${code}); see data/sandbox.log`),
  ]);
  if (failure && !stop.signal.aborted) throw new SetupFailure(failure);
}

async function started(program, failure, stop) {
  const isReady = await Promise.race([program.ready, stop.asked]);
  if (isReady === false && !stop.signal.aborted) throw new SetupFailure(failure);
}

/** The remedy for a port of the sandbox, as `npm start` sets it; every other line unchanged. */
function withoutFlags(line) {
  if (!/^ +.* --(?:port|host)\b/.test(line)) return line;
  return `  Set another port in baseUrl and authUrl of ${CONFIGURATION}, or stop the program that uses it.`;
}

/** Log lines of the daemon (JSON) and calls of the sandbox (time first) go to their log files, messages to the terminal. */
function isForLog(line) {
  return line.startsWith('{') || /^\d{4}-\d\d-\d\dT/.test(line);
}

/** The sandbox listens where the configuration expects it. */
async function sandboxArguments(root) {
  const text = await readFile(path.join(root, CONFIGURATION), 'utf8');
  const baseUrl = /^\s*baseUrl:\s*(\S+)/m.exec(text)?.[1];
  const authUrl = /^\s*authUrl:\s*(\S+)/m.exec(text)?.[1];
  if (!baseUrl || !authUrl)
    throw new SetupFailure(`${CONFIGURATION} does not set baseUrl and authUrl`);
  const ports = ['--port', new URL(baseUrl).port, '--auth-port', new URL(authUrl).port];
  const data = ['--data', path.join('data', 'sandbox')];
  const args = ['sandbox', '--environment', 'sandbox', ...ports, ...data, '--faults', REHEARSAL];
  return { baseUrl, args };
}

/** What the next start must know: which processes to stop, none after a clean stop. */
async function remember(state, pids) {
  await writeFile(state, JSON.stringify(pids ? { setup: process.pid, ...pids } : {}));
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
