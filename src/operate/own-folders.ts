import { stat } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import { startLoop } from '../core/backoff/loop.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import {
  closeFolder,
  GONE_REMEDY,
  keepFolder,
  makePath,
  PRIVATE_FOLDER,
  tryWriting,
} from '../core/folder.ts';
import { requireFolder } from '../intake/environment-marker.ts';
import { folderError } from '../intake/folders.ts';
import { folderBack, folderLost } from '../log/events/daemon.ts';
import { deliveryTrouble } from '../log/events/delivery.ts';
import type { DaemonInput } from './daemon.ts';
import type { GoneFolder } from './heartbeat.ts';

type Input = Pick<DaemonInput, 'config' | 'clock' | 'log' | 'self'>;

/** Milliseconds between two looks. */
const PAUSE = 2_000;

/**
 * Creates the folder of data, and that of reports if this daemon writes them. From then on, nobody in this process creates
 * them again, and `gone` has those that vanished: without that, an unmounted disk would be replaced by an empty folder.
 * Throws PoSyncError `folder-unusable`, `folder-not-private`, `folder-not-writable`; as `requireFolder` where an inbox or a
 * folder of answers is missing.
 */
export async function openOwnFolders({ config, clock, log, self }: Input) {
  await using resources = new AsyncDisposableStack();
  // First: a start with a wrong path leaves nothing behind.
  if (self.role !== 'delivery') await requireSourceFolders(config);
  const own = ownFolders(config).filter(
    ({ folder }) => folder === 'data' || self.role !== 'delivery',
  );
  for (const { folder, path, key } of own) {
    await makeFolder(
      path,
      `${key} in ${config.file}`,
      folder === 'data' ? PRIVATE_FOLDER : undefined,
    );
    if (folder === 'data') await closeFolder(path);
    await requirePermission(path, `${key} in ${config.file}`);
    resources.use(keepFolder(path));
  }
  const lost = new Map<string, number>();

  async function look(): Promise<void> {
    const now = clock.monotonic();
    for (const { folder, path } of own) {
      const since = lost.get(folder);
      if (await isThere(path)) {
        if (since === undefined) continue;
        lost.delete(folder);
        folderBack(log, { folder, path, durationMs: Math.round(now - since) });
      } else if (since === undefined) {
        lost.set(folder, now);
        folderLost(log, { folder, path, remedy: GONE_REMEDY });
      }
    }
  }

  const onTrouble = (error: Error) => deliveryTrouble(log, { reason: error.message });
  resources.use(startLoop(look, { pause: PAUSE, clock, onTrouble }));
  const open = resources.move();
  return {
    gone: (): GoneFolder[] =>
      own.filter(({ folder }) => lost.has(folder)).map(({ folder, path }) => ({ folder, path })),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function requireSourceFolders({ sources, file }: Config): Promise<void> {
  for (const [i, source] of sources.entries()) {
    if (source.type === 'inbox') await requireFolder(source.path, `sources[${i}].path in ${file}`);
    if (source.answers !== undefined)
      await requireFolder(source.answers, `sources[${i}].answers in ${file}`);
  }
}

/** A full disk may have room later; permissions remain until somebody changes them. */
async function requirePermission(folder: string, key: string): Promise<void> {
  await tryWriting(folder).catch((error: unknown) => {
    if (['EACCES', 'EPERM'].includes(codeOf(error) ?? '')) throw folderError(error, folder, key);
  });
}

function ownFolders({ data, reports }: Config) {
  return [
    { folder: 'reports', path: reports.path, key: 'reports.path' },
    { folder: 'data', path: data, key: 'data' },
  ];
}

/** Only a missing folder counts: the readiness check shows other trouble. */
async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(codeOf)) !== 'ENOENT';
}

async function makeFolder(path: string, key: string, mode?: number): Promise<void> {
  await makePath(path, mode).catch((error: unknown) => {
    const reason = codeOf(error) ?? 'unknown error';
    const isFile = reason === 'EEXIST' || reason === 'ENOTDIR';
    const trouble = isFile
      ? `${path} cannot be used as a folder: ${reason === 'EEXIST' ? 'it' : 'a part of its path'} is a file.`
      : `Folder ${path} cannot be created (${reason}).`;
    const remedy = `${isFile ? 'Enter a folder as' : 'Create it, or correct'} ${key}.`;
    throw new PoSyncError('folder-unusable', trouble, { remedy, facts: { path }, cause: error });
  });
}

/** That a folder of a running daemon is gone, for people. */
export function goneText({ path }: GoneFolder): string {
  return `${path} was there when the daemon started, and is gone`;
}
