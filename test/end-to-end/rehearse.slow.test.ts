import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { expect, it } from 'vitest';
import { removeRehearsalFolder } from '../support/remove-rehearsal.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

/** A Redis address that counts its connections and answers none. */
async function openTrap() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `redis://127.0.0.1:${port}/0`,
    connections: () => connections,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

it('rehearse shows the report of a file and touches neither the Redis nor the API of the configuration', async () => {
  await using trap = await openTrap();
  await using place = await openWorkplace({ redis: trap.url });
  const file = path.join(place.folder, 'orders.csv');
  const text = `${csvOf(30)}PO-31,NEW,A,none\n`;
  await writeFile(file, text);
  const { code, out } = await place.run(['rehearse', file, '--json'], {
    PO_SYNC_REDIS_URL: trap.url,
  });
  const { report, folder, page, faults, createdTwice } = JSON.parse(out);
  try {
    expect(code).toBe(2);
    expect(report).toMatchObject({
      environment: 'rehearsal',
      state: 'finished',
      counts: { orders: 31, accepted: 30, invalid: 1 },
    });
    expect(createdTwice).toBe(0);
    expect(faults).toMatchObject({
      drop: expect.any(Number),
      answer: expect.any(Number),
      revoke: 1,
    });
    expect(await readFile(page, 'utf8')).toContain('PO-31');
    // Only the report is left.
    expect(await readdir(path.resolve(folder, '../..'))).toEqual(['reports']);
  } finally {
    await removeRehearsalFolder(path.resolve(folder, '../..'));
  }
  expect({ redis: trap.connections(), api: place.events }).toEqual({ redis: 0, api: [] });
  expect(existsSync(place.reports) || existsSync(path.join(place.folder, 'data'))).toBe(false);
  expect(await readdir(place.inbox)).toEqual([]);
  expect(await readFile(file, 'utf8')).toBe(text);
});

it('rehearse reads with the mapping of a source, and keeps the report', async () => {
  await using place = await openWorkplace({
    source: '- { name: erp, type: inbox, path: inbox, mapping: erp }',
    more: 'mappings: { erp: { columns: { NO: { is: purchaseOrderNumber }, MAT: { is: articleCode }, QTY: { is: quantity } } } }',
  });
  await writeFile(
    path.join(place.folder, 'erp.csv'),
    'NO;MAT;QTY\nPO-1;A;1\nPO-2;A;two\nSumme;;1\n',
  );
  const { code, out } = await place.run(['rehearse', 'erp.csv']);
  const folder = /Report: (.*)\/reports\//.exec(out)?.[1] ?? '';
  expect(out).toContain(`When you do not need it any more, remove its folder: ${folder}\n`);
  expect(path.basename(folder)).toMatch(/^po-sync-rehearsal-/);
  await removeRehearsalFolder(folder);
  expect(code).toBe(2);
  expect(out).toMatch(/1 {2}accepted/);
  expect(out).toContain('erp.csv: 3 orders, sent to a temporary sandbox only');
});
