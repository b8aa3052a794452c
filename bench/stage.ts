import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Api, startApi } from './api/start-api.ts';
import type { Contender } from './contenders/contender.ts';
import { forkContender } from './contenders/forked.ts';
import { openRedis } from './contenders/open-redis.ts';
import { openPoSync, type PoSync } from './contenders/po-sync.ts';
import { type OrderFile, writeOrderFile } from './order-file.ts';

/** The resources of the rows. A contender is opened on first use and stays open, so that all are warm. */
export type Stage = AsyncDisposable & {
  /** The one-minute form: fewer and smaller rounds. */
  quick: boolean;
  /** The rivals of po-sync; Node-RED only if it is installed separately. */
  rivals: readonly RivalName[];
  api: Api;
  poSync(): Promise<PoSync>;
  rival(name: RivalName): Promise<Contender>;
  writeFile(orders: number): Promise<OrderFile>;
  /** A new folder that is removed with the stage. */
  makeFolder(): Promise<string>;
  /** Prints progress. */
  say(text: string): void;
};

export type RivalName = 'undici' | 'fetch' | 'bullmq';

const RIVALS: readonly RivalName[] = ['undici', 'fetch', 'bullmq'];

export async function openStage({ quick }: { quick: boolean }): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const root = await mkdtemp(path.join(tmpdir(), 'po-sync-bench-'));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  const api = stack.use(await startApi());
  const open = new Map<string, Promise<Contender>>();
  let daemon: Promise<PoSync> | undefined;
  const kept = stack.move();

  function poSync(): Promise<PoSync> {
    daemon ??= makeFolder()
      .then((folder) => openPoSync(folder, api))
      .then((opened) => kept.use(opened));
    return daemon;
  }

  function rival(name: RivalName): Promise<Contender> {
    const contender = open.get(name) ?? openRival(name);
    open.set(name, contender);
    return contender;
  }

  async function openRival(name: RivalName): Promise<Contender> {
    if (name !== 'bullmq') return kept.use(await forkContender(`${name}.program.ts`, api.origin));
    const { url, redis } = kept.use(await openRedis(await makeFolder()));
    return kept.use(await forkContender('bullmq.program.ts', api.origin, { url, redis }));
  }

  const makeFolder = () => mkdtemp(path.join(root, 'part-'));
  return {
    quick,
    rivals: RIVALS,
    api,
    poSync,
    rival,
    makeFolder,
    writeFile: (orders) => writeOrderFile(root, orders),
    say: (text) =>
      void process.stderr.write(
        `${(performance.now() / 1000).toFixed(0).padStart(4)} s  ${text}\n`,
      ),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
