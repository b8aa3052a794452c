import { appendFile, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { decided } from '../../src/journal/decided.ts';
import { type Noted, notedIn } from '../../src/journal/decision.ts';
import { expireJournals, FOLDER, journalsBelow } from '../../src/journal/folder.ts';
import { configOf, LEAST } from '../support/config-text.ts';
import { openTestRedis } from '../support/open-redis.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

let store: Awaited<ReturnType<typeof openTestRedis>>;
beforeAll(async () => {
  store = await openTestRedis();
});
afterAll(() => store[Symbol.asyncDispose]());

const CANCEL = { decision: 'cancel', batch: 'B-1' } as const;

async function openPlace() {
  const temp = await makeTempFolder();
  const { config } = configOf(LEAST);
  const reports = temp.path;
  const deciding = {
    config: { ...config, reports: { ...config.reports, path: reports } },
    store,
    owner: 'one',
    clock: systemClock,
  };
  const journals = journalsBelow(reports);
  const all = async () => {
    const noted: Noted[] = [];
    for (const { name } of await journals.list())
      for await (const line of journals.lines(name)) {
        const one = notedIn(line);
        if (one) noted.push(one);
      }
    return noted;
  };
  return {
    reports,
    deciding,
    journals,
    all,
    folder: path.join(reports, FOLDER),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

it('a decision is in the journal before it is done, and Redis has every byte of it afterwards', async () => {
  await using place = await openPlace();
  let before: Noted[] = [];
  const done = await decided('anna', [CANCEL], place.deciding, async () => {
    before = await place.all();
    return 'done';
  });
  expect(done).toBe('done');
  expect(before).toMatchObject([{ ...CANCEL, who: 'anna', environment: 'staging' }]);
  const [journal] = await place.journals.list();
  const known = await store.redis.hget(store.keys.journals, journal?.name ?? '');
  expect(known).toBe(String(journal?.bytes));
});

it.each([
  [
    'the folder of reports is away',
    (place: { reports: string }) => rename(place.reports, `${place.reports}-away`),
  ],
  ['a link leads elsewhere', (place: { folder: string }) => symlink('/nowhere', place.folder)],
  ['a file has its name', (place: { folder: string }) => writeFile(place.folder, '')],
])('a decision that cannot be kept, because %s, is not done', async (_, harm) => {
  await using place = await openPlace();
  await harm(place);
  let isDone = false;
  const deciding = decided('anna', [CANCEL], place.deciding, async () => {
    isDone = true;
  });
  await expect(deciding).rejects.toMatchObject({
    code: 'decision-not-kept',
    remedy: expect.any(String),
  });
  expect(isDone).toBe(false);
});

it('each process has a separate journal, and a line that was cut off hides no other', async () => {
  await using place = await openPlace();
  await decided('anna', [CANCEL], place.deciding, async () => undefined);
  const [name = ''] = await readdir(place.folder);
  await appendFile(path.join(place.folder, name), '{"decision":"cancel","ba');
  const later = { ...CANCEL, batch: 'B-2' };
  await decided('anna', [later], place.deciding, async () => undefined);
  await decided('bert', [CANCEL], { ...place.deciding, owner: 'two' }, async () => undefined);
  await writeFile(
    path.join(place.folder, '2026-01-01-odd-host.ndjson'),
    'null\n[]\n{}\nnot JSON\n',
  );
  expect((await place.all()).map((one) => [one.batch, one.who])).toEqual([
    ['B-1', 'anna'],
    ['B-2', 'anna'],
    ['B-1', 'bert'],
  ]);
  expect(await readFile(path.join(place.folder, name), 'utf8')).toContain(
    '{"decision":"cancel","ba\n',
  );
});

it('journals are removed when their day is longer ago than reports are kept', async () => {
  await using place = await openPlace();
  await mkdir(place.folder);
  const names = ['2026-03-01-host-a.ndjson', '2026-03-02-host-a.ndjson', 'notes.txt'];
  for (const name of names) await writeFile(path.join(place.folder, name), '');
  await expireJournals(place.reports, 86_400_000, Date.parse('2026-03-03T12:00:00Z'));
  expect((await readdir(place.folder)).sort()).toEqual(names.slice(1));
});
