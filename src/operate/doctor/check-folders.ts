import { access, constants, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Config, ExportSource, InboxSource } from '../../config/config.ts';
import { redactedConfig } from '../../config/show.ts';
import { codeOf, explained, PoSyncError, toError } from '../../core/errors.ts';
import { tryWriting } from '../../core/folder.ts';
import { size } from '../../core/format.ts';
import { requireOwnInbox } from '../../intake/environment-marker.ts';
import { stateOfPath } from '../../intake/export.ts';
import { IGNORED_REMEDY, ignoredText } from '../../intake/folders.ts';
import { ignoredOf } from '../delivery/source-status.ts';
import { type Finding, failure, fine, warn } from './finding.ts';

/** A disk with fewer free bytes is nearly full. */
const LOW = 200_000_000;

/** A disk with fewer free bytes is full: Redis writes a log and replaces it from time to time, and a report has several files. */
const FULL = 1_000_000;

/** The check of the folder that the private Redis and the checkpoint of the ledger need. */
const DATA = 'folder data';

/** The check of the folder that every batch needs to end. */
const REPORTS = 'folder reports';

/** The folders to which an inbox's files are renamed. */
const WITHIN = ['processing', 'done', 'failed'];

/** Checks every folder of the configuration: exists, writable, free space, one file system, right environment. */
export async function checkFolders(config: Config): Promise<Finding[]> {
  const own = [
    { check: REPORTS, folder: config.reports.path },
    { check: DATA, folder: config.data },
  ];
  const answers = config.sources.flatMap(({ name, answers: folder }) =>
    folder === undefined ? [] : [{ name, folder }],
  );
  const findings = await Promise.all([
    ...answers.map(({ name, folder }) => writable(`answers of ${name}`, folder)),
    ...own.map(({ check, folder }) => ownFolder(check, folder)),
    ...redactedConfig(config).sources.map((source) =>
      source.type === 'inbox' ? inboxFolder(source, config.environment) : checkExport(source),
    ),
  ]);
  return findings.flat();
}

/** A folder that the daemon creates if it is missing. */
async function ownFolder(check: string, folder: string): Promise<Finding[]> {
  if ((await access(folder).catch(codeOf)) !== 'ENOENT') return writable(check, folder);
  try {
    await access(await nearestFolder(folder), constants.W_OK);
    return [fine(check, `${folder} does not exist and is created at a start`)];
  } catch (error) {
    return [unusable(check, folder, error)];
  }
}

async function writable(check: string, folder: string): Promise<Finding[]> {
  try {
    await tryWriting(folder);
    return withRoom(fine(check, `${folder} is writable`), await roomIn(check, folder));
  } catch (error) {
    return [unusable(check, folder, error)];
  }
}

/** An empty file can be created on a full disk: then only the disk is reported. */
export function withRoom(written: Finding, room: readonly Finding[]): Finding[] {
  return room.some(({ state }) => state === 'fail') ? [...room] : [written, ...room];
}

async function inboxFolder(source: InboxSource, environment: string): Promise<Finding[]> {
  const { name, path: folder } = source;
  const check = `inbox ${name}`;
  try {
    await tryWriting(folder);
    const owner = await requireOwnInbox(folder, environment);
    const elsewhere = await onOtherDevices(folder);
    if (elsewhere.length > 0) return [otherDevice(check, folder, elsewhere)];
    const whose = owner === undefined ? 'without the marker of an environment' : `used by ${owner}`;
    const writable: Finding = fine(check, `${folder} is writable, ${whose}`);
    return [writable, ...(await notRead(check, source)), ...(await roomIn(check, folder))];
  } catch (error) {
    return [unusable(check, folder, error)];
  }
}

async function notRead(check: string, source: InboxSource): Promise<Finding[]> {
  const ignored = await ignoredOf(source);
  if (ignored === undefined) return [];
  return [warn(check, `not read: ${ignoredText(ignored)}`, IGNORED_REMEDY)];
}

async function roomIn(check: string, folder: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(folder);
  return roomFinding(check, folder, bavail * bsize);
}

/**
 * `free`: bytes that are left on the disk of a folder. Without room in `data`, the private Redis ends and nothing is
 * delivered; without room for reports, no batch ends.
 */
export function roomFinding(check: string, folder: string, free: number): Finding[] {
  if (free >= LOW) return [];
  const message = `only ${size(free)} free on the disk of ${folder}`;
  const state = [DATA, REPORTS].includes(check) && free < FULL ? 'fail' : 'warn';
  return [{ check, state, message, remedy: 'Free disk space there.' }];
}

async function onOtherDevices(folder: string): Promise<string[]> {
  const { dev } = await stat(folder);
  const devices = await Promise.all(
    WITHIN.map((name) => stat(path.join(folder, name)).catch(() => undefined)),
  );
  return WITHIN.filter((_, i) => devices[i] !== undefined && devices[i].dev !== dev);
}

async function nearestFolder(folder: string): Promise<string> {
  for (let at = path.dirname(folder); ; at = path.dirname(at)) {
    const found = await stat(at).catch(() => undefined);
    if (found?.isDirectory() || at === path.dirname(at)) return at;
  }
}

/** Why a folder cannot be used, and what helps: a right does not help where the disk is the reason. */
export function unusable(check: string, folder: string, error: unknown): Finding {
  if (error instanceof PoSyncError) return failure(check, error);
  const code = codeOf(error) ?? '';
  const plain = `cannot be used (${code || toError(error).message})`;
  const [reason = plain, remedy = remedyOf(error)] = REASONS[code] ?? [];
  return failure(check, new Error(`${folder} ${reason}`), remedy);
}

const REASONS: Record<string, [reason: string, remedy?: string]> = {
  ENOENT: [
    'does not exist',
    'Mount it or move it back, or correct its path. Create it only if it is new.',
  ],
  ENOTDIR: ['is not a folder', 'Remove or rename the file with its name, or correct its path.'],
  EROFS: ['cannot be written: its file system is read-only (EROFS)'],
  ENOSPC: ['cannot be written: its disk is full (ENOSPC)'],
  EDQUOT: ['cannot be written: the disk quota is used up (EDQUOT)'],
};

function remedyOf(error: unknown): string {
  const rights = 'Give the user that runs po-sync permission to read, write and enter it.';
  if (['EACCES', 'EPERM'].includes(codeOf(error) ?? '')) return rights;
  const known = explained(error);
  return (known instanceof PoSyncError ? known.remedy : undefined) ?? rights;
}

function otherDevice(check: string, folder: string, elsewhere: readonly string[]): Finding {
  const message = `${elsewhere.join(' and ')} in ${folder} ${elsewhere.length === 1 ? 'is' : 'are'} on another file system; files cannot be renamed into ${elsewhere.length === 1 ? 'it' : 'them'}`;
  return failure(check, new Error(message), 'Move them to the file system of the inbox.');
}

/** Checks the path of an export: readable, or the folder of its pattern. */
async function checkExport({ name, path: place }: ExportSource): Promise<Finding> {
  const check = `export ${name}`;
  const { state, code } = await stateOfPath(place);
  switch (state) {
    case 'ok':
      return fine(check, `${place} is readable`);
    case 'not checked':
      return fine(check, `${place} is an address; the daemon checks it`);
    case 'unreachable':
      return unusable(check, place, Object.assign(new Error(code), { code }));
    case 'missing':
      return warn(
        check,
        `${place} does not exist yet`,
        'The daemon waits for it. If the path is wrong, correct it.',
      );
  }
}
