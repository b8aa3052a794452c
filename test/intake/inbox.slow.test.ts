import { execFile } from 'node:child_process';
import { mkdir, open, readdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { InboxSource } from '../../src/config/config.ts';
import { systemClock } from '../../src/core/clock.ts';
import { PoSyncError } from '../../src/core/errors.ts';
import { markInbox } from '../../src/intake/environment-marker.ts';
import { ignoredIn, ignoredText } from '../../src/intake/folders.ts';
import { createInbox } from '../../src/intake/inbox.ts';
import { takenNames } from '../../src/intake/names.ts';
import { capturedLog } from '../support/captured-log.ts';
import { inboxSource, lacksWith } from '../support/inbox-source.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const ROWS = 'purchaseOrderNumber,articleCode,quantity\n1,A,1\n';
/** An inbox whose files are removed when they are offered. */
async function openTestInbox(
  more: Partial<InboxSource> = {},
  onReady = (file: string): Promise<void> => rm(file),
  finalNewline: 'required' | 'optional' = 'required',
  environment?: string,
) {
  const folder = await makeTempFolder();
  const { log, lines } = capturedLog();
  const offered: string[] = [];
  const source = inboxSource(folder.path, more);
  const inbox = createInbox({
    source,
    ...(environment === undefined ? {} : { environment }),
    lacks: lacksWith({ finalNewline }),
    clock: systemClock,
    log,
    onReady: async (file) => {
      await onReady(file);
      offered.push(path.basename(file));
    },
  });
  return {
    path: folder.path,
    inbox,
    offered,
    lines,
    drop: (name: string, text = ROWS) => writeFile(path.join(folder.path, name), text),
    async [Symbol.asyncDispose]() {
      await inbox[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const ownerOf = (environment: string) => ({ environment, ledger: 'a', host: 'one', data: '/srv' });

describe('an inbox', () => {
  test.each([
    ['has no marker', undefined, 'folder-missing'],
    ['is marked for another environment', 'production', 'inbox-of-another-environment'],
  ])(
    'takes nothing when its folder was replaced before the first look by one that %s',
    async (_, owner, code) => {
      await using it = await openTestInbox({}, undefined, undefined, 'staging');
      if (owner !== undefined) await markInbox(it.path, ownerOf(owner));
      await it.drop('orders.csv');
      await expect(it.inbox.settleOnce()).rejects.toMatchObject({ code });
      await it.inbox.tick();
      expect(it.inbox.healthy()).toBe(false);
      expect(it.offered).toEqual([]);
    },
  );

  test('offers present and new files once they are stable, each once', async () => {
    await using it = await openTestInbox({ poll: 3_600_000 });
    await it.drop('there.csv');
    await it.inbox.start();
    await until('the file that was there', () => it.offered.length === 1);
    // The watcher reports no file that arrives during its first scan, and does not signal the end of that scan.
    await delay(1_000);
    await it.drop('new.csv');
    await until('the file that came, long before the next poll', () => it.offered.length === 2);
    await it.inbox.tick();
    expect(it.offered).toEqual(['there.csv', 'new.csv']);
  });

  test('reports each of many files that it leaves alone once', async () => {
    await using it = await openTestInbox();
    const many = 101;
    for (let i = 0; i < many; i += 1) await symlink('nowhere', path.join(it.path, `link-${i}.csv`));
    await it.inbox.tick();
    await it.inbox.tick();
    expect(it.lines.filter(({ event }) => event === 'file-left')).toHaveLength(many);
  });

  test('finds files by polling without file-system events', async () => {
    await using it = await openTestInbox();
    await it.inbox.tick();
    await it.drop('a.csv');
    await until('the file', async () => {
      await it.inbox.tick();
      return it.offered.length === 1;
    });
  });

  test('waits while a file grows, also if it was present at startup with old timestamps', async () => {
    await using it = await openTestInbox({ stable: 5_000 });
    await it.drop('slow.csv');
    const growing = path.join(it.path, 'slow.csv');
    const started = performance.now();
    const settled = it.inbox.settleOnce();
    for (let i = 0; i < 8; i++) {
      await delay(100);
      expect(it.offered).toEqual([]);
      const handle = await open(growing, 'a');
      await handle.writeFile('1,A,1\n');
      await handle.utimes(1, 1);
      await handle.close();
    }
    await settled;
    expect(it.offered).toEqual(['slow.csv']);
    expect(performance.now() - started).toBeGreaterThan(1000);
  });

  test.each([
    ['an open quote', 'a,b\n"1,2\n', 'the quote that closes field 1 of line 2 is missing'],
    ['nothing in it', '', 'it is empty'],
  ])('waits longer for a file with %s, then takes it as it is', async (_, text, reason) => {
    await using it = await openTestInbox({ stable: 40 });
    await it.drop('half.csv', text);
    const started = performance.now();
    await it.inbox.settleOnce();
    expect(performance.now() - started).toBeGreaterThan(390);
    expect(it.offered).toEqual(['half.csv']);
    expect(it.lines.find(({ file }) => file === 'half.csv')).toMatchObject({
      reason,
      source: 'inbox',
    });
  });

  test('takes a file without a final line end at once where the mapping says that it is optional', async () => {
    await using it = await openTestInbox({ stable: 3_000 }, undefined, 'optional');
    await it.drop('whole.csv', ROWS.trimEnd());
    await it.drop('whole.json', '{"a":[1]}\n');
    await it.drop('whole.xml', '<?xml version="1.0"?><a><b/></a >\n<?end?><!-- x -->\n');
    const started = performance.now();
    await it.inbox.settleOnce();
    expect(performance.now() - started).toBeLessThan(25_000);
    expect(it.offered.sort()).toEqual(['whole.csv', 'whole.json', 'whole.xml']);
  });

  test('offers only names that match its files, whatever their case, and none that is private', async () => {
    await using it = await openTestInbox({ files: ['PO_*.csv', '?.txt'] });
    const others = ['orders.csv', 'PO_1.csv.part', 'PO_1.csv~', '.PO_2.csv', '~PO_3.csv', 'ab.txt'];
    for (const name of [...others, '#PO_4.csv#', 'po_5.CSV', 'a.txt']) await it.drop(name);
    await it.inbox.settleOnce();
    expect(it.offered.sort()).toEqual(['a.txt', 'po_5.CSV']);
    const ignored = await ignoredIn(it.inbox.source as InboxSource);
    expect(ignored.total).toBe(4);
    expect(ignoredText(ignored)).toContain('PO_1.csv.part (other name)');
    await rename(path.join(it.path, 'PO_1.csv.part'), path.join(it.path, 'PO_1.csv'));
    await it.inbox.settleOnce();
    expect(it.offered).toContain('PO_1.csv');
  });

  test.each(['a.CSV', 'b.tsv.gz', 'c.txt', 'd.ndjson', 'e.XML', 'f.xlsx', 'g.json.gz'])(
    'takes %s where its source names no files',
    (name) => expect(takenNames(inboxSource(''))(name)).toBe(true),
  );

  test.each(['plan.csv~', 'a.csv.bak', 'a.xlsx.gz', 'x.csv:Zone.Identifier', 'a.csv.crdownload'])(
    'does not take %s where its source names no files',
    (name) => expect(takenNames(inboxSource(''))(name)).toBe(false),
  );

  test('waits for the done file if the source requires one', async () => {
    await using it = await openTestInbox({ doneFile: true });
    await it.drop('orders.csv');
    await it.drop('other.done');
    await it.inbox.settleOnce();
    expect(it.offered).toEqual([]);
    await it.drop('orders.csv.done', '');
    await it.inbox.settleOnce();
    expect(it.offered).toEqual(['orders.csv']);
  });

  test('reports pipes, links and folders once, never blocks on them, and takes the other files', async () => {
    await using it = await openTestInbox();
    for (let i = 0; i < 5; i++) await run('mkfifo', [path.join(it.path, `pipe${i}.csv`)]);
    await symlink('/etc/passwd', path.join(it.path, 'link.csv'));
    await mkdir(path.join(it.path, 'folder.csv'));
    await it.drop('orders.csv');
    await it.inbox.settleOnce();
    await it.inbox.tick();
    expect(it.offered).toEqual(['orders.csv']);
    const told = it.lines.filter(({ msg }) => msg === 'file left');
    expect(told.map(({ file, kind }) => [file, kind].join(' ')).sort()).toEqual([
      'folder.csv folder',
      'link.csv link',
      ...[0, 1, 2, 3, 4].map((i) => `pipe${i}.csv pipe`),
    ]);
  });

  test('takes files of any name with a known ending, and leaves files whose names are not UTF-8', async () => {
    await using it = await openTestInbox();
    const names = [
      'a\nb.csv',
      '..csv',
      `${'x'.repeat(251)}.csv`,
      'ü\u202e.csv',
      '-rf.csv',
      '.hidden.csv',
      'no ending',
      'PO 1.CSV',
    ];
    for (const name of names.filter((one) => one !== '..csv')) await it.drop(name);
    await writeFile(
      Buffer.concat([Buffer.from(`${it.path}/b`), Buffer.from([0xff]), Buffer.from('.csv')]),
      ROWS,
    );
    await it.inbox.settleOnce();
    await it.inbox.settleOnce();
    expect(it.offered).toHaveLength(5);
    const left = { name: 'b\ufffd.csv', kind: 'other name' };
    expect((await ignoredIn(inboxSource(it.path))).entries).toContainEqual(left);
  });

  test('hands over the oldest file first', async () => {
    await using it = await openTestInbox();
    for (const [name, time] of [
      ['new.csv', 3000],
      ['old.csv', 1000],
      ['middle.csv', 2000],
    ] as const) {
      await it.drop(name);
      const handle = await open(path.join(it.path, name), 'r+');
      await handle.utimes(time, time);
      await handle.close();
    }
    await it.inbox.settleOnce();
    expect(it.offered).toEqual(['old.csv', 'middle.csv', 'new.csv']);
  });

  test('offers a file again after a failure, and reports the failure once', async () => {
    let failures = 4;
    await using it = await openTestInbox({}, async (file) => {
      if (failures-- > 0) throw new Error('the disk is full');
      await rm(file);
    });
    await it.drop('orders.csv');
    await it.drop('other.csv');
    await it.inbox.settleOnce();
    expect(it.offered.sort()).toEqual(['orders.csv', 'other.csv']);
    expect(it.lines.filter(({ event }) => event === 'file-trouble')).toHaveLength(2);
  });

  test('retries a file that it cannot take for some seconds, then names it with the remedy and takes the others', async () => {
    const remedy = 'Give the user that runs po-sync read permission.';
    const refusal = new PoSyncError('file-not-readable', 'No permission to read the file.', {
      remedy,
    });
    await using it = await openTestInbox({}, (file) =>
      file.endsWith('orders.csv') ? Promise.reject(refusal) : rm(file),
    );
    await it.drop('orders.csv');
    await it.drop('other.csv');
    const left = await it.inbox.settleOnce();
    expect(it.offered).toEqual(['other.csv']);
    expect(left).toEqual([
      { source: 'inbox', file: 'orders.csv', reason: refusal.message, remedy },
    ]);
    expect(it.lines.filter(({ event }) => event === 'file-trouble')).toHaveLength(1);
    expect(it.inbox.notTaken()).toEqual(left);
    await rm(path.join(it.path, 'orders.csv'));
    await it.inbox.tick();
    expect(it.inbox.notTaken()).toEqual([]);
  });

  test('does not call a file that is in use for some seconds a trouble', async () => {
    const busy = Object.assign(new Error('busy'), { code: 'EBUSY' });
    await using it = await openTestInbox({}, () => Promise.reject(busy));
    await it.drop('orders.csv');
    expect(await it.inbox.settleOnce()).toMatchObject([{ file: 'orders.csv' }]);
    expect(it.inbox.notTaken()).toEqual([]);
  });

  test('waits for a file in use without reporting it at first', async () => {
    let failures = 1;
    await using it = await openTestInbox({}, async (file) => {
      if (failures-- > 0) throw Object.assign(new Error('busy'), { code: 'EBUSY' });
      await rm(file);
    });
    await it.drop('orders.csv');
    await it.inbox.settleOnce();
    expect(it.offered).toEqual(['orders.csv']);
    expect(it.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
  });

  test('that disappears is unhealthy, not empty, and healthy again when it is back', async () => {
    await using it = await openTestInbox();
    await markInbox(it.path, ownerOf('staging'));
    await it.inbox.tick();
    expect(it.inbox.healthy()).toBe(true);
    await rename(it.path, `${it.path}-away`);
    await it.inbox.tick();
    expect(it.inbox.healthy()).toBe(false);
    await expect(it.inbox.settleOnce()).rejects.toMatchObject({ code: 'folder-missing' });
    await mkdir(it.path);
    await it.drop('wrong-place.csv');
    await it.inbox.tick();
    expect(it.inbox.healthy()).toBe(false);
    await rm(it.path, { recursive: true });
    await rename(`${it.path}-away`, it.path);
    await it.inbox.tick();
    expect(it.inbox.healthy()).toBe(true);
    expect(it.offered).toEqual([]);
    // Once for each reason: it is missing, and another folder is in its place.
    const away = 'source lost';
    expect(it.lines.map(({ msg }) => msg)).toEqual([away, away, 'source back']);
  });

  test('finds every one of many files that arrive at once, even if file-system events are lost', async () => {
    await using it = await openTestInbox({ poll: 200 });
    await it.inbox.start();
    const names = Array.from({ length: 200 }, (_, i) => `${i}.csv`);
    await Promise.all(names.map((name) => it.drop(name)));
    await until('all files', () => it.offered.length === names.length);
    expect(new Set(it.offered).size).toBe(names.length);
    expect(await readdir(it.path)).toEqual([]);
  });

  test('notices that a file was rewritten with the same size', async () => {
    await using it = await openTestInbox({ stable: 5_000 });
    await it.drop('same.csv');
    const settled = it.inbox.settleOnce();
    for (let i = 0; i < 4; i++) {
      await delay(120);
      expect(it.offered).toEqual([]);
      await truncate(path.join(it.path, 'same.csv'), 0);
      await it.drop('same.csv');
    }
    await settled;
    expect(it.offered).toEqual(['same.csv']);
  });
});
