import { copyFile, link, lstat, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { codeOf, PoSyncError } from '../core/errors.ts';
import { besideName } from './beside-name.ts';
import { draftPath } from './draft.ts';
import { FIX_FILE_NAMES, type FixFileName } from './fix-file.ts';
import { markIn, pageBeside } from './page/links.ts';
import { sameBytes } from './same-bytes.ts';
import { syncFolder } from './sync-folder.ts';
import { written } from './written.ts';

/**
 * Lays a batch's page and its fix file beside the settled file, for people who have only the share:
 * `<name>.result.html` and `<name>.fix.csv` (`.fix.json`, `.fix.ndjson`). Each appears whole. A taken name is never
 * taken over, the next one gets a number; only an earlier page of the same batch is replaced. So a fix file that
 * somebody mended and that settled under its own name stays. Throws `report-not-written`.
 */
export async function layBeside(
  settledPath: string,
  folder: string,
  { needsFix }: { needsFix: boolean },
): Promise<void> {
  await written(settledPath, async () => {
    const name = needsFix ? await needFixFile(folder) : undefined;
    const fix = name && { name, laidAs: await layFixFile(settledPath, join(folder, name)) };
    await layPage(settledPath, folder, fix);
    await syncFolder(dirname(settledPath));
  });
}

/** The fix file's name in a report's folder. Throws `report-not-written` when there is none. */
async function needFixFile(folder: string): Promise<FixFileName> {
  const name = await fixFileIn(folder);
  if (name !== undefined) return name;
  throw new PoSyncError('report-not-written', `${folder} holds no fix file.`, { facts: { path: folder } });
}

/** The fix file's name in a report's folder; undefined when there is none. */
export async function fixFileIn(folder: string): Promise<FixFileName | undefined> {
  for (const name of FIX_FILE_NAMES) {
    if ((await lstat(join(folder, name)).catch(() => undefined))?.isFile()) return name;
  }
  return undefined;
}

/** What a fix file's copy adds to the settled file's name. */
export function fixSuffix(name: string): string {
  return `.fix${extname(name)}`;
}

function layFixFile(settledPath: string, source: string): Promise<string> {
  return lay(settledPath, fixSuffix(source), {
    make: (temporary) => copyFile(source, temporary),
    isOurs: (path) => sameBytes(path, source),
  });
}

async function layPage(
  settledPath: string,
  folder: string,
  fix: { name: string; laidAs: string } | undefined,
): Promise<void> {
  const page = await pageFor(folder, fix);
  await lay(settledPath, '.result.html', {
    make: (temporary) => writeFile(temporary, page),
    isOurs: (path) => isPageOf(page, path),
  });
}

/** The report's page as it stands beside the settled file. */
export async function pageFor(folder: string, fix: { name: string; laidAs: string } | undefined): Promise<string> {
  const page = await readFile(join(folder, 'report.html'), 'utf8');
  const report = `${basename(dirname(folder))}/${basename(folder)}`;
  return pageBeside(page, { report, ...(fix && { fix }) });
}

/** Whether a file is a page of the same batch as `page`. */
export async function isPageOf(page: string, path: string): Promise<boolean> {
  const mark = markIn(page);
  return mark !== undefined && markIn(await readStart(path)) === mark;
}

type Laying = { make: (temporary: string) => Promise<void>; isOurs: (path: string) => Promise<boolean> };

/** Makes the file under a temporary name, durably, then gives it the first name that is free or ours. Returns that. */
async function lay(settledPath: string, suffix: string, { make, isOurs }: Laying): Promise<string> {
  const folder = dirname(settledPath);
  const temporary = draftPath(folder);
  try {
    await make(temporary);
    await syncFile(temporary);
    for (let attempt = 1; ; attempt += 1) {
      const name = besideName(basename(settledPath), suffix, attempt);
      const path = join(folder, name);
      if (await claimName(temporary, path)) return name;
      if (!(await isOurs(path))) continue;
      await rename(temporary, path);
      return name;
    }
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Gives the file a name that nobody has; false when somebody has it. */
async function claimName(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(codeOf(thrown) ?? '')) throw thrown;
  }
  // A file system without hard links, as many shares are.
  if ((await lstat(path).catch(() => undefined)) !== undefined) return false;
  await rename(temporary, path);
  return true;
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The first 8 KiB: where a page bears its marks. Empty for what cannot be read as a file. */
async function readStart(path: string): Promise<string> {
  const stat = await lstat(path);
  if (!stat.isFile()) return '';
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(8192), 0, 8192, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
