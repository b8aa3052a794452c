import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace, type Workplace } from '../support/workplace.ts';

const PARTS = ['inbox', 'data', 'reports', 'po-sync.yaml'];

/** Moves the installation to another folder; the commands of the result use it there. */
async function moved(place: Workplace) {
  const folder = path.join(place.folder, 'elsewhere');
  await mkdir(folder);
  for (const name of PARTS) await rename(path.join(place.folder, name), path.join(folder, name));
  const env = { PO_SYNC_CONFIG: path.join(folder, 'po-sync.yaml') };
  const run = (...args: string[]) => place.run(args, env);
  return {
    run,
    json: async (...args: string[]) => JSON.parse((await run('--json', ...args)).out),
    start: () => place.start(['start'], env),
    inbox: path.join(folder, 'inbox'),
    reports: path.join(folder, 'reports'),
  };
}

/** Files below the folders of settled files, of processing/ too, without the day. */
async function filesIn(inbox: string, where: string): Promise<string[]> {
  const found = await readdir(path.join(inbox, where), { recursive: true, withFileTypes: true });
  return found.flatMap((one) => (one.isFile() ? [one.name] : [])).sort();
}

it('an unfinished file is found again after the installation was moved, with its report and fix file', async () => {
  await using place = await openWorkplace();
  await place.run(['pause']);
  const first = place.start(['start']);
  await place.drop('mixed.csv', `${csvOf(3)}PO-9,NEW,ART-1,many\n`);
  const { batch } = await until('the orders to wait', async () => {
    const [found] = (await place.json('batches', 'list')).batches;
    return found?.state === 'sending' ? found : undefined;
  });
  first.child.kill('SIGTERM');
  await first.ended;

  const there = await moved(place);
  there.start();
  await there.run('resume');
  const folder = path.join(there.reports, batch);
  await until(
    'the end',
    async () => (await there.json('batches', 'show', batch)).state === 'finished',
  );
  expect(place.stored()).toEqual(new Map(['PO-1', 'PO-2', 'PO-3'].map((number) => [number, 1])));
  expect(
    (await readFile(path.join(folder, 'results.csv'), 'utf8')).trim().split('\n'),
  ).toHaveLength(5);
  expect(await readdir(folder)).toEqual(expect.arrayContaining(['fix.xlsx']));
  expect(await filesIn(there.inbox, 'processing')).toEqual([]);
  expect(await filesIn(there.inbox, 'done')).toEqual(['mixed.csv']);
  expect(await readdir(path.join(place.folder))).not.toContain('inbox');
});
