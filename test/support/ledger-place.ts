import path from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { createCheckpointFile, createIdentity, type Identity } from '../../src/ledger/identity.ts';
import { type OpenRedis, openTestRedis } from './open-redis.ts';
import { makeTempFolder } from './temp-folder.ts';

/** For each test of a suite an empty Redis, and a folder for the checkpoints of daemons. */
export function useLedgerPlace() {
  let stack: AsyncDisposableStack;
  let store: OpenRedis;
  let folder: string;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    store = stack.use(await openTestRedis());
    await store.redis.flushall();
    folder = stack.use(await makeTempFolder()).path;
  });
  afterEach(() => stack.disposeAsync());

  return {
    get store() {
      return store;
    },
    at: (name: string) => path.join(folder, name),
    /** One daemon's memory; daemons on one machine share the file. */
    daemon(name = 'shared', options: Parameters<typeof createCheckpointFile>[1] = {}): Identity {
      const checkpoint = createCheckpointFile(path.join(folder, `${name}.json`), options);
      return createIdentity({ ...store, wait: 0, checkpoint });
    },
    async change(identity: Identity, times: number): Promise<void> {
      for (let i = 0; i < times; i += 1)
        identity.saw(await store.redis.hincrby(store.keys.identity, 'sequence', 1));
    },
  };
}
