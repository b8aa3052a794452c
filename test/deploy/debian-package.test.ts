import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../support/temp-folder.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');

test('the Debian package contains a po-sync that runs, its unit, and a configuration that an upgrade keeps', async () => {
  await using folder = await makeTempFolder();
  const { stdout } = await run(process.execPath, ['bin/package-deb.mjs', folder.path], {
    cwd: ROOT,
  });
  const file = stdout.trim();
  const tree = path.join(folder.path, 'tree');
  await run('dpkg-deb', ['-x', file, tree]);
  const env = { PATH: '/usr/bin:/bin', HOME: '/nonexistent' };
  const program = path.join(tree, 'opt/po-sync/bin/po-sync');
  expect((await run(program, ['--version'], { env })).stdout).toBe('0.1.0\n');
  const config = path.join(tree, 'etc/po-sync/po-sync.yaml');
  const { stdout: shown } = await run(program, ['config', 'show', '--config', config], { env });
  expect(shown).toContain('path: /var/lib/po-sync/inbox');
  const { stdout: facts } = await run('dpkg-deb', ['-f', file, 'Package', 'Version']);
  expect(facts).toBe('Package: po-sync\nVersion: 0.1.0\n');
  const { stdout: size } = await run('dpkg-deb', ['-f', file, 'Installed-Size']);
  expect(Number(size)).toBeGreaterThan(100_000);
  const { stdout: listed } = await run('dpkg-deb', ['-c', file], { maxBuffer: 64 * 1024 * 1024 });
  expect(listed).toMatch(/^-rw-r-----\s+root\/root .* \.\/etc\/po-sync\/po-sync\.yaml$/m);
  expect(listed).toContain('./lib/systemd/system/po-sync.service');
  expect(listed).toMatch(/^-rwxr-xr-x\s+root\/root .* \.\/usr\/sbin\/po-sync-service$/m);
  expect(listed).not.toMatch(/^[^l](?:\S{4}|\S{7})w/m);
  await run('dpkg-deb', ['-e', file, path.join(folder.path, 'control')]);
  // Without the inbox of its configuration the daemon would not start.
  const postinst = await readFile(path.join(folder.path, 'control/postinst'), 'utf8');
  expect(postinst).toContain('install -d -o po-sync -g po-sync -m 2770 /var/lib/po-sync/inbox');
  // A purge keeps no secret.
  const postrm = await readFile(path.join(folder.path, 'control/postrm'), 'utf8');
  expect(postrm).toContain('rm -f /etc/po-sync/client-secret /etc/po-sync/environment\n');
  expect(await readFile(path.join(folder.path, 'control/conffiles'), 'utf8')).toBe(
    '/etc/po-sync/po-sync.yaml\n',
  );
});
