import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeProgress, writeReport } from '../../src/report/write-report.ts';
import { fileWaitJson } from '../../src/wording/file-wait.ts';
import { dead, inputOf, reportOf, rows } from '../support/reported.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const orders = [dead(rows(2, ['7', 'A', '1']), 'refused', '400', 'No')];
const counts = { ...reportOf(orders).counts, orders: 5_000, accepted: 1_200 };

it('the progress of a batch is written for scripts and people, without links to files that do not exist yet', async () => {
  await using temp = await makeTempFolder();
  await writeProgress(temp.path, reportOf(orders, { state: 'running', finishedAt: null, counts }));
  expect((await readdir(temp.path)).sort()).toEqual(['report.html', 'report.json']);
  expect(JSON.parse(await readFile(join(temp.path, 'report.json'), 'utf8'))).toMatchObject({
    state: 'running',
  });
  const page = await readFile(join(temp.path, 'report.html'), 'utf8');
  expect(page).toContain('1,201 of 5,000 orders have an outcome.');
  expect(page).not.toContain('href=');
});

it('a file that waits shows why, what to look at and how to continue', async () => {
  await using temp = await makeTempFolder();
  await writeProgress(
    temp.path,
    reportOf(orders, {
      state: 'waiting',
      waits: fileWaitJson({
        code: 'refusals',
        facts: { refused: 40, of: 40, says: 'No' },
        since: 0,
      }),
      finishedAt: null,
      counts: { ...counts, orders: 0 },
    }),
  );
  const text = (await readFile(join(temp.path, 'report.html'), 'utf8'))
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
  expect(text).toContain('1,201 orders have an outcome; the file is still being read.');
  expect(text).toContain('40 of the last 40 answers are the same refusal: No');
  expect(text).toContain(`po-sync batches release ${reportOf([]).batch}`);
});

it('the page of a finished batch is left as it is', async () => {
  await using temp = await makeTempFolder();
  await writeReport(inputOf(temp.path, orders));
  const before = await readFile(join(temp.path, 'report.html'), 'utf8');
  await writeProgress(temp.path, reportOf(orders));
  expect(await readFile(join(temp.path, 'report.html'), 'utf8')).toBe(before);
});
