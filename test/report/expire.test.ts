import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expireReports, expireSettled } from '../../src/report/expire.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const DAY = 24 * 60 * 60 * 1000;
const NOW = Date.parse('2026-11-21T12:00:00Z');

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
beforeEach(async () => {
  temp = await makeTempFolder();
});
afterEach(() => temp[Symbol.asyncDispose]());

async function folders(...names: string[]): Promise<void> {
  for (const name of names) {
    await mkdir(join(temp.path, name), { recursive: true });
    await writeFile(join(temp.path, name, 'file'), '');
  }
}

describe('reports', () => {
  const expire = (keepOpen: (batch: string) => boolean = () => false) =>
    expireReports({
      path: temp.path,
      keep: 90 * DAY,
      now: NOW,
      keepOpen: async (batch) => keepOpen(batch),
    });

  it('are removed when their batch is older than `keep`', async () => {
    await folders('20260823T115959Z-inbox-a-00000000', '20260823T120001Z-inbox-b-00000000');
    const { removed, failed } = await expire();
    expect(removed).toEqual([join(temp.path, '20260823T115959Z-inbox-a-00000000')]);
    expect(failed).toEqual([]);
    expect(await readdir(temp.path)).toEqual(['20260823T120001Z-inbox-b-00000000']);
  });

  it('stay while they have open dead letters', async () => {
    await folders('20250101T000000Z-inbox-a-00000000', '20250101T000000Z-inbox-b-00000000');
    await expire((batch) => batch.includes('-a-'));
    expect(await readdir(temp.path)).toEqual(['20250101T000000Z-inbox-a-00000000']);
  });

  it('are the only folders removed', async () => {
    await folders('notes', '20251399T000000Z-inbox-a-00000000', 'elsewhere/kept');
    await writeFile(join(temp.path, '20250101T000000Z-inbox-file-00000000'), '');
    await symlink(
      join(temp.path, 'elsewhere'),
      join(temp.path, '20250101T000000Z-inbox-link-00000000'),
    );
    expect((await expire()).removed).toEqual([]);
    expect(await readdir(temp.path)).toHaveLength(5);
  });

  it('whose removal was interrupted are removed', async () => {
    await folders('.leaving-20250101T000000Z-inbox-a-00000000');
    await expire();
    expect(await readdir(temp.path)).toEqual([]);
  });

  it('that cannot be removed are reported and do not stop the others', async () => {
    const [first, second] = [
      '20250101T000000Z-inbox-a-00000000',
      '20250101T000000Z-inbox-b-00000000',
    ];
    await folders(first, second);
    await writeFile(join(temp.path, `.leaving-${first}`), 'in the way');
    const { removed, failed } = await expire();
    expect(removed).toEqual([join(temp.path, second)]);
    expect(failed).toMatchObject([{ path: join(temp.path, first), error: { code: 'ENOTDIR' } }]);
  });

  it('are none while the folder does not exist', async () => {
    const nowhere = {
      path: join(temp.path, 'none'),
      keep: DAY,
      now: NOW,
      keepOpen: async () => false,
    };
    expect(await expireReports(nowhere)).toEqual({ removed: [], failed: [] });
  });
});

describe('settled files', () => {
  it('are removed by day, when the complete day is older than `keep`', async () => {
    await folders(
      'done/2026-11-17',
      'done/2026-11-19',
      'done/2026-11-21',
      'failed/2026-11-01',
      'processing/2026-01-01',
    );
    const { removed } = await expireSettled(temp.path, 2 * DAY, NOW);
    expect(removed).toEqual([
      join(temp.path, 'done/2026-11-17'),
      join(temp.path, 'failed/2026-11-01'),
    ]);
    expect(await readdir(join(temp.path, 'processing'))).toEqual(['2026-01-01']);
  });

  it('stay in folders that are not named like a day', async () => {
    await folders('done/2020', 'done/2020-13-45', 'done/old', 'done/x2020-01-01');
    expect((await expireSettled(temp.path, DAY, NOW)).removed).toEqual([]);
  });
});
