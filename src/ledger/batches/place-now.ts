import { join, sep } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { ClaimedFile } from '../../order/batch.ts';

/** What says where the files of sources are. */
export type SourceFolders = Pick<Config, 'sources' | 'data'>;

/** Where the file of a batch was last, as recorded. */
type Placed = Pick<ClaimedFile, 'source' | 'kind' | 'path'> & { settledPath?: string };

/**
 * How many steps at the end of a path stay when its inbox or `data` is elsewhere: `processing/<batch>/<name>` and
 * `done/<day>/<name>`, or `spool/<source>/<batch>/<name>`.
 */
const STEPS = { inbox: 3, export: 4, 'handed-in': 4 };

/**
 * A batch with the places of its file below the folders that are configured now, which may have been moved to another machine.
 * The file of a source that is gone is where it was recorded.
 */
export function placeNow<One extends Placed>(batch: One, folders: SourceFolders | undefined): One {
  const { source, kind, path, settledPath } = batch;
  const inbox = folders?.sources.find(({ name, type }) => name === source && type === 'inbox');
  const folder = kind === 'inbox' ? inbox?.path : folders?.data;
  if (folder === undefined) return batch;
  const here = (recorded: string) =>
    recorded && join(folder, ...recorded.split(sep).slice(-STEPS[kind]));
  return { ...batch, path: here(path), ...(settledPath && { settledPath: here(settledPath) }) };
}
