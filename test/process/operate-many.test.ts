import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { openWorkplace } from '../support/workplace.ts';

const WRITER = new URL('../support/write-many-dead.ts', import.meta.url).pathname;
const SMALL = { NODE_OPTIONS: '--max-old-space-size=80' };

it('100,000 dead letters are listed, filtered and judged in a heap that could not hold them', async () => {
  await using place = await openWorkplace();
  const folder = path.join(place.reports, '20261121T071500Z-inbox-orders-3f2a91c0');
  await mkdir(folder, { recursive: true });
  await promisify(execFile)(process.execPath, [WRITER, folder, '100000']);
  const list = await place.run(['dead-letters', 'list', '--limit', '2'], SMALL);
  expect(list).toMatchObject({ code: 0, err: '' });
  expect(list.out).toContain('… and 99,998 orders more');
  expect(list.out).toMatch(/100,000 {2}invalid {2}quantity-not-whole/);
  const one = await place.run(['--json', 'dead-letters', 'list', '--order', 'PO-99999'], SMALL);
  expect(JSON.parse(one.out)).toMatchObject({
    letters: [{ purchaseOrderNumber: 'PO-99999', location: { line: 200_000 } }],
  });
  const retry = await place.run(['dead-letters', 'retry', '--dry-run'], SMALL);
  expect(retry).toMatchObject({ code: 2, out: expect.stringContaining('100,000 orders cannot be sent again') });
});
