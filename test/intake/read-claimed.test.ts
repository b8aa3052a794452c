import { mkdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import { createClaimedFileReader, type ReadingDeps } from '../../src/intake/read-claimed.ts';
import type { ClaimedFile } from '../../src/order/batch.ts';
import { capturedLog } from '../support/captured-log.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';

/** The spool of one export, which several daemons share, and one of them. `states`: of the batches that the ledger knows. */
async function openReader() {
  const folder = await makeTempFolder();
  const states = new Map<string, { state: string }>();
  const held = new Set<string>();
  const [read, stopping] = [[] as string[], new AbortController()];
  let passed = 0;
  const clock = {
    now: () => Date.now(),
    monotonic: () => performance.now() + passed,
    sleep: (ms: number) => delay(Math.min(ms, 5)),
  } as Clock;
  const { log, lines } = capturedLog();
  const batches = {
    find: async (batch: string) =>
      states.has(batch) ? { batch, ...states.get(batch) } : undefined,
    isHeld: async (batch: string) => held.has(batch),
    epoch: () => 'one',
  };
  const reader = createClaimedFileReader({
    batches: batches as unknown as ReadingDeps['batches'],
    clock,
    log,
    stopping: stopping.signal,
    time: clock,
    versions: { wasRead: async () => undefined },
    async ingest({ batch }: ClaimedFile) {
      read.push(batch);
      states.set(batch, { state: 'open' });
      return {};
    },
  } as unknown as Parameters<typeof createClaimedFileReader>[0]);

  return {
    reader,
    states,
    held,
    read,
    lines,
    stop: () => stopping.abort(),
    pass: (ms: number) => (passed += ms),
    async copy(name: string, at: number): Promise<ClaimedFile> {
      const batch = `20261121T071500Z-erp-${name}-00000000`;
      const file = path.join(folder.path, batch, `${name}.csv`);
      await mkdir(path.dirname(file));
      await writeFile(file, name);
      await utimes(file, at, at);
      return { batch, source: 'erp', kind: 'export', name: `${name}.csv`, path: file };
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await reader[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe('a version of an export', () => {
  test('is read when the older ones were read, also by other daemons, in the order of their copies', async () => {
    await using it = await openReader();
    const [older, newer] = [await it.copy('PO_30', 1), await it.copy('PO_01', 2)];
    it.states.set(older.batch, { state: 'reading' });
    it.held.add(older.batch);
    await it.reader.readCopy(newer);
    await delay(50);
    expect(it.read).toEqual([]);
    it.states.set(older.batch, { state: 'open' });
    await until('the newer version', () => it.read.length === 1);
  });

  test('that a daemon left is read after an older one that the same daemon was reading', async () => {
    await using it = await openReader();
    const [older, newer] = [await it.copy('PO_30', 1), await it.copy('PO_01', 2)];
    it.states.set(older.batch, { state: 'reading' });
    it.held.add(older.batch);
    for (const file of [older, newer]) await it.reader.resume(file);
    await delay(50);
    expect([it.read, it.lines]).toEqual([[], []]);
    it.held.clear();
    for (const file of [older, newer]) await it.reader.resume(file);
    await until('both versions', () => it.read.length === 2);
    expect(it.read).toEqual([older.batch, newer.batch]);
  });

  test('that another daemon read while it waited is not resumed', async () => {
    await using it = await openReader();
    const [older, newer] = [await it.copy('PO_30', 1), await it.copy('PO_01', 2)];
    it.states.set(older.batch, { state: 'reading' });
    await it.reader.resume(newer);
    it.states.set(newer.batch, { state: 'open' });
    it.states.set(older.batch, { state: 'open' });
    await until('the end', () => it.reader.count() === 0);
    expect([it.read, it.lines]).toEqual([[], []]);
  });

  test('does not wait longer than a minute for an older one without progress', async () => {
    await using it = await openReader();
    const [older, newer] = [await it.copy('PO_30', 1), await it.copy('PO_01', 2)];
    it.states.set(older.batch, { state: 'reading' });
    await it.reader.readCopy(newer);
    await delay(50);
    expect(it.read).toEqual([]);
    it.pass(61_000);
    await until('the newer version', () => it.read.length === 1);
  });

  test('does not keep a daemon that stops', async () => {
    await using it = await openReader();
    const [older, newer] = [await it.copy('PO_30', 1), await it.copy('PO_01', 2)];
    it.states.set(older.batch, { state: 'reading' });
    await it.reader.readCopy(newer);
    it.stop();
    await until('the end', () => it.reader.count() === 0);
  });
});
