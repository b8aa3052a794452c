import { readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * What a suite did, by the JSON report of vitest and its exit code: `passed` tests, and the `failed` ones with their
 * messages. A file that cannot be loaded, an error outside of every test and a missing report count as one failure.
 */
export function resultOf(report, code) {
  const failed = [];
  let passed = 0;
  try {
    const { numPassedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
    passed = numPassedTests;
    for (const { name, message, status, assertionResults } of testResults) {
      const file = path.relative('.', name);
      const tests = assertionResults.filter((one) => one.status === 'failed');
      for (const { fullName, failureMessages } of tests)
        failed.push({ title: `${file}: ${fullName}`, message: failureMessages.join('\n') });
      if (status === 'failed' && tests.length === 0)
        failed.push({ title: `${file} cannot be loaded`, message });
    }
  } catch {}
  if (failed.length === 0 && code !== 0)
    failed.push({ title: path.basename(report), message: `ended with ${code}` });
  return { passed, failed };
}
