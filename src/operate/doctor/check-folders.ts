import { randomBytes } from 'node:crypto';
import { access, constants, rm, stat, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config, ExportSource, InboxSource } from '../../config/config.ts';
import { redactedConfig } from '../../config/show.ts';
import { codeOf, toError } from '../../core/errors.ts';
import { fingerprintOf } from '../../intake/environment-marker.ts';
import { type Finding, failure } from './finding.ts';

/** Below so many bytes a disk counts as nearly full. */
const LOW = 200_000_000;

/** The places where an inbox's files go by rename. */
const WITHIN = ['processing', 'done', 'failed'];

/** Looks at every folder of the configuration: there, writable, with room, on one file system, and ours. */
export async function checkFolders(config: Config): Promise<Finding[]> {
  const own = [
    { check: 'folder reports', folder: config.reports.path },
    { check: 'folder data', folder: config.data },
  ];
  const findings = await Promise.all([
    ...own.map(({ check, folder }) => ownFolder(check, folder)),
    ...redactedConfig(config).sources.map((source) =>
      source.type === 'inbox' ? inboxFolder(source, config.environment) : exportPath(source),
    ),
  ]);
  return findings.flat();
}

/** A folder that the daemon makes where it is missing. */
async function ownFolder(check: string, folder: string): Promise<Finding[]> {
  try {
    await tryWriting(folder);
    return [{ check, state: 'ok', message: `${folder} is writable` }, ...(await roomIn(check, folder))];
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return [unusable(check, folder, error)];
  }
  try {
    await access(await nearestFolder(folder), constants.W_OK);
    return [{ check, state: 'ok', message: `${folder} is made at the first start` }];
  } catch (error) {
    return [unusable(check, folder, error)];
  }
}

async function inboxFolder({ name, path: folder }: InboxSource, environment: string): Promise<Finding[]> {
  const check = `inbox ${name}`;
  try {
    await tryWriting(folder);
    const owner = await fingerprintOf(folder);
    if (owner !== undefined && owner !== environment) return [foreign(check, folder, owner, environment)];
    const apart = await otherDevices(folder);
    if (apart.length > 0) return [onOtherDevice(check, folder, apart)];
    const whose = owner === undefined ? 'not marked by an environment yet' : `marked for ${owner}`;
    return [{ check, state: 'ok', message: `${folder} is writable, ${whose}` }, ...(await roomIn(check, folder))];
  } catch (error) {
    return [unusable(check, folder, error)];
  }
}

async function exportPath({ name, path: place }: ExportSource): Promise<Finding[]> {
  const check = `export ${name}`;
  if (/^https?:/.test(place)) return [{ check, state: 'ok', message: `${place} is asked by the daemon` }];
  const folder = /[*?{[]/.test(place) ? path.dirname(place.replace(/[*?{[].*$/, 'x')) : place;
  try {
    await access(folder, constants.R_OK);
    return [{ check, state: 'ok', message: `${place} is readable` }];
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return [unusable(check, folder, error)];
    return [
      { check, state: 'warn', message: `${place} is not there yet`, remedy: 'It is waited for; or correct the path.' },
    ];
  }
}

/** Rights on paper are not rights on a share: only writing tells. */
async function tryWriting(folder: string): Promise<void> {
  const probe = path.join(folder, `.po-sync-doctor-${randomBytes(4).toString('hex')}.tmp`);
  try {
    await writeFile(probe, '', { flag: 'wx' });
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}

async function roomIn(check: string, folder: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= LOW) return [];
  const message = `only ${Math.round(free / 1_000_000)} MB are free on the disk of ${folder}`;
  return [{ check, state: 'warn', message, remedy: 'Free some space: reports and ledger are written there.' }];
}

async function otherDevices(folder: string): Promise<string[]> {
  const { dev } = await stat(folder);
  const devices = await Promise.all(WITHIN.map((name) => stat(path.join(folder, name)).catch(() => undefined)));
  return WITHIN.filter((_, i) => devices[i] !== undefined && devices[i].dev !== dev);
}

async function nearestFolder(folder: string): Promise<string> {
  for (let at = path.dirname(folder); ; at = path.dirname(at)) {
    const found = await stat(at).catch(() => undefined);
    if (found?.isDirectory() || at === path.dirname(at)) return at;
  }
}

function unusable(check: string, folder: string, error: unknown): Finding {
  const code = codeOf(error);
  const reason =
    code === 'ENOENT'
      ? 'is not there'
      : code === 'ENOTDIR'
        ? 'is no folder'
        : `cannot be used (${code ?? toError(error).message})`;
  const remedy =
    code === 'ENOENT' ? 'Make it, mount it, or correct its path.' : 'Let the user of po-sync read, write and enter it.';
  return failure(check, new Error(`${folder} ${reason}`), remedy);
}

function foreign(check: string, folder: string, owner: string, environment: string): Finding {
  const remedy = `Give ${environment} an inbox of its own.`;
  return failure(check, new Error(`${folder} belongs to the environment ${owner}`), remedy);
}

function onOtherDevice(check: string, folder: string, apart: readonly string[]): Finding {
  const message = `${apart.join(' and ')} in ${folder} lie on another file system, so that no rename leads there`;
  return failure(check, new Error(message), 'Let them lie on the file system of the inbox.');
}
