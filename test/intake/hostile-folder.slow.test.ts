import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { claimFile, leftClaims } from '../../src/intake/claim.ts';
import { environmentOf, markInbox } from '../../src/intake/environment-marker.ts';
import { settleFile } from '../../src/intake/put-away.ts';
import type { ClaimedFile } from '../../src/order/batch.ts';
import { expireSettled } from '../../src/report/expire.ts';
import { inboxSource } from '../support/inbox-source.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const run = promisify(execFile);
const TAKE_AS = path.join(import.meta.dirname, 'take-as.program.ts');
const AT = new Date('2026-11-21T07:15:00Z');
const ROWS = 'purchaseOrderNumber,articleCode,quantity\n1,A,1\n';
/** Two users without special rights. */
const DAEMON = 65_534;
const NEIGHBOR = 12_345;
const isRoot = process.getuid?.() === 0;

type Result = {
  taken: string[];
  lines: { msg: string; file?: string }[];
  notTaken: { reason: string }[];
  healthy: boolean;
};

async function takeAs(user: number, folder: string): Promise<Result> {
  const child = fork(TAKE_AS, [folder, String(user)], { execArgv: [] });
  const [message] = (await once(child, 'message')) as [Result];
  return message;
}

async function drop(file: string | Buffer, owner = DAEMON, mode = 0o644): Promise<void> {
  await writeFile(file, ROWS);
  await chown(file, owner, owner);
  await chmod(file, mode);
}

async function claimIn(folder: string): Promise<ClaimedFile> {
  await writeFile(path.join(folder, 'orders.csv'), ROWS);
  const claimed = await claimFile(path.join(folder, 'orders.csv'), inboxSource(folder), AT);
  if (claimed === 'taken') throw new Error('taken');
  return claimed;
}

describe.runIf(isRoot)('files of another user', () => {
  test('a file without read permission is reported once and left, and the others are taken', async () => {
    await using folder = await makeTempFolder();
    await chmod(folder.path, 0o777);
    await drop(path.join(folder.path, 'secret.csv'), NEIGHBOR, 0o600);
    await drop(path.join(folder.path, 'orders.csv'));
    const { taken, lines } = await takeAs(DAEMON, folder.path);
    expect(taken).toEqual(['orders.csv']);
    expect(lines.filter(({ file }) => file === 'secret.csv')).toHaveLength(1);
    expect(await readdir(folder.path)).toContain('secret.csv');
  });

  test('a file that may not be moved, because its folder is sticky, is soon named with the path that people know', async () => {
    await using folder = await makeTempFolder();
    await chmod(folder.path, 0o1777);
    const file = path.join(folder.path, 'orders.csv');
    await drop(file, NEIGHBOR);
    const { taken, notTaken } = await takeAs(DAEMON, folder.path);
    expect(taken).toEqual([]);
    expect(notTaken[0]?.reason).toContain(`No permission to move ${file} to ${folder.path}/`);
  });
});

const OWN = { environment: 'staging', ledger: 'a', host: 'one', data: '/srv/data' };

describe('an environment marker that po-sync did not write', () => {
  const refused = {
    code: 'environment-marker-invalid',
    remedy: expect.stringContaining('remove it'),
  };

  test.each(['/dev/zero', '/etc/hostname', 'missing'])(
    'a link to %s is refused and not read',
    async (target) => {
      await using folder = await makeTempFolder();
      await symlink(target, path.join(folder.path, '.po-sync-environment'));
      await expect(markInbox(folder.path, OWN)).rejects.toMatchObject(refused);
    },
  );

  test('a pipe is refused and does not block', async () => {
    await using folder = await makeTempFolder();
    await run('mkfifo', [path.join(folder.path, '.po-sync-environment')]);
    await expect(markInbox(folder.path, OWN)).rejects.toMatchObject(refused);
    await expect(environmentOf(folder.path)).rejects.toMatchObject(refused);
  });

  test.each([
    ['x'.repeat(100_000), 'that is too long'],
    ['\u001b]0;title\u0007', 'with control characters'],
    ['{"environment":"staging"}', 'without a ledger'],
  ])('one %#: a text %s is refused', async (text) => {
    await using folder = await makeTempFolder();
    await writeFile(path.join(folder.path, '.po-sync-environment'), text);
    await expect(markInbox(folder.path, OWN)).rejects.toMatchObject(refused);
  });
});

describe('a link instead of a folder of ours', () => {
  test.each(['processing', 'done', 'failed'])(
    'an inbox whose %s is a link is refused',
    async (name) => {
      await using folder = await makeTempFolder();
      await using elsewhere = await makeTempFolder();
      await symlink(elsewhere.path, path.join(folder.path, name));
      await expect(markInbox(folder.path, OWN)).rejects.toMatchObject({
        code: 'folder-is-link',
      });
    },
  );

  test('nothing is claimed or swept through a link', async () => {
    await using folder = await makeTempFolder();
    await using elsewhere = await makeTempFolder();
    const foreign = path.join(elsewhere.path, 'old');
    await mkdir(foreign);
    await writeFile(path.join(foreign, '.hidden'), 'x');
    await utimes(foreign, 1, 1);
    await symlink(elsewhere.path, path.join(folder.path, 'processing'));
    await expect(claimIn(folder.path)).rejects.toMatchObject({ code: 'folder-is-link' });
    await expect(leftClaims(inboxSource(folder.path))).rejects.toMatchObject({
      code: 'folder-is-link',
    });
    expect(await readdir(foreign)).toEqual(['.hidden']);
  });

  test.each(['done', 'done/2026-11-21'])(
    'no file is settled through %s as a link',
    async (name) => {
      await using folder = await makeTempFolder();
      await using elsewhere = await makeTempFolder();
      const claimed = await claimIn(folder.path);
      if (name.includes('/')) await mkdir(path.join(folder.path, 'done'));
      await symlink(elsewhere.path, path.join(folder.path, name));
      await expect(settleFile(claimed, inboxSource(folder.path), 'done', AT)).rejects.toMatchObject(
        {
          code: 'folder-is-link',
          message: expect.stringContaining(path.join(folder.path, name)),
        },
      );
      expect(await readdir(elsewhere.path)).toEqual([]);
      expect(await readFile(claimed.path, 'utf8')).toBe(ROWS);
    },
  );

  test('no file is settled from a folder that replaces the one of its claim', async () => {
    await using folder = await makeTempFolder();
    await using elsewhere = await makeTempFolder();
    const claimed = await claimIn(folder.path);
    await writeFile(path.join(elsewhere.path, claimed.name), 'private');
    await rm(path.dirname(claimed.path), { recursive: true });
    await symlink(elsewhere.path, path.dirname(claimed.path));
    await expect(settleFile(claimed, inboxSource(folder.path), 'done', AT)).rejects.toMatchObject({
      code: 'folder-is-link',
    });
    expect(await readdir(elsewhere.path)).toEqual([claimed.name]);
  });

  test.each(['done', 'done/2020-01-01'])('no folder expires through %s as a link', async (name) => {
    await using folder = await makeTempFolder();
    await using elsewhere = await makeTempFolder();
    await mkdir(path.join(elsewhere.path, '2020-01-01'));
    await writeFile(path.join(elsewhere.path, '2020-01-01', 'private'), 'x');
    if (name.includes('/')) await mkdir(path.join(folder.path, 'done'));
    await symlink(
      name.includes('/') ? path.join(elsewhere.path, '2020-01-01') : elsewhere.path,
      path.join(folder.path, name),
    );
    await expireSettled(folder.path, 1, AT.getTime()).catch(() => undefined);
    expect(await readdir(path.join(elsewhere.path, '2020-01-01'))).toEqual(['private']);
    await rm(path.join(folder.path, name), { force: true });
  });
});
