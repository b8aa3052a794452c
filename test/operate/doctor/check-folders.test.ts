import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  checkFolders,
  roomFinding,
  unusable,
  withRoom,
} from '../../../src/operate/doctor/check-folders.ts';
import { configOf } from '../../support/config-text.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
beforeEach(async () => {
  temp = await makeTempFolder();
});
afterEach(() => temp[Symbol.asyncDispose]());

async function check(more = ''): Promise<Record<string, string[]>> {
  const { config } = configOf(`environment: staging
data: ${temp.path}/data
environments:
  staging: { baseUrl: 'https://api.example.com/api/v1', authUrl: 'https://auth.example.com' }
sources:
  - { name: inbox, type: inbox, path: ${temp.path}/inbox }
${more}
reports: { path: ${temp.path}/reports }
`);
  const found = await checkFolders(config);
  return Object.fromEntries(
    found.map(({ check: name, state, message, remedy = '' }) => [name, [state, message, remedy]]),
  );
}

describe('folders', () => {
  it('are fine if they exist or can be created', async () => {
    await mkdir(path.join(temp.path, 'inbox'));
    expect(await check()).toEqual({
      'folder reports': [
        'ok',
        expect.stringContaining('does not exist and is created at a start'),
        '',
      ],
      'folder data': [
        'ok',
        expect.stringContaining('does not exist and is created at a start'),
        '',
      ],
      'inbox inbox': ['ok', expect.stringContaining('without the marker'), ''],
    });
  });

  it('that are missing or not folders fail with a remedy', async () => {
    await writeFile(path.join(temp.path, 'reports'), '');
    expect(await check()).toMatchObject({
      'folder reports': [
        'fail',
        `${temp.path}/reports is not a folder`,
        expect.stringContaining('Remove or rename'),
      ],
      'inbox inbox': [
        'fail',
        `${temp.path}/inbox does not exist`,
        expect.stringContaining('Mount it or move it back'),
      ],
    });
  });

  it.each([
    [
      'EROFS',
      'cannot be written: its file system is read-only (EROFS)',
      'Mount its file system for writing.',
    ],
    ['ENOSPC', 'cannot be written: its disk is full (ENOSPC)', 'Free some space on its disk.'],
    ['EIO', 'cannot be used (EIO)', 'Check the disk or the network share.'],
    [
      'EACCES',
      'cannot be used (EACCES',
      'Give the user that runs po-sync permission to read, write and enter it.',
    ],
  ])('that fail with %s get a remedy that helps', (code, says, remedy) => {
    const found = unusable('folder', '/srv', Object.assign(new Error(code), { code }));
    expect(found).toMatchObject({
      state: 'fail',
      message: expect.stringContaining(`/srv ${says}`),
      remedy,
    });
  });

  it.each([
    ['folder data', 0, 'fail', 'only 0 bytes free'],
    ['folder data', 500_000, 'fail', 'only 500.0 kB free'],
    ['folder data', 50_000_000, 'warn', 'only 50.0 MB free'],
    ['folder reports', 0, 'fail', 'only 0 bytes free'],
    ['folder reports', 50_000_000, 'warn', 'only 50.0 MB free'],
    ['inbox inbox', 0, 'warn', 'only 0 bytes free'],
    ['answers of inbox', 0, 'warn', 'only 0 bytes free'],
  ])('%s with %i free bytes: %s', (name, free, state, message) => {
    const remedy = 'Free disk space there.';
    expect(roomFinding(name, '/srv', free)).toEqual([
      { check: name, state, message: `${message} on the disk of /srv`, remedy },
    ]);
    expect(roomFinding(name, '/srv', 300_000_000)).toEqual([]);
  });

  it('on a full disk are reported once, although an empty file can be created there', () => {
    const written = { check: 'folder data', state: 'ok', message: '/srv is writable' } as const;
    const full = roomFinding('folder data', '/srv', 0);
    expect(withRoom(written, full)).toEqual(full);
    const low = roomFinding('folder data', '/srv', 50_000_000);
    expect(withRoom(written, low)).toEqual([written, ...low]);
  });

  const MARKED = JSON.stringify({ environment: 'production', ledger: 'a', host: 'b', data: '/' });

  it('of another environment fail', async () => {
    await mkdir(path.join(temp.path, 'inbox'));
    await writeFile(path.join(temp.path, 'inbox', '.po-sync-environment'), MARKED);
    expect(await check()).toMatchObject({
      'inbox inbox': [
        'fail',
        expect.stringContaining('belongs to the environment production'),
        expect.stringMatching(/Give staging its own inbox.*remove .*\.po-sync-environment/),
      ],
    });
  });

  it('of exports may be missing', async () => {
    const exports = `  - { name: erp, type: export, path: ${temp.path}/erp.csv }
  - { name: web, type: export, path: 'https://erp.example.com/orders.csv?key=secret' }
  - { name: many, type: export, path: '${temp.path}/*.csv' }`;
    const found = await check(exports);
    expect(found).toMatchObject({
      'export erp': ['warn', expect.any(String), expect.any(String)],
      'export many': ['ok', expect.any(String), ''],
    });
    expect(found['export web']?.[1]).not.toContain('secret');
  });
});
