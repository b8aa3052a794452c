import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { placeNow } from '../../src/ledger/batches/place-now.ts';
import { inboxSource } from '../support/inbox-source.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

describe('the file of a batch', () => {
  let temp: Awaited<ReturnType<typeof makeTempFolder>>;
  let [before, here, data] = ['', '', ''];
  beforeAll(async () => {
    temp = await makeTempFolder();
    before = path.join(temp.path, 'before');
    here = path.join(temp.path, 'here');
    data = path.join(temp.path, 'data');
  });
  beforeEach(async () => {
    for (const one of [before, here, data]) await rm(one, { recursive: true, force: true });
  });
  afterAll(() => temp[Symbol.asyncDispose]());

  const CLAIMED = ['processing', 'b-1', 'orders.csv'];
  const SETTLED = ['done', '2026-11-23', 'orders.csv'];

  async function write(folder: string, steps: string[], content = 'abc'): Promise<string> {
    const file = path.join(folder, ...steps);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
    return file;
  }

  /** Where a file is now that was recorded below `before`. */
  function placed(more: object = {}) {
    const source = inboxSource(here);
    const recorded = {
      path: path.join(before, ...CLAIMED),
      settledPath: path.join(before, ...SETTLED),
    };
    const batch = {
      source: source.name,
      kind: 'inbox' as const,
      ...recorded,
      inspection: { bytes: 3 },
      ...more,
    };
    return placeNow(batch, { sources: [source], data });
  }

  it('that moved with its inbox is below the configured folder', async () => {
    const [claimed, settledPath] = [await write(here, CLAIMED), await write(here, SETTLED)];
    expect(await placed()).toMatchObject({ path: claimed, settledPath });
  });

  it('that was copied with its inbox is the copy below the configured folder', async () => {
    await write(before, CLAIMED);
    await write(before, SETTLED);
    const [claimed, settledPath] = [await write(here, CLAIMED), await write(here, SETTLED)];
    expect(await placed()).toMatchObject({ path: claimed, settledPath });
  });

  it('that stayed where its inbox was is found there', async () => {
    const [claimed, settledPath] = [await write(before, CLAIMED), await write(before, SETTLED)];
    expect(await placed()).toMatchObject({ path: claimed, settledPath });
  });

  it('is not another file of the same name', async () => {
    await write(here, SETTLED, 'another');
    expect(await placed()).toMatchObject({ settledPath: await write(before, SETTLED) });
  });

  it('that was changed after it was read is still that file', async () => {
    const settledPath = await write(here, SETTLED, 'abc and more');
    expect(await placed({ unreadable: { code: 'unreadable-changed' } })).toMatchObject({
      settledPath,
    });
  });

  it('that is nowhere belongs below the configured folder while it is in progress', async () => {
    expect(await placed()).toMatchObject({
      path: path.join(here, ...CLAIMED),
      settledPath: path.join(before, ...SETTLED),
    });
  });

  it.each(['export', 'handed-in'])('of kind %s is below `data`', async (kind) => {
    const steps = [kind === 'export' ? 'spool' : kind, 'erp', 'b-1', 'orders.csv'];
    const copy = await write(data, steps);
    const found = await placed({
      source: 'erp',
      kind,
      path: path.join(before, ...steps),
      settledPath: undefined,
    });
    expect(found.path).toBe(copy);
  });

  it('of a source that is no longer configured is where it was', async () => {
    await write(here, CLAIMED);
    expect(await placed({ source: 'former' })).toMatchObject({
      path: path.join(before, ...CLAIMED),
    });
  });
});
