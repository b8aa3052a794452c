import { join, sep } from 'node:path';
import type { Config } from '../../config/config.ts';
import { isGone } from '../../core/regular-file.ts';

/** Where the file of a batch was last, as recorded: `path` while it is in progress, then `settledPath`. */
type Placed = { source: string; path?: string; settledPath?: string };

/** How a path in an inbox ends: `processing/<batch>/<name>`, `done/<day>/<name>` or `failed/<day>/<name>`. */
const BELOW_INBOX = 3;

/**
 * A batch with the place of its file now. An inbox that was moved, for instance to another machine, has the file in the
 * same folder below the path that the source has in the configuration. Without a file there, the place stays as recorded.
 */
export async function placeNow<One extends Placed>(batch: One, sources: Config['sources']): Promise<One> {
  const inbox = sources.find(({ name, type }) => name === batch.source && type === 'inbox')?.path;
  const recorded = batch.settledPath ?? batch.path;
  if (recorded === undefined || inbox === undefined) return batch;
  const moved = join(inbox, ...recorded.split(sep).slice(-BELOW_INBOX));
  if (moved === recorded || !(await isGone(recorded)) || (await isGone(moved))) return batch;
  return batch.settledPath === undefined ? { ...batch, path: moved } : { ...batch, settledPath: moved };
}
