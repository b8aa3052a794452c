import { stat } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { CREDENTIALS, runSandbox, startSandboxProcess } from '../support/sandbox-process.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

async function modeOf(file: string): Promise<string> {
  return ((await stat(file)).mode & 0o777).toString(8);
}

test('the data folder is private, and its files give other users no access', async () => {
  await using folder = await makeTempFolder();
  const data = path.join(folder.path, 'data', 'sandbox');
  await using _sandbox = await startSandboxProcess(data);
  expect(await modeOf(path.dirname(data))).toBe('700');
  expect(await modeOf(data)).toBe('700');
  expect(await modeOf(path.join(data, 'staging.sqlite'))).toMatch(/0$/);
});

test('PO_SYNC_UMASK opens new files to other users, and an invalid value is refused', async () => {
  await using folder = await makeTempFolder();
  await using _sandbox = await startSandboxProcess(folder.path, [], { PO_SYNC_UMASK: '022' });
  expect(await modeOf(path.join(folder.path, 'staging.sqlite'))).toBe('644');
  const { code, err } = await runSandbox(['--environment', 'staging'], { ...CREDENTIALS, PO_SYNC_UMASK: '9' });
  expect(code).toBe(1);
  expect(err).toContain('PO_SYNC_UMASK is "9".');
});
