import { readdir, stat } from 'node:fs/promises';
import type { Config, Source } from '../../config/config.ts';
import { fixedFolder } from '../../config/rules/sources.ts';
import { redactedConfig } from '../../config/show.ts';
import { isWebAddress } from '../../config/source-schema.ts';
import { codeOf } from '../../core/errors.ts';
import { environmentOf } from '../../intake/environment-marker.ts';
import { matchesAny } from '../../intake/export.ts';
import { type Ignored, ignoredIn } from '../../intake/folders.ts';
import { isLeftAlone } from '../../intake/names.ts';
import type { Batch } from '../../ledger/batches/batches.ts';
import type { LivingDaemon } from '../daemon.ts';

export type SourceStatus = {
  name: string;
  type: Source['type'];
  path: string;
  /** Of the file, or of a pattern's folder. `no match`: no file matches the pattern. `no marker`: this inbox was
   * used, and now it has no marker, so it may be another folder. `other environment`: it belongs to `owner`. `unreachable`, with
   * the system's error code; `not checked`: an address. */
  state: 'ok' | 'missing' | 'no match' | 'no marker' | 'other environment' | 'unreachable' | 'not checked';
  owner?: string;
  code?: string;
  /** What is not read in an inbox: folders, links and other things that are not files, and files without permission; absent when there is nothing. */
  ignored?: Ignored;
  /** Files in an inbox that no daemon has taken yet; absent when there are none. */
  waiting?: number;
  last?: { batch: string; file: string; at: number };
};

/** The sources, with the last batch of each among the newest. `daemons`: one of them may have marked the inboxes. */
export async function sourcesOf(
  config: Config,
  newest: readonly Batch[],
  daemons: readonly LivingDaemon[],
): Promise<SourceStatus[]> {
  const last = lastBatches(newest);
  const { sources } = redactedConfig(config);
  return Promise.all(
    sources.map(async (source, i) => {
      const { name, type, path } = source;
      const batch = last.get(name);
      const ignored = await ignoredOf(config.sources[i]);
      const checked = await checkSource(source, config, batch !== undefined || daemons.some(takesFiles));
      const waiting = (await filesToTake({ sources: config.sources.slice(i, i + 1) })).length;
      return {
        name,
        type,
        path,
        ...checked,
        ...(ignored === undefined ? {} : { ignored }),
        ...(waiting === 0 || checked.state === 'other environment' ? {} : { waiting }),
        ...(batch ? { last: { batch: batch.batch, file: batch.name, at: batch.startedAt } } : {}),
      };
    }),
  );
}

/** An unmounted share leaves an empty folder without the marker of an inbox that was used. */
export async function checkSource(
  { type, path }: Pick<Source, 'type' | 'path'>,
  { environment }: Pick<Config, 'environment'>,
  wasUsed: boolean,
): Promise<Pick<SourceStatus, 'state' | 'owner' | 'code'>> {
  const found = await checkPath(path);
  if (type !== 'inbox' || found.state !== 'ok') return found;
  // A marker that cannot be read is that of an inbox, too.
  const owner = await environmentOf(path).catch(() => environment);
  if (owner === undefined) return wasUsed ? { state: 'no marker' } : found;
  return owner === environment ? found : { state: 'other environment', owner };
}

/** What is wrong with the folder of an inbox that is there; undefined if nothing is. */
export function inboxTrouble({ state, owner }: Pick<SourceStatus, 'state' | 'owner'>): string | undefined {
  if (state === 'no marker') return NO_MARKER;
  return state === 'other environment' ? `it belongs to ${owner}: a daemon does not start with it` : undefined;
}

/** Such a daemon marked every inbox when it started. */
export function takesFiles({ role }: Pick<LivingDaemon, 'role'>): boolean {
  return role !== 'delivery';
}

/** What to do about an inbox without its marker. */
export const NO_MARKER = 'may be another folder: mount the share, or restart po-sync to use this one';

/** Undefined also where the inbox cannot be read: its state says so. */
export async function ignoredOf(source: Source | undefined): Promise<Ignored | undefined> {
  if (source?.type !== 'inbox') return undefined;
  const found = await ignoredIn(source).catch(() => undefined);
  return found === undefined || found.total === 0 ? undefined : found;
}

/** The files in inboxes that a daemon takes when it sees them; none of an inbox that this user cannot read. */
export async function filesToTake({ sources }: Pick<Config, 'sources'>): Promise<string[]> {
  const found = await Promise.all(
    sources.map(async (source) => {
      if (source.type !== 'inbox') return [];
      const entries = await readdir(source.path, { withFileTypes: true }).catch(() => []);
      return entries.filter((one) => one.isFile() && !isLeftAlone(one.name, source.doneFile)).map(({ name }) => name);
    }),
  );
  return found.flat();
}

function lastBatches(newest: readonly Batch[]): Map<string, Batch> {
  const found = new Map<string, Batch>();
  for (const batch of newest) if (!found.has(batch.source)) found.set(batch.source, batch);
  return found;
}

/** An address is not checked: the daemon reports when it is missing. Of a pattern, the folder before its first wildcard is. */
export async function checkPath(path: string): Promise<Pick<SourceStatus, 'state' | 'code'>> {
  if (isWebAddress(path)) return { state: 'not checked' };
  const isThere = await exists(path);
  if (isThere.state !== 'missing' || !/[*?{[]/.test(path)) return isThere;
  const folder = await exists(fixedFolder(path));
  return folder.state !== 'ok' || (await matchesAny(path)) ? folder : { state: 'no match' };
}

async function exists(path: string): Promise<Pick<SourceStatus, 'state' | 'code'>> {
  try {
    await stat(path);
    return { state: 'ok' };
  } catch (error) {
    const code = codeOf(error) ?? 'unknown';
    return code === 'ENOENT' || code === 'ENOTDIR' ? { state: 'missing' } : { state: 'unreachable', code };
  }
}
