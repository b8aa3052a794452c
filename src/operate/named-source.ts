import path from 'node:path';
import type { Config, Source } from '../config/config.ts';
import { nearest } from '../config/problem.ts';
import { PoSyncError } from '../core/errors.ts';

/** As `sourceIfAny`. PoSyncError `source-unknown` also where nothing says which is meant. */
export function sourceNamed(
  name: string | undefined,
  config: Pick<Config, 'sources'>,
  file?: string,
): Source {
  const source = sourceIfAny(name, config, file);
  if (source !== undefined) return source;
  throw new PoSyncError('source-unknown', 'Nothing says whose file this is.', {
    remedy: `Choose the source: ${config.sources.map((one) => one.name).join(', ')}.`,
  });
}

/**
 * The named source; without a name the one that the file belongs to, or the only source, or the only inbox. `file`: an absolute
 * path. Throws PoSyncError `source-unknown`.
 */
export function sourceIfAny(
  name: string | undefined,
  { sources }: Pick<Config, 'sources'>,
  file?: string,
): Source | undefined {
  const source =
    name === undefined ? assumed(sources, file) : sources.find((one) => one.name === name);
  if (name !== undefined && source === undefined) {
    throw unknownSource(
      name,
      sources.map((one) => one.name),
    );
  }
  return source;
}

function assumed(sources: readonly Source[], file: string | undefined): Source | undefined {
  const own = file === undefined ? [] : sources.filter((source) => isOf(source, file));
  const inboxes = sources.filter(({ type }) => type === 'inbox');
  const groups = own.length > 0 ? [own] : [sources, inboxes];
  return groups.find(({ length }) => length === 1)?.[0];
}

/** Whether a file is in or below an inbox, or is the export. */
function isOf({ type, path: place }: Source, file: string): boolean {
  const steps = path.relative(place, file).split(path.sep);
  return type === 'inbox'
    ? steps[0] !== '..' && !path.isAbsolute(steps.join(path.sep))
    : path.resolve(place) === file;
}

function unknownSource(name: string, names: readonly string[]): PoSyncError {
  const near = nearest(name, names);
  return new PoSyncError('source-unknown', `Source ${name} not found.`, {
    remedy:
      near === undefined ? `Use one of: ${names.join(', ') || 'none'}.` : `Did you mean ${near}?`,
    facts: { source: name },
  });
}
