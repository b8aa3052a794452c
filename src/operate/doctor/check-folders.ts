import { access, constants, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { type Config, type InboxSource, mappingsFor } from '../../config/config.ts';
import { redactedConfig } from '../../config/show.ts';
import { codeOf, explained, PoSyncError, toError } from '../../core/errors.ts';
import { GONE_REMEDY, tryWriting } from '../../core/folder.ts';
import { size, withoutStop } from '../../core/format.ts';
import { requireOwnInbox } from '../../intake/environment-marker.ts';
import { ignoredRemedy, ignoredText } from '../../intake/folders.ts';
import { type Batch, createBatches } from '../../ledger/batches/batches.ts';
import type { Store } from '../../redis/store.ts';
import { fileWaitText } from '../../wording/file-wait.ts';
import { unsettledText } from '../batches/list-batches.ts';
import { checkSource, ignoredOf, takesFiles } from '../delivery/source-status.ts';
import { livingDaemons } from '../heartbeat.ts';
import { goneText } from '../own-folders.ts';
import { checkExport, checkPatterns } from './check-exports.ts';
import { type Finding, fail, failure, fine, warn } from './finding.ts';

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
      source.type === 'inbox'
        ? inboxFolder(source, config.environment)
        : checkExport(source, unusable),
    ),
  ]);
  return [...findings.flat(), ...withoutInbox(config), ...unprotected(config)];
}

/** Where a mapping lets values pass that it does not describe. */
function unprotected(config: Config): Finding[] {
  return config.sources.flatMap(({ name }) =>
    mappingsFor(config, name).flatMap(({ name: key, mapping }): Finding[] => {
      const { columns, otherColumns } = mapping;
      const anything = Object.entries(columns).flatMap(([column, one]) =>
        one !== 'ignore' && 'is' in one && LIKE.has(one.is) && one.like === undefined
          ? [column]
          : [],
      );
      const open = [
        ...(otherColumns === 'ignore' ? ['a column that nobody declared is ignored'] : []),
        ...(anything.length > 0 ? [`${anything.join(' and ')} may have any value`] : []),
      ];
      if (open.length === 0) return [];
      const message = `nothing protects it there: ${open.join(', and ')} (mapping ${key})`;
      const remedy = 'po-sync map FILE proposes `like` for each column, and declares all of them.';
      return [warn(`source ${name}`, message, remedy)];
    }),
  );
}

/** What `like` describes. */
const LIKE: ReadonlySet<string> = new Set(['purchaseOrderNumber', 'articleCode']);

/** Exports deliver, but a person has no place for a corrected fix file. */
function withoutInbox({ sources }: Config): Finding[] {
  if (sources.length === 0 || sources.some(({ type }) => type === 'inbox')) return [];
  const message = 'no source of type inbox: fix files cannot be dropped anywhere';
  return [
    warn('sources', message, 'Add a source of type inbox, or correct orders in the dashboard.'),
  ];
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
  return [warn(check, `not read: ${ignoredText(ignored)}`, ignoredRemedy(ignored))];
}

/** Checks sources as far as the ledger knows more of them than their folders say. */
export async function checkSources(
  place: Pick<Store, 'redis' | 'keys'>,
  config: Config,
): Promise<Finding[]> {
  return [...(await checkMarkers(place, config)), ...(await checkPatterns(place, config))];
}

/** A daemon that runs takes nothing from an inbox without its marker; the next start takes it for the inbox. */
async function checkMarkers(
  place: Pick<Store, 'redis' | 'keys'>,
  config: Config,
): Promise<Finding[]> {
  const isServed = (await livingDaemons(place)).some(takesFiles);
  const found = config.sources.map(async (source): Promise<Finding[]> => {
    const { name, path: folder } = source;
    const wasUsed = (await place.redis.hexists(place.keys.heard, name)) === 1;
    if ((await checkSource(source, config, isServed || wasUsed)).state !== 'no marker') return [];
    const remedy = 'Mount the share, or restart po-sync to use this folder.';
    const isNew = 'the daemon was started without this inbox, or it is another folder now';
    const why = wasUsed ? 'it may be another folder than the inbox that was used' : isNew;
    const state = isServed ? 'fail' : 'warn';
    return [{ check: `inbox ${name}`, state, message: `${folder} has no marker: ${why}`, remedy }];
  });
  return (await Promise.all(found)).flat();
}

/** Batches whose file cannot be read on, or whose report cannot be written. */
export async function checkBatches(place: Pick<Store, 'redis' | 'keys'>): Promise<Finding[]> {
  const found = await createBatches({ ...place, owner: 'doctor' }).underWay();
  return found.flatMap((batch): Finding[] => {
    const { name, unsettled, held } = batch;
    if (held) return [heldFinding(batch, fileWaitText(held))];
    const message = `${name} ${batch.state === 'reading' ? 'cannot be read' : 'has no report yet'}: ${unsettled?.reason}`;
    return unsettled ? [fail(`batch ${batch.batch.slice(-8)}`, message, unsettledText(batch))] : [];
  });
}

function heldFinding({ batch, name }: Batch, reason: string): Finding {
  const message = `${name} is held: ${withoutStop(reason)}`;
  const remedy = `Run po-sync batches show ${batch} to see what to do.`;
  return warn(`batch ${batch.slice(-8)}`, message, remedy);
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
  return [{ check, state, message, remedy: `Free disk space: ${writtenIn(check)} there.` }];
}

/** What needs the room in a folder. */
function writtenIn(check: string): string {
  if (check === DATA) return 'the ledger and copies of exports are written';
  if (check === REPORTS) return 'reports are written';
  return check.startsWith('inbox ')
    ? 'files arrive, and their pages and fix files are written'
    : 'answers are written';
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

/** Each folder once, however many daemons miss it. */
export async function checkFoldersGone(place: Pick<Store, 'redis' | 'keys'>): Promise<Finding[]> {
  const gone = (await livingDaemons(place)).flatMap(({ foldersGone = [] }) => foldersGone);
  const each = new Map(gone.map((one) => [`${one.folder} ${one.path}`, one]));
  return [...each.values()].map((one) =>
    failure(`folder ${one.folder}`, new Error(goneText(one)), GONE_REMEDY),
  );
}
