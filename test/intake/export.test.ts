import { createHash } from 'node:crypto';
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ExportSource } from '../../src/config/config.ts';
import { systemClock } from '../../src/core/clock.ts';

import {
  copyExport,
  createExport,
  handOver,
  leftCopies,
  stateOfPath,
} from '../../src/intake/export.ts';
import type { ClaimedFile } from '../../src/order/batch.ts';
import { capturedLog } from '../support/captured-log.ts';
import { exportSource } from '../support/inbox-source.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const ROWS = 'purchaseOrderNumber,articleCode,quantity\n1,A,1\n';

async function openTestExport(pattern: string, more: Partial<ExportSource> = {}) {
  const folder = await makeTempFolder();
  const spool = path.join(folder.path, 'spool');
  const { log, lines } = capturedLog();
  const copies: ClaimedFile[] = [];
  const known = new Map<string, string>();
  const theirs = new Set<string>();
  const claims: string[] = [];
  const source = exportSource(path.join(folder.path, pattern), more);
  const open = () =>
    createExport({
      source,
      spool,
      clock: systemClock,
      log,
      claim: async ({ name, origin = name, sha256 }) => {
        claims.push(origin);
        if (theirs.has(origin)) return 'theirs';
        return known.get(origin) === sha256 ? 'unchanged' : 'new';
      },
      isTheirs: async ({ name, origin = name }) => theirs.has(origin),
      onReady: async (copy) => {
        copies.push(copy);
        const sha256 = createHash('sha256')
          .update(await readFile(copy.path))
          .digest('hex');
        known.set(copy.origin ?? copy.name, sha256);
      },
    });
  return {
    path: folder.path,
    spool,
    copies,
    theirs,
    claims,
    lines,
    open,
    write: (name: string, text = ROWS) => writeFile(path.join(folder.path, name), text),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe('an export', () => {
  test('is copied when it is new and when its content changes, and is never modified', async () => {
    await using it = await openTestExport('orders.csv');
    await using watch = it.open();
    await it.write('orders.csv');
    await watch.settleOnce();
    await watch.settleOnce();
    expect(it.copies).toHaveLength(1);
    expect(it.copies[0]).toMatchObject({ kind: 'export', name: 'orders.csv', source: 'erp' });
    await appendFile(path.join(it.path, 'orders.csv'), '2,B,1\n');
    await watch.settleOnce();
    expect(await Promise.all(it.copies.map((copy) => readFile(copy.path, 'utf8')))).toEqual([
      ROWS,
      `${ROWS}2,B,1\n`,
    ]);
    expect(await readFile(path.join(it.path, 'orders.csv'), 'utf8')).toBe(`${ROWS}2,B,1\n`);
  });

  test('that another daemon reads is copied once, and again when nobody reads it any more', async () => {
    await using it = await openTestExport('orders.csv');
    await using watch = it.open();
    it.theirs.add('orders.csv');
    await it.write('orders.csv');
    for (let check = 0; check < 3; check += 1) await watch.settleOnce();
    expect([it.claims, it.copies, await readdir(it.spool)]).toEqual([['orders.csv'], [], []]);
    it.theirs.clear();
    await watch.settleOnce();
    await watch.settleOnce();
    expect([it.claims.length, it.copies.length]).toEqual([2, 1]);
  });

  test('with unchanged content creates no copy, also after a restart', async () => {
    await using it = await openTestExport('orders.csv');
    await it.write('orders.csv');
    await using first = it.open();
    await first.settleOnce();
    await using second = it.open();
    await second.settleOnce();
    await it.write('orders.csv');
    await second.settleOnce();
    expect(it.copies).toHaveLength(1);
    expect(await readdir(it.spool)).toHaveLength(1);
  });

  test('that was emptied creates no batch, is reported once, and is taken when it has content again', async () => {
    await using it = await openTestExport('orders.csv');
    await using watch = it.open();
    await it.write('orders.csv', '');
    await watch.settleOnce();
    await watch.settleOnce();
    expect(it.copies).toEqual([]);
    expect(await leftCopies(it.spool, 'erp')).toEqual([]);
    expect(it.lines.filter(({ msg }) => msg === 'export empty')).toHaveLength(1);
    await it.write('orders.csv');
    await watch.settleOnce();
    expect(it.copies).toHaveLength(1);
  });

  test('that does not exist yet is waited for', async () => {
    await using it = await openTestExport('not/yet/orders.csv');
    await using watch = it.open();
    await watch.settleOnce();
    expect(watch.healthy()).toBe(true);
    await mkdir(path.join(it.path, 'not/yet'), { recursive: true });
    await it.write('not/yet/orders.csv');
    await watch.settleOnce();
    expect(it.copies).toHaveLength(1);
  });

  test('can be a pattern', async () => {
    await using it = await openTestExport('*-orders.{csv,json}');
    await using watch = it.open();
    for (const name of ['a-orders.csv', 'b-orders.json', 'c-orders.txt', '.d-orders.csv'])
      await it.write(name);
    await symlink('/etc/passwd', path.join(it.path, 'e-orders.csv'));
    await watch.settleOnce();
    expect(it.copies.map(({ name }) => name).sort()).toEqual(['a-orders.csv', 'b-orders.json']);
    expect(it.lines.filter(({ kind }) => kind === 'link')).toHaveLength(1);
  });

  test('can be one of several with the same name in different folders', async () => {
    await using it = await openTestExport('*/orders.csv');
    for (const folder of ['north', 'south']) {
      await mkdir(path.join(it.path, folder));
      await it.write(`${folder}/orders.csv`, `${ROWS}${folder},A,1\n`);
    }
    await using first = it.open();
    await first.settleOnce();
    await using second = it.open();
    await second.settleOnce();
    expect(it.copies.map(({ name, origin = '' }) => `${name}: ${origin}`).toSorted()).toEqual([
      'orders.csv: north/orders.csv',
      'orders.csv: south/orders.csv',
    ]);
  });

  test('is copied completely or not at all', async () => {
    await using it = await openTestExport('orders.csv');
    const file = path.join(it.path, 'orders.csv');
    await it.write('orders.csv', 'x'.repeat(64 * 1024 * 1024));
    const copying = copyExport(file, 'erp', it.spool, new Date());
    const failed = expect(copying).rejects.toMatchObject({ code: 'file-changed' });
    while (!(await isBeingCopied(it.spool))) await delay(1);
    await appendFile(file, 'y');
    await failed;
    expect(await readdir(it.spool)).toEqual([]);
  });

  test('leaves complete copies to be found again, and no interrupted ones', async () => {
    await using it = await openTestExport('orders.csv');
    await it.write('orders.csv');
    const copied = await copyExport(path.join(it.path, 'orders.csv'), 'erp', it.spool, new Date());
    const { sha256, bytes, draft, mtimeNs: _, ...copy } = copied;
    expect(await leftCopies(it.spool, 'erp')).toEqual([]);
    const onReady = async () => undefined;
    await handOver(copied, { log: capturedLog().log, claim: async () => 'new', onReady });
    expect(draft).not.toBe(copy.path);
    await mkdir(path.join(it.spool, 'broken'));
    await writeFile(path.join(it.spool, 'broken', '.part'), 'half');
    expect(await leftCopies(it.spool, 'erp')).toEqual([copy]);
    expect([sha256, bytes]).toEqual([createHash('sha256').update(ROWS).digest('hex'), ROWS.length]);
  });
});

async function isBeingCopied(spool: string): Promise<boolean> {
  const [batch] = await readdir(spool).catch(() => []);
  const draft =
    batch === undefined
      ? undefined
      : await stat(path.join(spool, batch, '.part')).catch(() => undefined);
  return draft !== undefined && draft.size > 0;
}

test('the status of a source says whether its file, or the folder of its pattern, is there', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'orders[1].csv');
  await writeFile(file, '');
  const states = [
    file,
    path.join(folder.path, '*.csv'),
    path.join(folder.path, '**', 'orders-*.csv'),
    path.join(folder.path, 'missing', '*.csv'),
    path.join(folder.path, 'missing.csv'),
    'https://erp.example.com/orders.csv',
  ].map(async (source) => (await stateOfPath(source)).state);
  expect(await Promise.all(states)).toEqual([
    'ok',
    'ok',
    'ok',
    'missing',
    'missing',
    'not checked',
  ]);
});

describe('of a pattern with newestOnly', () => {
  /** Writes files one after the other, each a minute newer than the one before. */
  async function writeInOrder(it: Awaited<ReturnType<typeof openTestExport>>, ...names: string[]) {
    for (const [i, name] of names.entries()) {
      const at = new Date(Date.UTC(2026, 10, 20, 3, i));
      await it.write(name, `${ROWS}${name},A,1\n`);
      await utimes(path.join(it.path, name), at, at);
    }
  }
  const read = ({ copies }: { copies: ClaimedFile[] }) => copies.map(({ origin }) => origin);

  test('only the newest file is read', async () => {
    await using it = await openTestExport('PO_*.csv', { newestOnly: true });
    await using watch = it.open();
    await writeInOrder(it, 'PO_9.csv', 'PO_2.csv', 'PO_1.csv');
    for (let check = 0; check < 2; check += 1) await watch.settleOnce();
    expect(read(it)).toEqual(['PO_1.csv']);
    await it.write('PO_0.csv');
    for (let check = 0; check < 2; check += 1) await watch.settleOnce();
    expect(read(it)).toEqual(['PO_1.csv', 'PO_0.csv']);
  });

  test('of files with the same time, the last by name is the newest', async () => {
    await using it = await openTestExport('PO_*.csv', { newestOnly: true });
    await using watch = it.open();
    const at = new Date('2026-11-20T03:00:00Z');
    for (const name of ['PO_1.csv', 'PO_3.csv', 'PO_2.csv']) {
      await it.write(name);
      await utimes(path.join(it.path, name), at, at);
    }
    await watch.settleOnce();
    expect(read(it)).toEqual(['PO_3.csv']);
  });

  test('an older file that is written again is the newest', async () => {
    await using it = await openTestExport('PO_*.csv', { newestOnly: true });
    await using watch = it.open();
    await writeInOrder(it, 'PO_1.csv', 'PO_2.csv');
    await watch.settleOnce();
    await it.write('PO_1.csv');
    await watch.settleOnce();
    expect(read(it)).toEqual(['PO_2.csv', 'PO_1.csv']);
  });

  test('no older file is read while the newest is still written', async () => {
    // After ten times this, the incomplete file is taken.
    await using it = await openTestExport('PO_*.csv', { newestOnly: true, stable: 500 });
    await using watch = it.open();
    await writeInOrder(it, 'PO_1.csv', 'PO_2.csv');
    await it.write('PO_2.csv', 'purchaseOrderNumber,articleCode,quantity\n2,A');
    for (let check = 0; check < 3; check += 1) await watch.tick();
    expect(read(it)).toEqual([]);
    await it.write('PO_2.csv');
    await watch.settleOnce();
    expect(read(it)).toEqual(['PO_2.csv']);
  });

  test('a folder or a link is not the newest file', async () => {
    await using it = await openTestExport('PO_*.csv', { newestOnly: true });
    await using watch = it.open();
    await it.write('PO_1.csv');
    await mkdir(path.join(it.path, 'PO_2.csv'));
    await symlink(path.join(it.path, 'PO_1.csv'), path.join(it.path, 'PO_3.csv'));
    await watch.settleOnce();
    expect(read(it)).toEqual(['PO_1.csv']);
    expect(it.lines.filter(({ event }) => event === 'file-left').map(({ file }) => file)).toEqual([
      'PO_2.csv',
      'PO_3.csv',
    ]);
  });
});
