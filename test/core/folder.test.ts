import { rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { toError } from '../../src/core/errors.ts';
import { makePath, makePathSync, named, openFolder } from '../../src/core/folder.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

describe.each([
  ['makePath', makePath],
  ['makePathSync', async (folder: string, mode?: number) => makePathSync(folder, mode)],
])('%s', (_, make) => {
  it('creates every folder that is missing, with the mode, and leaves what is there', async () => {
    await using temp = await makeTempFolder();
    const deep = path.join(temp.path, 'a', 'b', 'c');
    await make(deep, 0o700);
    await make(deep, 0o755);
    for (const one of [deep, path.dirname(deep)])
      expect((await stat(one)).mode & 0o777).toBe(0o700);
  });

  it('may run at once in several processes', async () => {
    await using temp = await makeTempFolder();
    const deep = path.join(temp.path, 'a', 'b');
    await Promise.all([make(deep), make(deep), make(deep)]);
    expect((await stat(deep)).isDirectory()).toBe(true);
  });

  it('fails where a file has the name, and ends where no folder can exist', async () => {
    await using temp = await makeTempFolder();
    const file = path.join(temp.path, 'file');
    await writeFile(file, '');
    await expect(make(file)).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(make(path.join(file, 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(make('/proc/po-sync/data')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

it('makePath names the first folder that it created', async () => {
  await using temp = await makeTempFolder();
  const first = path.join(temp.path, 'a');
  expect(await makePath(path.join(first, 'b'))).toBe(first);
  expect(await makePath(first)).toBeUndefined();
});

it('an error in an open folder names the path that people know, and never its handle', async () => {
  await using temp = await makeTempFolder();
  await using folder = await openFolder(temp.path);
  const failing = () => rename(path.join(folder.path, 'a'), path.join(folder.path, 'b'));
  const [a, b] = [path.join(temp.path, 'a'), path.join(temp.path, 'b')];
  await expect(named(failing(), folder)).rejects.toMatchObject({
    message: `ENOENT: no such file or directory, rename '${a}' -> '${b}'`,
    path: a,
    dest: b,
  });
  expect(toError(await failing().catch((error: unknown) => error))).toMatchObject({
    message: "ENOENT: no such file or directory, rename 'a' -> 'b'",
    path: 'a',
    dest: 'b',
  });
});
