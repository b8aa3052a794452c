import { execFile, execFileSync } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { killProcess } from '../support/kill-process.ts';
import { processesBelow } from '../support/processes-in.ts';
import { findCode, replaceCode } from './find-code.ts';
import { MUTANTS, type Mutant } from './mutants.ts';

// `npm run test:mutants`: switches one safeguard off at a time, in a copy of the tree, and expects a test to fail.
// `npm run test:mutants -- backoff` runs those whose description or file contains the word.

const ROOT = path.resolve(import.meta.dirname, '../..');
const COPIES = 2;
/** Where the tests of a copy have their own folders, so that what they leave running is known by its folder. */
const PLACES = 'places';
/** A test that hangs without the safeguard has noticed, too. */
const PATIENCE = 180_000;

/** `red before`: its tests fail with every safeguard in place. */
type Verdict = 'red' | 'survived' | 'no match' | 'cannot load' | 'red before';
type Judged = { mutant: Mutant; verdict: Verdict; seconds: number };

/** A copy of what git knows or would add, on the packages of this checkout. */
async function copyTree(): Promise<AsyncDisposable & { folder: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'po-sync-mutants-'));
  // Some tests run it as another user.
  await chmod(folder, 0o755);
  await mkdir(path.join(folder, PLACES));
  await chmod(path.join(folder, PLACES), 0o1777);
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const names = execFileSync('git', list, { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .filter(Boolean);
  for (const name of names) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    // A file that was deleted and not committed yet is listed, too.
    await cp(path.join(ROOT, name), path.join(folder, name)).catch(() => undefined);
  }
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  return {
    folder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

type Outcome = { kind: 'green' | 'red' | 'cannot load'; failedFiles: readonly string[] };

/** Runs test files of a copy, at most `timeout` milliseconds; 0: without a limit. */
async function runTests(
  folder: string,
  tests: readonly string[],
  { timeout, flags = [] }: { timeout: number; flags?: readonly string[] },
): Promise<Outcome> {
  const report = path.join(folder, 'mutant.json');
  await rm(report, { force: true });
  const vitest = path.join(folder, 'node_modules', 'vitest', 'vitest.mjs');
  // A file may belong to two suites; its short form is enough.
  const args = [
    vitest,
    'run',
    '--project=!properties',
    '--reporter=json',
    `--outputFile=${report}`,
    ...flags,
    ...tests,
  ];
  const env = { ...process.env, TMPDIR: path.join(folder, PLACES) };
  const failed = await new Promise<boolean>((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env, timeout, maxBuffer: 1e9 }, (error) =>
      resolve(error !== null),
    );
  });
  // Tests that were ended by the limit could not end what they had started.
  for (const pid of await processesBelow(folder)) killProcess(pid, 'SIGKILL');
  if (!failed) return { kind: 'green', failedFiles: [] };
  const text = await readFile(report, 'utf8').catch(() => undefined);
  if (text === undefined) return { kind: 'red', failedFiles: tests };
  const { numFailedTests, testResults }: VitestReport = JSON.parse(text);
  const failedFiles = testResults
    .filter(({ status }) => status === 'failed')
    .map(({ name }) => path.relative(folder, name));
  return { kind: numFailedTests > 0 ? 'red' : 'cannot load', failedFiles };
}

type VitestReport = { numFailedTests: number; testResults: { name: string; status: string }[] };

async function judge(mutant: Mutant, folder: string): Promise<Judged> {
  const began = performance.now();
  const file = path.join(folder, mutant.file);
  const text = await readFile(file, 'utf8').catch(() => '');
  if (findCode(text, mutant.find).length !== 1) return { mutant, verdict: 'no match', seconds: 0 };
  await writeFile(file, replaceCode(text, mutant.find, mutant.replace));
  const { kind } = await runTests(folder, mutant.tests, { timeout: PATIENCE, flags: ['--bail=1'] });
  const verdict = kind === 'green' ? 'survived' : kind;
  await writeFile(file, text);
  return { mutant, verdict, seconds: Math.round((performance.now() - began) / 1000) };
}

function lineOf({ mutant, verdict, seconds }: Judged): string {
  return `${verdict.padEnd(12)} ${`${seconds} s`.padStart(6)}  ${mutant.without} (${mutant.file})`;
}

const words = process.argv.slice(2);
const chosen = MUTANTS.filter(
  ({ without, file }) =>
    words.length === 0 || words.some((word) => `${without} ${file}`.includes(word)),
);
if (chosen.length === 0) throw new Error(`no mutant contains ${words.join(' or ')}`);
await using copies = new AsyncDisposableStack();
const folders = [];
for (let n = 0; n < COPIES; n += 1) folders.push(copies.use(await copyTree()).folder);

const tests = [...new Set(chosen.flatMap((mutant) => mutant.tests))];
const { kind, failedFiles } = await runTests(folders[0] ?? '', tests, { timeout: 0 });
if (kind === 'cannot load') throw new Error('the tests do not load, with every safeguard in place');
const isRedBefore = (mutant: Mutant) => mutant.tests.some((test) => failedFiles.includes(test));

const judged: Judged[] = [];
const note = (one: Judged) => {
  judged.push(one);
  console.log(lineOf(one));
};
for (const mutant of chosen.filter(isRedBefore))
  note({ mutant, verdict: 'red before', seconds: 0 });
const waiting = chosen.filter((mutant) => !isRedBefore(mutant));
const work = async (folder: string) => {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift())
    note(await judge(mutant, folder));
};
await Promise.all(folders.map(work));

const count = (verdict: Verdict) => judged.filter((one) => one.verdict === verdict).length;
const bad = judged.filter(({ verdict }) => verdict !== 'red');
if (bad.length > 0) console.log(`\nNot caught:\n${bad.map(lineOf).join('\n')}`);
const others = `${count('survived')} are not, ${count('no match')} no longer match, ${count('red before')} have tests that are red anyway`;
console.log(
  `${count('red')} of ${judged.length} safeguards are held by a test; ${others}, ${count('cannot load')} cannot load`,
);
process.exitCode = bad.length > 0 ? 1 : 0;
