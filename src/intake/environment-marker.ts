import { access, constants, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config, InboxSource } from '../config/config.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import { openRegularFile, writeWhole } from '../core/regular-file.ts';
import { keepLedgerId, ledgerIdOf } from '../ledger/ledger-id.ts';
import { inboxMarkedAgain } from '../log/events/intake.ts';
import type { Log } from '../log/log.ts';
import { controlCharacterIn } from '../order/text.ts';
import type { Store } from '../redis/store.ts';
import { folderError, refuseLinkedFolders } from './folders.ts';

/** The file that contains the name of the environment an inbox belongs to; its leading dot keeps it out of intake. */
const MARKER = '.po-sync-environment';
/** The file that names the ledger of an inbox. Its own file, because older versions read only the other one. */
const LEDGER_MARKER = '.po-sync-ledger';
/** Maximum bytes of a marker. */
const LONGEST = 1024;

/** How often and how long (ms) to wait for the marker that a faster daemon is writing. */
const READS = 20;
const BETWEEN_READS = 50;

/**
 * Marks an inbox as belonging to `environment`, or checks that it does. PoSyncError `inbox-of-another-environment`;
 * `environment-marker-invalid`, `folder-is-link`, `folder-missing`, `folder-not-writable` for an unusable inbox.
 */
export async function markInbox(folder: string, environment: string): Promise<void> {
  const marker = path.join(folder, MARKER);
  await requireFolder(folder);
  await refuseLinkedFolders(folder);
  const owner = (await environmentOf(folder)) || (await claim(marker, environment));
  if (owner !== environment) throw ofAnotherEnvironment(folder, owner, environment);
}

function ofAnotherEnvironment(folder: string, owner: string, environment: string): PoSyncError {
  const marker = path.join(folder, MARKER);
  return new PoSyncError(
    'inbox-of-another-environment',
    `The inbox ${folder} belongs to the environment ${owner}.`,
    {
      remedy: `Give ${environment} its own inbox. If ${owner} no longer uses this one, empty it and remove ${marker}.`,
      facts: { folder, environment, owner },
    },
  );
}

type MarkDeps = Pick<Store, 'redis' | 'keys'> & {
  config: Pick<Config, 'environment' | 'data'>;
  log: Log;
};

/**
 * Marks inboxes as belonging to this environment and ledger. `ledgerBefore`: the ledger that this host and folder had when
 * an inbox was marked last, where it was another one. Throws as `markInbox` and `markLedger`.
 */
export async function markInboxes(inboxes: readonly InboxSource[], deps: MarkDeps) {
  const { data } = deps.config;
  const ledger = await ledgerIdOf(deps, path.join(data, 'ledger'));
  const owner = { ledger, host: hostname(), data };
  let ledgerBefore: string | undefined;
  for (const inbox of inboxes) ledgerBefore = (await mark(inbox, owner, deps)) ?? ledgerBefore;
  let isRenewed = ledgerBefore === undefined;

  /** Keeps the name of the ledger in Redis and in the inboxes. Call once the ledger has noticed `ledgerBefore`. */
  async function keep(): Promise<void> {
    await keepLedgerId(deps, ledger);
    if (isRenewed) return;
    for (const inbox of inboxes) await renewLedger(inbox.path, owner);
    isRenewed = true;
  }

  return { ledgerBefore, keep };
}

async function mark(
  { name, path: inbox }: InboxSource,
  owner: LedgerOwner,
  { redis, keys, log, config }: MarkDeps,
) {
  const wasUsed = (await redis.hexists(keys.heard, name)) === 1;
  const isMarked = (await environmentOf(inbox)) !== undefined;
  await markInbox(inbox, config.environment);
  if (wasUsed && !isMarked) inboxMarkedAgain(log, { source: name, path: inbox });
  return markLedger(inbox, owner);
}

/** The environment that an inbox is marked for, without marking it. Throws as `markInbox` and `environmentOf`. */
export async function requireOwnInbox(
  folder: string,
  environment: string,
): Promise<string | undefined> {
  const owner = await environmentOf(folder);
  if (owner !== undefined && owner !== environment)
    throw ofAnotherEnvironment(folder, owner, environment);
  return owner;
}

/** A ledger, and the folder in which a host keeps what belongs to it. */
export type LedgerOwner = { ledger: string; host: string; data: string };

/**
 * Marks an inbox as belonging to a ledger, or checks that it does, so that two hosts with a private Redis each never share
 * it: each would send its orders. The host and folder that marked it may come back with another ledger: the name of the one
 * before is returned, and stays in the marker until `renewLedger`.
 * PoSyncError `inbox-of-another-ledger`; `environment-marker-invalid` for a file that is no marker.
 */
export async function markLedger(folder: string, own: LedgerOwner): Promise<string | undefined> {
  const found = await ledgerOwnerOf(folder);
  if (found === undefined) await writeLedger(folder, own);
  else if (!mayTake(found, own)) throw ofAnotherLedger(folder, found, own);
  return found?.ledger === own.ledger ? undefined : found?.ledger;
}

/** Marks an inbox with our ledger where it names one that this host and folder had before. Leaves any other one alone. */
export async function renewLedger(folder: string, own: LedgerOwner): Promise<void> {
  const found = await ledgerOwnerOf(folder);
  if (found !== undefined && found.ledger !== own.ledger && mayTake(found, own))
    await writeLedger(folder, own);
}

function writeLedger(folder: string, own: LedgerOwner): Promise<void> {
  return writeWhole(path.join(folder, LEDGER_MARKER), `${JSON.stringify(own)}\n`);
}

/** The error of `markLedger`, without marking anything; undefined when the inbox is free or our own. */
export async function foreignLedger(
  folder: string,
  own: LedgerOwner,
): Promise<PoSyncError | undefined> {
  const found = await ledgerOwnerOf(folder);
  return found === undefined || mayTake(found, own)
    ? undefined
    : ofAnotherLedger(folder, found, own);
}

async function ledgerOwnerOf(folder: string): Promise<LedgerOwner | undefined> {
  const marker = path.join(folder, LEDGER_MARKER);
  return ownerIn(await markerText(marker, folder), marker);
}

function mayTake(found: LedgerOwner, own: LedgerOwner): boolean {
  return found.ledger === own.ledger || (found.host === own.host && found.data === own.data);
}

function ofAnotherLedger(folder: string, found: LedgerOwner, own: LedgerOwner): PoSyncError {
  const marker = path.join(folder, LEDGER_MARKER);
  const where = `${found.data} on ${found.host}`;
  const back =
    found.host === own.host
      ? `If this is the same po-sync, set data back to ${found.data}, or move that folder to ${own.data}. `
      : '';
  return new PoSyncError(
    'inbox-of-another-ledger',
    `The inbox ${folder} belongs to the ledger of ${where}.`,
    {
      remedy: `${back}All hosts that share an inbox need the same Redis: set redis.url. If ${found.host} no longer uses it, remove ${marker}.`,
      facts: { folder, host: found.host, data: found.data },
    },
  );
}

function ownerIn(text: string | undefined, marker: string): LedgerOwner | undefined {
  if (text === undefined) return undefined;
  try {
    const { ledger, host, data } = JSON.parse(text);
    if ([ledger, host, data].every((one) => typeof one === 'string')) return { ledger, host, data };
  } catch {
    // Reported below, like a marker of another shape.
  }
  throw invalidMarker(marker);
}

function invalidMarker(marker: string): PoSyncError {
  return new PoSyncError(
    'environment-marker-invalid',
    `${marker} is not an environment marker written by po-sync.`,
    {
      remedy: 'Find out who created it, remove it, and start po-sync again.',
      facts: { file: marker },
    },
  );
}

/**
 * The environment that an inbox is marked for; undefined without a marker or without the inbox.
 * PoSyncError `environment-marker-invalid` for a link, pipe, device or oversized file, which is never read.
 */
export async function environmentOf(folder: string): Promise<string | undefined> {
  return markerText(path.join(folder, MARKER), folder);
}

async function markerText(marker: string, folder: string): Promise<string | undefined> {
  try {
    const text = await readShort(marker);
    if (controlCharacterIn(text) === undefined) return text;
  } catch (error) {
    if (['file-missing', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined;
    if (codeOf(error) !== 'not-a-file') {
      // What is in a folder that cannot be entered cannot be read either.
      await access(folder, constants.X_OK).catch((shut: unknown) =>
        Promise.reject(folderError(shut, folder)),
      );
      throw error instanceof PoSyncError ? error : folderError(error, folder);
    }
  }
  throw invalidMarker(marker);
}

async function readShort(file: string): Promise<string> {
  await using handle = await openRegularFile(file);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(LONGEST + 1), 0, LONGEST + 1, 0);
  // The error that callers already handle for everything that cannot be a marker.
  if (bytesRead > LONGEST)
    throw new PoSyncError('not-a-file', `${file} is larger than ${LONGEST} bytes.`);
  return buffer.toString('utf8', 0, bytesRead).trim();
}

/** Throws PoSyncError `folder-missing` and the like for a folder that cannot be used. `key`: as in `folderError`. */
export async function requireFolder(folder: string, key?: string): Promise<void> {
  const found = await stat(folder).catch((error: unknown) =>
    Promise.reject(folderError(error, folder, key)),
  );
  if (!found.isDirectory()) throw folderError({ code: 'ENOTDIR' }, folder, key);
}

/** Writes the marker; the slower of two daemons gets the environment of the faster one. */
async function claim(marker: string, environment: string): Promise<string> {
  try {
    await writeFile(marker, `${environment}\n`, { flag: 'wx' });
    return environment;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return await firstOwner(marker);
    throw folderError(error, path.dirname(marker));
  }
}

async function firstOwner(marker: string): Promise<string> {
  for (let read = 0; read < READS; read++) {
    const owner = await environmentOf(path.dirname(marker));
    if (owner !== undefined && owner !== '') return owner;
    await delay(BETWEEN_READS);
  }
  throw new PoSyncError('folder-trouble', `The environment marker ${marker} is empty.`, {
    remedy: 'Remove it and start po-sync again.',
  });
}
