import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeTempFolder } from '../support/temp-folder.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const DEPLOY = path.join(ROOT, 'docs/deploy');
const isThere = (program: string) =>
  run('sh', ['-c', `command -v ${program}`]).then(
    () => true,
    () => false,
  );

describe.skipIf(!(await isThere('systemd-analyze')))('the systemd unit', () => {
  const unit = path.join(DEPLOY, 'po-sync.service');

  test('is exposed at 2.0 or less', async () => {
    const { stdout } = await run('systemd-analyze', ['security', '--offline=true', unit]);
    const level = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
    expect(level).toBeGreaterThan(0);
    expect(level).toBeLessThanOrEqual(2);
  });

  test('has only settings that systemd knows', async () => {
    await using folder = await makeTempFolder();
    // The program that the unit starts is not installed here.
    const text = (await readFile(unit, 'utf8')).replace('/opt/po-sync/bin/po-sync', '/bin/true');
    const copy = path.join(folder.path, 'po-sync.service');
    await writeFile(copy, text);
    const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', copy]);
    expect(stdout + stderr).toBe('');
  });
});

describe('Docker Compose', () => {
  test('starts the sandbox with flags that it knows, and the daemon with a configuration that is right', async () => {
    const compose = parse(await readFile(path.join(DEPLOY, 'compose/compose.yaml'), 'utf8'));
    const command: string[] = compose.services.sandbox.command;
    const flags = command.filter((word) => word.startsWith('--'));
    const { stdout: help } = await run(path.join(ROOT, 'bin/po-sync'), ['sandbox', '--help']);
    for (const flag of flags) expect(help).toContain(`${flag} <`);
    const config = path.join(DEPLOY, 'compose/po-sync.yaml');
    const { stdout } = await run(path.join(ROOT, 'bin/po-sync'), ['config', 'show', '--config', config, '--json']);
    const { staging } = JSON.parse(stdout).config.environments;
    const publicUrl = command[command.indexOf('--public-url') + 1];
    expect(staging).toMatchObject({ baseUrl: `${publicUrl}/api/v1`, authUrl: publicUrl, plainHttp: true });
  });
});
