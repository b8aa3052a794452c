import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { makeTempFolder } from '../support/temp-folder.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** What an installation adds to the folders of a checkout. */
const ADDED = [
  'config/po-sync.yaml',
  'config/client-secret',
  'docs/deploy/po-sync-0.1.0.tgz',
  'docs/deploy/client-secret',
  'docs/deploy/compose/client-secret',
  'docs/deploy/compose/inbox/orders.csv',
  'docs/deploy/compose/data/ledger',
];

it('npm pack takes every document, and no secret, configuration, order or older package of an installation', async () => {
  await using folder = await makeTempFolder();
  const at = (name: string) => path.join(folder.path, name);
  for (const name of ['config', 'docs'])
    await cp(path.join(ROOT, name), at(name), { recursive: true });
  const isAdded = (name: string) => ADDED.includes(name) || name.endsWith('.tgz');
  const shipped = (await filesIn(folder.path)).filter((name) => !isAdded(name));
  const { name, version, files } = JSON.parse(
    await readFile(path.join(ROOT, 'package.json'), 'utf8'),
  );
  await writeFile(at('package.json'), JSON.stringify({ name, version, files }));
  for (const one of ADDED) {
    await mkdir(path.dirname(at(one)), { recursive: true });
    await writeFile(at(one), 'canary');
  }
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json'], {
    cwd: folder.path,
  });
  const packed: { path: string }[] = JSON.parse(stdout)[0].files;
  const found = packed.map((one) => one.path).filter((one) => one !== 'package.json');
  expect(found.sort()).toEqual(shipped.sort());
});

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name)));
}
