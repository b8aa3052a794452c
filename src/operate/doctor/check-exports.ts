import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import type { Config, ExportSource } from '../../config/config.ts';
import { fixedFolder, isPattern, isWebAddress } from '../../config/source-schema.ts';
import { codeOf } from '../../core/errors.ts';
import { hasVersions, NS_IN_MS } from '../../intake/export-versions.ts';
import { doneOf, filesOf, matchesAny } from '../../intake/names.ts';
import { newestOf } from '../../intake/stability.ts';
import type { Store } from '../../redis/store.ts';
import { type Finding, fine, warn } from './finding.ts';

/** The clock of a file server may be ahead of ours. Milliseconds. */
const AHEAD = 3_600_000;

type Unusable = (check: string, folder: string, error: unknown) => Finding;

/** Checks the path of an export: readable, and for a pattern whether a file matches. */
export async function checkExport(source: ExportSource, unusable: Unusable): Promise<Finding[]> {
  const { name, path: place, newestOnly } = source;
  const check = `export ${name}`;
  if (isWebAddress(place)) return [fine(check, `${place} is an address; the daemon checks it`)];
  const folder = isPattern(place) ? fixedFolder(place) : place;
  try {
    await access(folder, constants.R_OK);
    if (isPattern(place) && !(await matchesAny(place))) return [noMatch(check, place)];
    return [fine(check, `${place} is readable`), ...(newestOnly ? await ahead(check, source) : [])];
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return [unusable(check, folder, error)];
    return [
      warn(
        check,
        `${place} does not exist yet`,
        'The daemon waits for it. If the path is wrong, correct it.',
      ),
    ];
  }
}

function noMatch(check: string, place: string): Finding {
  const remedy =
    'The daemon waits for one. If the pattern is wrong, correct the path of the source.';
  return warn(check, `no file matches ${place}`, remedy);
}

/** As long as a file with a time in the future is there, every other file is older. */
async function ahead(check: string, source: ExportSource): Promise<Finding[]> {
  const { newest } = await newestOf(await filesOf(source));
  const at = Number((newest?.mtimeNs ?? 0n) / NS_IN_MS);
  if (newest === undefined || at < Date.now() + AHEAD) return [];
  const message = `the time of ${path.basename(newest.file)} is in the future: no other file is read, because all are older`;
  const remedy =
    'Correct its time (touch), or remove it, and check the clock of the program that writes the files.';
  return [warn(check, message, remedy)];
}

/** Warns before the first start with a pattern that several files match: an order may have changed from one to the next. */
export async function checkPatterns(
  place: Pick<Store, 'redis' | 'keys'>,
  config: Config,
): Promise<Finding[]> {
  const found = config.sources.map(async (source): Promise<Finding[]> => {
    if (source.type !== 'export' || source.newestOnly || !isPattern(source.path)) return [];
    const files = await newestOf(await doneOf(await filesOf(source), source)).catch(
      () => undefined,
    );
    const count = (files?.older.length ?? 0) + 1;
    if (count < 2 || (await hasVersions(source.name, place))) return [];
    const message = `${count} files match ${source.path}; each is read, the oldest first`;
    const remedy =
      'If each has all open orders, set newestOnly: true. An order that changed since is sent from the oldest otherwise.';
    return [warn(`export ${source.name}`, message, remedy)];
  });
  return (await Promise.all(found)).flat();
}
