import { lstat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { ClaimedFile } from '../../order/batch.ts';

/** What says where the files of sources are. */
export type SourceFolders = Pick<Config, 'sources' | 'data'>;

/** Where the file of a batch was last, as recorded, and what it was. */
type Placed = Pick<ClaimedFile, 'source' | 'kind' | 'path'> & {
  settledPath?: string;
  inspection?: { bytes: number };
  unreadable?: unknown;
};

/**
 * How many steps at the end of a path stay when its inbox or `data` is elsewhere: `processing/<batch>/<name>` and
 * `done/<day>/<name>`, or `spool/<source>/<batch>/<name>`.
 */
const STEPS = { inbox: 3, export: 4, 'handed-in': 4 };

/**
 * A batch with the places of its file now. An inbox that was moved, for instance to another machine, has the file in the
 * same folder below the path that the source has in the configuration, and so has `data`. Otherwise the file is where it was
 * recorded. A claimed file that is nowhere belongs to the folder that is configured now.
 */
export async function placeNow<One extends Placed>(
  batch: One,
  folders: SourceFolders | undefined,
): Promise<One> {
  if (folders === undefined) return batch;
  const { kind, path: claimed, settledPath: settled } = batch;
  const here = belowConfigured(claimed, STEPS[kind], batch, folders);
  const isHere =
    here === claimed || (await isFileOf(batch, here)) || (await sizeOf(claimed)) === undefined;
  const placed = { ...batch, path: isHere ? here : claimed };
  if (settled === undefined) return placed;
  const settledHere = belowConfigured(settled, STEPS.inbox, batch, folders);
  const isMoved = settledHere !== settled && (await isFileOf(batch, settledHere));
  return { ...placed, settledPath: isMoved ? settledHere : settled };
}

function belowConfigured(
  recorded: string,
  steps: number,
  { source, kind }: Placed,
  { sources, data }: SourceFolders,
) {
  const inbox = sources.find(({ name, type }) => name === source && type === 'inbox')?.path;
  const folder = kind === 'inbox' ? inbox : data;
  return folder === undefined || recorded === ''
    ? recorded
    : join(folder, ...recorded.split(sep).slice(-steps));
}

/** Inboxes that changed places can have files of the same name; whoever reads a file checks its content. */
async function isFileOf({ inspection, unreadable }: Placed, file: string): Promise<boolean> {
  const size = await sizeOf(file);
  return (
    size !== undefined &&
    (inspection === undefined || unreadable !== undefined || size === inspection.bytes)
  );
}

async function sizeOf(file: string): Promise<number | undefined> {
  const found = await lstat(file).catch(() => undefined);
  return found?.isFile() ? found.size : undefined;
}
