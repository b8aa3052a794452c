import { PoSyncError } from '../../core/errors.ts';
import { handIn } from '../../intake/hand-in.ts';
import { createAdoption } from '../../ledger/adopt.ts';
import type { ClaimedFile } from '../../order/batch.ts';
import { sourceNamed } from '../named-source.ts';
import type { OperatorContext } from '../operator-context.ts';
import { compareUpload, type Previewed } from './preview-upload.ts';
import type { PrivateFile } from './private-file.ts';

type Sending = {
  file: Pick<PrivateFile, 'path' | 'name'>;
  source: string;
  previewed: Previewed;
  who: string;
  signal?: AbortSignal;
};

/** Submits exactly what was previewed; where that changed since, nothing: `now` is the new preview. */
export async function sendPreviewed(
  { file, source: named, previewed, who, signal }: Sending,
  context: Omit<OperatorContext, 'operator'>,
  take: (file: ClaimedFile) => Promise<void>,
): Promise<{ batch: string } | { now: Previewed }> {
  const { config, store, batches, stopping } = context;
  const { redis, keys, time } = store;
  const limits = { listed: previewed.listed, signal: signal ?? stopping };
  const now = await compareUpload({ path: file.path, source: named }, context, limits);
  if (now.digest !== previewed.digest) return { now };
  // What only the list has would be sent otherwise.
  await createAdoption({ redis, keys })(now.unknown, time.now());
  const handed = { name: file.name, from: file.path };
  const announce = (batch: string) => batches.handedIn(batch, who);
  const source = sourceNamed(named, config);
  const claimed = await handIn(handed, source, { config, at: new Date(time.now()) }, announce);
  await take(claimed);
  return { batch: claimed.batch };
}

export function previewOutdated(): PoSyncError {
  const message = 'The file or the ledger changed since the preview: other orders would be sent.';
  return new PoSyncError('preview-outdated', message, {
    remedy: 'Nothing was sent. Read the new preview and confirm again.',
  });
}
