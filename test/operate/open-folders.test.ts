import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createOpenFolders } from '../../src/operate/open-folders.ts';
import type { OperatorContext } from '../../src/operate/operator-context.ts';
import { inboxSource } from '../support/inbox-source.ts';
import { openTestRedis } from '../support/open-redis.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

it('the folder open is written again only when what it shows has changed', async () => {
  await using store = await openTestRedis();
  await using reports = await makeTempFolder();
  await using inbox = await makeTempFolder();
  let now = 0;
  const context = {
    store,
    owner: 'rig',
    clock: { monotonic: () => now },
    config: {
      environment: 'staging',
      reports: { path: reports.path },
      sources: [inboxSource(inbox.path)],
    },
    batches: { underWay: async () => [], find: async () => undefined },
  } as unknown as OperatorContext;
  await using folders = createOpenFolders(context);
  const written = async () => {
    now += 10_000;
    await folders.tick();
    return (await stat(path.join(reports.path, 'open', 'open.html'), { bigint: true })).mtimeNs;
  };

  const first = await written();
  await store.redis.xadd(store.keys.changes, '*', 'order', 'PO-1');
  expect(await written()).toBe(first);
  await writeFile(path.join(inbox.path, 'notes.doc'), '');
  expect(await written()).not.toBe(first);
});
