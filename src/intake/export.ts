import { createHash } from 'node:crypto';
import { access, constants, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { ExportSource } from '../config/config.ts';
import { fixedFolder, isPattern, isWebAddress } from '../config/source-schema.ts';
import type { Clock } from '../core/clock.ts';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import { makePath, PRIVATE_FOLDER } from '../core/folder.ts';
import { withoutStop } from '../core/format.ts';
import { openRegularFile, sameStamp, stampOf } from '../core/regular-file.ts';
import type { Semaphore } from '../core/semaphore.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import { exportCopied, exportEmpty, exportOlder } from '../log/events/intake.ts';
import type { Log } from '../log/log.ts';
import { type ClaimedFile, nameBatch } from '../order/batch.ts';
import { filesIn } from './claim.ts';
import type { CopiedFile, ExportVersions, Verdict } from './export-versions.ts';
import { filesOf, originOf, watchedFolder } from './names.ts';
import { newestOf, type ReadyFile, type WhatLacks } from './stability.ts';
import { openWatch, type Watch } from './watch.ts';

export type ExportDeps = {
  source: ExportSource;
  /** Folder for the copies of this source alone. */
  spool: string;
  lacks?: WhatLacks | undefined;
  clock: Clock;
  log: Log;
  /** Claims the version of a copy for this daemon. */
  claim: (copy: CopiedFile) => Promise<Verdict>;
  /** Whether another daemon still reads the version of an earlier copy. */
  isTheirs: (copy: CopiedFile) => Promise<boolean>;
  /** Receives the copy of a new version and owns it from then on. */
  onReady: (copy: ClaimedFile) => Promise<void>;
};

/** The code of a version that cannot be read, like the one before it: a trouble of its source, not of another batch. */
export const STILL_UNREADABLE = 'export-unreadable';

/**
 * Claims a version. Refuses each that is unreadable like the one before it, whose batch says so already; while that one is
 * read, it is not claimed yet.
 */
export async function claimReadable(
  copy: CopiedFile,
  versions: Pick<ExportVersions, 'lastOf' | 'claim'>,
  faultOf: (file: string, source: string) => Promise<PoSyncError | undefined>,
): Promise<Verdict> {
  const last = await versions.lastOf(copy);
  const fault = last && (await faultOf(copy.draft, copy.source));
  if (fault === undefined) return versions.claim(copy);
  if (last === 'reading') return 'theirs';
  const message = `${copy.origin ?? copy.name} still cannot be read, with other content: ${withoutStop(fault.message)}.`;
  throw new PoSyncError(STILL_UNREADABLE, message, {
    remedy: fault.remedy ?? 'Find out what the source sends instead of its export.',
    cause: fault,
  });
}

/**
 * Watches a file, or the files of a pattern, that another program rewrites. The files are only read: each new version
 * is copied into the spool. A missing file is waited for; unchanged content and an empty file create no batch. With
 * `newestOnly`, only the newest file that matches is looked at, also while it is not ready.
 */
export function createExport(deps: ExportDeps): Watch {
  const { source, lacks, spool, clock, log } = deps;
  /**
   * The version of each file that was handled, by size and timestamps. `theirs`: our copy, which is removed, of one that
   * another daemon reads. `error`: it follows an unreadable one and cannot be read either.
   */
  const handled = new Map<string, { version: string; theirs?: CopiedFile; error?: Error }>();
  const folder = watchedFolder(source.path);

  async function list(): Promise<string[]> {
    const all = await filesOf(source);
    if (!source.newestOnly) return all;
    const { newest, others } = await newestOf(all);
    return [...(newest ? [newest.file] : []), ...others];
  }

  async function take({ file, version }: ReadyFile): Promise<void> {
    const before = handled.get(file);
    if (before?.version === version) {
      if (before.error !== undefined) throw before.error;
      if (before.theirs === undefined || (await deps.isTheirs(before.theirs))) return;
    }
    const copied = await copyExport(file, source.name, spool, new Date(clock.now()));
    const copy = { ...copied, origin: originOf(file, source) };
    const onReady = (claimed: ClaimedFile) => {
      // Even if the receiver fails: the copy stays in the spool and is found again.
      handled.set(file, { version });
      return deps.onReady(claimed);
    };
    // The daemon that reads it may die: the next check looks again.
    const verdict = await handOver(copy, { ...deps, onReady }).catch((error: unknown) => {
      if (codeOf(error) === STILL_UNREADABLE) handled.set(file, { version, error: toError(error) });
      throw error;
    });
    handled.set(file, { version, ...(verdict === 'theirs' && { theirs: copy }) });
  }

  return openWatch({ source, clock, log, lacks, folder, list, onReady: take });
}

/** The state of the path of a source; `unreachable` with the code of the system. */
type PathState = {
  state: 'ok' | 'missing' | 'unreachable' | 'not checked';
  code?: string;
};

/** An address is not checked: the daemon reports when it is missing. Of a pattern, the folder before its first wildcard is. */
export async function stateOfPath(path: string): Promise<PathState> {
  if (isWebAddress(path)) return { state: 'not checked' };
  const found = await stateOfFile(path);
  return found.state === 'missing' && isPattern(path) ? stateOfFile(fixedFolder(path)) : found;
}

async function stateOfFile(path: string): Promise<PathState> {
  try {
    await access(path, constants.R_OK);
    return { state: 'ok' };
  } catch (error) {
    const code = codeOf(error) ?? 'unknown';
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { state: 'missing' }
      : { state: 'unreachable', code };
  }
}

const CHUNK = 1024 * 1024;

/** Copies one version of an export into the spool. PoSyncError `file-changed` if the export changed meanwhile. */
export function copyExport(
  file: string,
  source: string,
  spool: string,
  at: Date,
): Promise<CopiedFile> {
  return newCopy({ name: path.basename(file), source, spool, at }, (draft) =>
    copyUnchanged(file, draft),
  );
}

type Content = Pick<CopiedFile, 'sha256' | 'bytes' | 'mtimeNs'>;

/** Makes a copy in `spool/<batch>/`, under a hidden name, with what `fill` writes; nothing is left behind when that fails. */
export async function newCopy<Found extends Content>(
  { name, source, spool, at }: { name: string; source: string; spool: string; at: Date },
  fill: (draft: string) => Promise<Found>,
): Promise<CopiedFile & Found> {
  const batch = nameBatch(at, source, name);
  const folder = path.join(spool, batch);
  await makePath(folder, PRIVATE_FOLDER);
  const draft = path.join(folder, '.part');
  try {
    const content = await fill(draft);
    return {
      batch,
      source,
      kind: 'export',
      name,
      path: path.join(folder, name),
      draft,
      ...content,
    };
  } catch (error) {
    await dropDraft({ draft });
    throw error;
  }
}

/** Removes a copy with its folder. */
export function dropDraft({ draft }: Pick<CopiedFile, 'draft'>): Promise<void> {
  return rm(path.dirname(draft), { recursive: true, force: true });
}

/** Hands a copy over if it is a version that this daemon has to read; removes any other, also when claiming it fails. */
export async function handOver(
  { sha256, bytes, draft, mtimeNs, ...copy }: CopiedFile,
  { log, claim, onReady }: Pick<ExportDeps, 'log' | 'claim' | 'onReady'>,
): Promise<Verdict | 'empty'> {
  const facts = { source: copy.source, file: copy.origin ?? copy.name };
  const copied = { ...copy, sha256, bytes, draft, ...(mtimeNs !== undefined && { mtimeNs }) };
  const drop = () => dropDraft({ draft });
  const claiming = bytes === 0 ? Promise.resolve('empty' as const) : claim(copied);
  const verdict = await claiming.catch((error: unknown) =>
    drop().then(() => Promise.reject(error)),
  );
  if (verdict === 'new') {
    await rename(draft, copy.path);
    exportCopied(log, { ...facts, batch: copy.batch, bytes });
    await onReady(copy);
    return verdict;
  }
  await drop();
  if (verdict === 'empty') exportEmpty(log, facts);
  else if (verdict === 'older') exportOlder(log, facts);
  return verdict;
}

async function copyUnchanged(from: string, to: string): Promise<Content> {
  await using input = await openRegularFile(from);
  await using output = await open(to, 'wx');
  const stamp = await stampOf(input);
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafeSlow(CHUNK);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await input.read(buffer, 0, CHUNK, bytes);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    await output.writeFile(chunk);
    bytes += bytesRead;
  }
  await output.sync();
  if (!sameStamp(await stampOf(input), stamp)) throw changed(from);
  return { sha256: hash.digest('hex'), bytes, mtimeNs: stamp.mtimeNs };
}

function changed(file: string): PoSyncError {
  return new PoSyncError('file-changed', `${file} changed while it was copied.`, {
    facts: { file },
  });
}

/** The copies of an export in its spool, the oldest first. Removes old empty folders. */
export async function leftCopies(spool: string, source: string): Promise<ClaimedFile[]> {
  return filesIn(spool, source, 'export');
}

/** How long a version of an export waits for an older one, which a pause may keep, and between two looks. Milliseconds. */
const TURN = 60_000;
const LOOK_AGAIN = 200;

type TurnsDeps = { batches: Pick<Batches, 'find'>; clock: Clock; stopping: AbortSignal };

/**
 * Builds what reads a file in a slot: a version of an export when the older ones were read, by whichever daemon. It does not wait
 * for one that makes no progress for a minute.
 */
export function createTurns({ batches, clock, stopping }: TurnsDeps, slots: Semaphore) {
  /** The older versions that are not read to their end. */
  async function olderUnread({ batch, source, path: file }: ClaimedFile) {
    const copies = (await leftCopies(path.dirname(path.dirname(file)), source)).map(
      (one) => one.batch,
    );
    const older = copies.slice(0, Math.max(0, copies.indexOf(batch)));
    const found = await Promise.all(
      older.map(async (one) => (await batches.find(one)) ?? { batch: one }),
    );
    return found.filter((one) => !('state' in one) || one.state === 'reading');
  }

  async function untilRead(copy: ClaimedFile): Promise<void> {
    let last = { unread: '', at: 0 };
    while (copy.kind === 'export' && !stopping.aborted) {
      // Reading it shows what is wrong with Redis or the folder.
      const older = await olderUnread(copy).catch(() => []);
      const [unread, now] = [older.map(({ batch }) => batch).join(), clock.monotonic()];
      if (unread !== last.unread) last = { unread, at: now };
      if (unread === '' || now - last.at >= TURN) return;
      await clock.sleep(LOOK_AGAIN, stopping);
    }
  }

  return (file: ClaimedFile, task: () => Promise<void>): Promise<void> =>
    untilRead(file).then(() => slots.hold(task));
}
