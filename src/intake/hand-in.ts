import { copyFile, mkdir, rename, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import type { Config, Source } from '../config/config.ts';
import { makePath, PRIVATE_FOLDER } from '../core/folder.ts';
import { draftPath, syncFile } from '../core/regular-file.ts';
import { type ClaimedFile, nameBatch } from '../order/batch.ts';
import { filesIn, PROCESSING } from './claim.ts';
import { openOwnFolder } from './folders.ts';

type HandInDeps = { config: Pick<Config, 'data'>; at: Date };

/** A file that a person submits at the admin port: what it is called, and where its bytes are. */
export type HandedFile = { name: string; from: string };

/**
 * Copies a file to where a claimed file of its source is, so that it is read like a dropped one, also after a crash: in
 * `processing/` of an inbox, or below `data` for an export, whose file is never written. Before the file appears,
 * `announce` is called with its batch; when that throws, nothing appears. PoSyncError `folder-…` as `openOwnFolder`.
 */
export async function handIn(
  { name, from }: HandedFile,
  source: Source,
  { config, at }: HandInDeps,
  announce: (batch: string) => Promise<void>,
): Promise<ClaimedFile> {
  const batch = nameBatch(at, source.name, name);
  await using parent = await openParent(source, config);
  const folder = path.join(parent.path, batch);
  await mkdir(folder);
  const draft = draftPath(folder);
  try {
    await copyFile(from, draft);
    await syncFile(draft);
    await announce(batch);
    await rename(draft, path.join(folder, name));
  } catch (error) {
    await rm(draft, { force: true });
    await rmdir(folder);
    throw error;
  }
  const kind = source.type === 'inbox' ? 'inbox' : 'handed-in';
  return { batch, source: source.name, kind, name, path: path.join(parent.shown, batch, name) };
}

async function openParent(source: Source, config: HandInDeps['config']) {
  if (source.type === 'inbox') return openOwnFolder(source.path, PROCESSING);
  const shown = handedInOf(config, source.name);
  await makePath(shown, PRIVATE_FOLDER);
  return { path: shown, shown, [Symbol.asyncDispose]: async () => undefined };
}

/** The files that were submitted for an export and are not finished, the oldest batch first. */
export function leftHandedIn(config: HandInDeps['config'], source: string): Promise<ClaimedFile[]> {
  return filesIn(handedInOf(config, source), source, 'handed-in');
}

function handedInOf({ data }: HandInDeps['config'], source: string): string {
  return path.join(data, 'handed-in', source);
}
