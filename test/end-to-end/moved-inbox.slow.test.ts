import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

const HEADER = 'purchaseOrderNumber,articleCode,quantity';

/** Moves the inbox to another folder, and sets that in the configuration. Returns the new folder. */
async function moveInbox(place: Workplace): Promise<string> {
  const moved = path.join(place.folder, 'elsewhere');
  await rename(place.inbox, moved);
  const file = path.join(place.folder, 'po-sync.yaml');
  await writeFile(file, (await readFile(file, 'utf8')).replace('path: inbox', 'path: elsewhere'));
  return moved;
}

async function json(place: Workplace, ...args: string[]) {
  return await place.json(...args);
}

it('after an inbox was moved, settled files are read, shown and updated in the new folder', async () => {
  await using place = await openWorkplace();
  await place.drop('a.csv', `${HEADER}\nPO-1,A,1\nPO-2,A,none\n`);
  await place.drop('broken.csv', `${HEADER}\nPO-9,"A,1\n`);
  await place.run(['start', '--once']);
  const moved = await moveInbox(place);
  const [day = ''] = await readdir(path.join(moved, 'done'));
  const settled = path.join(moved, 'done', day, 'a.csv');

  expect((await json(place, 'batches', 'show', 'a.csv')).settledPath).toBe(settled);
  await place.drop(path.relative(place.inbox, path.join(moved, 'b.csv')), `${HEADER}\nPO-1,A,2\n`);
  await place.run(['start', '--once']);
  const [, , conflict] = await place.reportsNow();
  expect(conflict).toMatchObject({ file: 'b.csv', counts: { conflict: 1 } });
  if (conflict)
    expect(await place.read(conflict, 'report.html')).toContain(
      '<bdi class="item other">A × 1</bdi>',
    );

  await place.run(['dead-letters', 'discard', '--order', 'PO-2', '--yes']);
  expect(await readdir(path.dirname(settled))).not.toContain('a.fix.csv');
  const found = await json(place, 'batches', 'show', 'broken.csv');
  expect(found.settledPath).toBe(path.join(moved, 'failed', day, 'broken.csv'));
});

it('a file whose orders waited while its inbox was moved is finished in the new folder', async () => {
  await using place = await openWorkplace();
  await place.run(['pause', '--reason', 'move']);
  await place.drop('a.csv', `${HEADER}\nPO-1,A,1\nPO-2,A,1\n`);
  await place.run(['start', '--once']);
  const moved = await moveInbox(place);
  await place.run(['resume']);
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
  expect(await place.reportsNow()).toMatchObject([
    { state: 'finished', counts: { orders: 2, accepted: 2 } },
  ]);
  expect(await readdir(path.join(moved, 'done'), { recursive: true })).toContainEqual(
    expect.stringMatching(/a\.csv$/),
  );
});
