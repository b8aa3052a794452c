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

/** The file that names whose an inbox is; its leading dot keeps it out of intake. */
const MARKER = '.po-sync-environment';
/** Maximum bytes of a marker. */
const LONGEST = 1024;

/** How often and how long (ms) to wait for the marker that a faster daemon is writing. */
const READS = 20;
const BETWEEN_READS = 50;

/** Whose an inbox is: an environment and its ledger, and the folder in which a host keeps what belongs to that. */
export type Owner = { environment: string; ledger: string; host: string; data: string };

/**
 * Marks an inbox as ours, or checks that it is: two hosts with a private Redis each would both send its orders. The host and
 * folder that marked it may come back with another ledger: the name of the one before is returned, and stays in the marker
 * until `renewMarker`. PoSyncError `inbox-of-another-environment`, `inbox-of-another-ledger`; `environment-marker-invalid`,
 * `folder-is-link`, `folder-missing`, `folder-not-writable` for an unusable inbox.
 */
export async function markInbox(folder: string, own: Owner): Promise<string | undefined> {
  await requireFolder(folder);
  await refuseLinkedFolders(folder);
  const found = (await ownerOf(folder)) ?? (await claim(folder, own));
  const refusal = refusalOf(folder, found, own);
  if (refusal !== undefined) throw refusal;
  return found.ledger === own.ledger ? undefined : found.ledger;
}

/** Marks an inbox with our ledger where it names one that this host and folder had before. Leaves any other one alone. */
export async function renewMarker(folder: string, own: Owner): Promise<void> {
  const found = await ownerOf(folder);
  if (found !== undefined && refusalOf(folder, found, own) === undefined)
    await writeWhole(path.join(folder, MARKER), textOf(own));
}

/** The error of `markInbox` for an inbox of another ledger of our environment, without marking it. */
export async function foreignOwner(folder: string, own: Owner): Promise<PoSyncError | undefined> {
  const found = await ownerOf(folder);
  return found?.environment === own.environment ? refusalOf(folder, found, own) : undefined;
}

function refusalOf(folder: string, found: Owner, own: Owner): PoSyncError | undefined {
  if (found.environment !== own.environment)
    return ofAnotherEnvironment(folder, found.environment, own.environment);
  const isOurs =
    found.ledger === own.ledger || (found.host === own.host && found.data === own.data);
  return isOurs ? undefined : ofAnotherLedger(folder, found, own);
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
 * an inbox was marked last, where it was another one. Throws as `markInbox`.
 */
export async function markInboxes(inboxes: readonly InboxSource[], deps: MarkDeps) {
  const { data } = deps.config;
  const ledger = await ledgerIdOf(deps, path.join(data, 'ledger'));
  const owner: Owner = { environment: deps.config.environment, ledger, host: hostname(), data };
  let ledgerBefore: string | undefined;
  for (const inbox of inboxes) ledgerBefore = (await mark(inbox, owner, deps)) ?? ledgerBefore;
  let isRenewed = ledgerBefore === undefined;

  /** Keeps the name of the ledger in Redis and in the inboxes. Call once the ledger has noticed `ledgerBefore`. */
  async function keep(): Promise<void> {
    await keepLedgerId(deps, ledger);
    if (isRenewed) return;
    for (const inbox of inboxes) await renewMarker(inbox.path, owner);
    isRenewed = true;
  }

  return { ledgerBefore, keep };
}

async function mark(
  { name, path: inbox }: InboxSource,
  owner: Owner,
  { redis, keys, log }: MarkDeps,
): Promise<string | undefined> {
  const wasUsed = (await redis.hexists(keys.heard, name)) === 1;
  const isMarked = (await ownerOf(inbox)) !== undefined;
  const before = await markInbox(inbox, owner);
  if (wasUsed && !isMarked) inboxMarkedAgain(log, { source: name, path: inbox });
  return before;
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

function ofAnotherLedger(folder: string, found: Owner, own: Owner): PoSyncError {
  const marker = path.join(folder, MARKER);
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

/** The environment that an inbox is marked for; undefined without a marker or without the inbox. Throws as `markInbox`. */
export async function environmentOf(folder: string): Promise<string | undefined> {
  return (await ownerOf(folder))?.environment;
}

/** A link, pipe, device or oversized file is never read. */
async function ownerOf(folder: string): Promise<Owner | undefined> {
  const marker = path.join(folder, MARKER);
  try {
    const text = await readShort(marker);
    if (text === '') return undefined;
    const { environment, ledger, host, data } = JSON.parse(text);
    const own = [environment, ledger, host, data];
    if (own.every((one) => typeof one === 'string' && controlCharacterIn(one) === undefined))
      return { environment, ledger, host, data };
  } catch (error) {
    if (['file-missing', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined;
    if (codeOf(error) !== 'not-a-file' && !(error instanceof SyntaxError)) {
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

function textOf(own: Owner): string {
  return `${JSON.stringify(own)}\n`;
}

/** Writes the marker; the slower of two daemons gets the owner that the faster one wrote. */
async function claim(folder: string, own: Owner): Promise<Owner> {
  const marker = path.join(folder, MARKER);
  try {
    await writeFile(marker, textOf(own), { flag: 'wx' });
    return own;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw folderError(error, folder);
  }
  for (let read = 0; read < READS; read++) {
    const owner = await ownerOf(folder);
    if (owner !== undefined) return owner;
    await delay(BETWEEN_READS);
  }
  throw new PoSyncError('folder-trouble', `The environment marker ${marker} is empty.`, {
    remedy: 'Remove it and start po-sync again.',
  });
}
