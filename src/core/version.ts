import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** The folder of the program. */
const ROOT = path.join(import.meta.dirname, '../..');

/** The program's version, from its package. */
export function versionOf(): string {
  const text = readFileSync(path.join(ROOT, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/**
 * The version, and in a checkout the commit on disk as SemVer build metadata (`0.1.0+20c68feb`): between releases, an
 * update changes only that. `root`: the folder of the package.
 */
export function buildOf(root: string = ROOT): string {
  const commit = commitIn(path.join(root, '.git'));
  return commit === undefined ? versionOf() : `${versionOf()}+${commit}`;
}

const SHOWN = 8;

/** Undefined without a repository that this user may read. git itself may be missing, or refuse another user's folder. */
function commitIn(git: string): string | undefined {
  const elsewhere = read(git)?.match(/^gitdir: (.+)$/m)?.[1];
  const folder = elsewhere === undefined ? git : path.resolve(path.dirname(git), elsewhere);
  const head = read(path.join(folder, 'HEAD'))?.trim();
  const ref = head?.match(/^ref: (refs\/(?!.*\.\.)[\w./-]+)$/)?.[1];
  if (ref === undefined) return shortened(head);
  // The branches of a linked worktree are in the repository that it belongs to.
  const common = path.resolve(folder, read(path.join(folder, 'commondir'))?.trim() ?? '.');
  const loose = read(path.join(folder, ref)) ?? read(path.join(common, ref));
  return shortened(loose ?? packed(read(path.join(common, 'packed-refs')), ref));
}

function packed(refs: string | undefined, ref: string): string | undefined {
  return refs?.split('\n').find((line) => line.endsWith(` ${ref}`));
}

function shortened(text: string | undefined): string | undefined {
  return text?.match(/^[0-9a-f]{40,64}\b/)?.[0].slice(0, SHOWN);
}

/** Bytes of a file of git that are read: tens of thousands of packed branches. */
const LARGEST = 4 * 1024 * 1024;

function read(file: string): string | undefined {
  try {
    const found = statSync(file);
    return !found.isFile() || found.size > LARGEST ? undefined : readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
