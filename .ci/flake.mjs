import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { resultOf } from './failures.mjs';

// `npm run test:flake`: runs `npm test` 20 times and every other suite of `.ci/run` a quarter as often, beside two programs
// that only compute. Lists what failed and how often; the last line has the number of failures. `--times N` runs fewer,
// `--suite NAME` one suite.

const SUITES = ['fast', 'properties', 'process', 'trouble', 'worlds'];
const { values } = parseArgs({
  options: { times: { type: 'string', default: '20' }, suite: { type: 'string' } },
});
const folder = mkdtempSync(path.join(tmpdir(), 'po-sync-flake-'));
const busy = [1, 2].map(() => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
const failures = new Map();
let runs = 0;
try {
  for (const suite of values.suite === undefined ? SUITES : [values.suite])
    for (let left = suite === 'fast' ? values.times : values.times / 4; left > 0; left -= 1)
      await runSuite(suite);
} finally {
  for (const one of busy) one.kill('SIGKILL');
  rmSync(folder, { recursive: true });
}
for (const [title, count] of failures) console.log(`${count} × ${title}`);
const sum = [...failures.values()].reduce((all, count) => all + count, 0);
console.log(`${sum} failures in ${runs} runs`);
process.exitCode = sum > 0 ? 1 : 0;

async function runSuite(suite) {
  runs += 1;
  const began = performance.now();
  const report = path.join(folder, `${suite}-${runs}.json`);
  const flags = ['--project', suite, '--reporter=json', `--outputFile=${report}`];
  const run = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...flags], {
    stdio: 'ignore',
    env: { WORLDS: '400', ...process.env },
  });
  const [code] = await once(run, 'exit');
  const { failed } = resultOf(report, code);
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(`${suite}: ${failed.length} failed, ${seconds} s`);
  for (const { title, message } of failed) {
    failures.set(title, (failures.get(title) ?? 0) + 1);
    console.log(`  ${title}\n    ${message.slice(0, 1_500).replaceAll('\n', '\n    ')}`);
  }
}
