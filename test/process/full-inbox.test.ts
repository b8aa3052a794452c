import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { canMount } from '../support/can-mount.ts';
import { until } from '../support/until.ts';
import { credentials, openWorkplace, type Workplace } from '../support/workplace.ts';

// A copy onto a full disk ends in the middle. What is left of the file is unreadable, and its page has no room.

const LAUNCHER = path.resolve(import.meta.dirname, '../../bin/po-sync');

/** A daemon whose inbox is a small disk. */
async function onSmallDisk(place: Workplace) {
  const script =
    'mount -t tmpfs -o size=256k none "$INBOX" && exec "$LAUNCHER" --config "$CONFIG" start';
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...credentials('STAGING'),
    PO_SYNC_ADMIN_PORT: '0',
    LAUNCHER,
    CONFIG: place.config,
    INBOX: place.inbox,
  };
  const daemon = spawn('unshare', ['-m', 'sh', '-c', script], { cwd: place.folder, env });
  const lines: string[] = [];
  createInterface(daemon.stdout).on('line', (line) => void lines.push(line));
  await until('the daemon', () => lines.some((line) => line.includes('"adminPort"')));
  return {
    lines,
    /** Where the inbox is seen from here. */
    inbox: `/proc/${daemon.pid}/root${place.inbox}`,
    [Symbol.asyncDispose]: async () => {
      daemon.kill('SIGTERM');
      await once(daemon, 'close');
    },
  };
}

/** Fills a disk to its last block. */
async function fill(file: string): Promise<void> {
  for (;;)
    if (await appendFile(file, Buffer.alloc(4096)).catch((error) => error.code === 'ENOSPC'))
      return;
}

describe.runIf(canMount)('a file that was cut off by the full disk of its inbox', () => {
  it('is unreadable, and its page comes when there is room, without a person', async () => {
    await using place = await openWorkplace();
    await using disk = await onSmallDisk(place);
    const batches = async () =>
      JSON.parse((await place.run(['--json', 'batches', 'list'])).out).batches;
    const [cut, filler] = [path.join(disk.inbox, '.cut'), path.join(disk.inbox, '.filler')];
    await writeFile(cut, 'purchaseOrderNumber,articleCode,quantity\nPO-1,A,"1');
    await fill(filler);
    await rename(cut, path.join(disk.inbox, 'cut.csv'));
    await writeFile(path.join(disk.inbox, 'empty.csv'), '');
    await until('two files whose pages have no room', async () => {
      const found: { unsettled?: { reason: string } }[] = await batches();
      return (
        found.filter(({ unsettled }) => unsettled?.reason.includes('the disk is full')).length === 2
      );
    });
    // Each is tried again, with the same reason.
    const troubles = () => disk.lines.filter((line) => line.includes('"event":"batch-trouble"'));
    await until('further tries', () => troubles().length >= 4);
    expect(troubles().filter((line) => !line.includes('the disk is full'))).toEqual([]);
    expect(await place.reportsNow()).toMatchObject([
      { state: 'unreadable' },
      { state: 'unreadable' },
    ]);

    await rm(filler);
    await until('the end', async () =>
      (await batches()).every(({ state }: { state: string }) => state === 'unreadable'),
    );
    expect((await batches()).map(({ unsettled }: { unsettled?: object }) => unsettled)).toEqual([
      undefined,
      undefined,
    ]);
    const files = await readdir(path.join(disk.inbox, 'failed'), { recursive: true });
    expect(files.map((file) => path.basename(file)).sort()).toEqual(
      expect.arrayContaining([
        'cut.csv',
        'cut.csv.result.html',
        'empty.csv',
        'empty.csv.result.html',
      ]),
    );
    expect(await readdir(path.join(disk.inbox, 'processing'))).toEqual([]);
  });
});
