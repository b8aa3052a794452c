import { PoSyncError, toError } from '../../core/errors.ts';
import { createSemaphore } from '../../core/semaphore.ts';
import { handIn } from '../../intake/hand-in.ts';
import { createAdoption } from '../../ledger/adopt.ts';
import type { ClaimedFile } from '../../order/batch.ts';
import type { Look } from '../../reconcile/list-proof.ts';
import { mapFiles } from '../../setup/map-files.ts';
import { printProposals } from '../../setup/print.ts';
import type { OperatorContext } from '../operator-context.ts';
import { compareUpload, previewUpload } from './preview-upload.ts';
import {
  createShelf,
  insteadOfUpload,
  type Kept,
  type Received,
  sourceUnknown,
  type Upload,
} from './upload-shelf.ts';

/** Milliseconds that a check may take. */
const CHECK_TAKES = 60_000;

type Outside = { take: (file: ClaimedFile) => Promise<void>; readList: Look };
type UploadContext = Omit<OperatorContext, 'operator'>;

/**
 * Files that people upload: stored privately, previewed, and submitted when a person confirms exactly what was
 * previewed.
 */
export function createUploads(context: UploadContext, outside: Outside) {
  const shelf = createShelf(context);
  const turns = createSemaphore(2);

  /** PoSyncError `source-unknown`, `too-many-uploads`, `upload-too-large`, `upload-empty`, `upload-not-stored`. */
  async function receive(received: Received, who: string): Promise<Upload> {
    const one = await shelf.put(received, who);
    void turns.hold(() => check(one, context, outside));
    return one.upload;
  }

  /**
   * Submits what was previewed. PoSyncError `upload-unknown`, `upload-other`, `upload-not-ready`, and `preview-outdated`
   * when the ledger changed since the preview, which is replaced by a new one.
   */
  async function send(id: string, sha256: string, who: string): Promise<Upload> {
    const one = shelf.find(id);
    const { upload } = one;
    if (upload.state !== 'ready') throw notReady(upload);
    if (sha256 !== upload.sha256) throw otherContent();
    upload.state = 'sending';
    try {
      await handInPreviewed(one, who, context, outside);
    } finally {
      if (upload.state === 'sending') upload.state = 'ready';
    }
    await one.file[Symbol.asyncDispose]();
    return upload;
  }

  /** PoSyncError `upload-unknown`, `upload-not-ready`. */
  async function cancel(id: string): Promise<Upload> {
    const { upload } = shelf.find(id);
    if (upload.state === 'sending') throw notReady(upload);
    await shelf.drop(id);
    return upload;
  }

  return {
    receive,
    send,
    cancel,
    find: (id: string): Upload => shelf.find(id).upload,
    list: (): Upload[] =>
      shelf
        .all()
        .map(({ upload }) => upload)
        .reverse(),
    [Symbol.asyncDispose]: shelf[Symbol.asyncDispose],
  };
}

async function check(one: Kept, context: UploadContext, { readList }: Outside): Promise<void> {
  const { upload, file } = one;
  const limit = AbortSignal.timeout(CHECK_TAKES);
  try {
    const signal = AbortSignal.any([context.stopping, limit]);
    one.previewed = await previewUpload({ path: file.path, source: upload.source }, context, {
      readList,
      signal,
    });
    const { preview } = one.previewed;
    const proposed = preview.waits?.code === 'mapping' ? await proposalFor(file, signal) : {};
    Object.assign(upload, { state: 'ready', preview, ...proposed } satisfies Partial<Upload>);
  } catch (error) {
    const trouble = troubleOf(limit.aborted ? tooSlow(context) : error);
    const isUnreadable = trouble.code.startsWith('unreadable-');
    const proposed = isUnreadable ? await proposalFor(file, context.stopping) : {};
    Object.assign(upload, { state: 'failed', trouble, ...proposed } satisfies Partial<Upload>);
  }
}

async function proposalFor(
  { path, name }: Kept['file'],
  signal: AbortSignal,
): Promise<Pick<Upload, 'proposal'>> {
  try {
    const proposals = await mapFiles([path], { signal });
    return { proposal: printProposals(proposals.map((one) => ({ ...one, files: [name] }))) };
  } catch (error) {
    // The trouble says why nothing can be read of it.
    if (error instanceof PoSyncError) return {};
    throw error;
  }
}

/** Compares again with what was previewed, and submits the same bytes. */
async function handInPreviewed(
  one: Kept,
  who: string,
  context: UploadContext,
  { take }: Outside,
): Promise<void> {
  const { upload, file, previewed } = one;
  const { config, store, batches, stopping } = context;
  const { redis, keys, time } = store;
  const source = config.sources.find(({ name }) => name === upload.source);
  if (source === undefined) throw sourceUnknown(upload.source, config.sources);
  if (previewed === undefined) throw notReady(upload);
  const limits = {
    listed: previewed.listed,
    signal: AbortSignal.any([stopping, AbortSignal.timeout(CHECK_TAKES)]),
  };
  const now = await compareUpload({ path: file.path, source: source.name }, context, limits);
  if (now.sha256 !== upload.sha256) throw otherContent();
  if (now.digest !== previewed.digest) {
    one.previewed = now;
    Object.assign(upload, { preview: now.preview, changed: true } satisfies Partial<Upload>);
    throw outdated();
  }
  // What only the list has would be sent otherwise.
  await createAdoption({ redis, keys })(now.unknown, time.now());
  const handed = { name: file.name, from: file.path };
  const announce = (batch: string) => batches.handedIn(batch, who);
  const claimed = await handIn(handed, source, { config, at: new Date(time.now()) }, announce);
  Object.assign(upload, { state: 'sent', batch: claimed.batch } satisfies Partial<Upload>);
  await take(claimed);
}

function troubleOf(error: unknown): NonNullable<Upload['trouble']> {
  if (!(error instanceof PoSyncError))
    return { code: 'internal', message: `The file could not be checked: ${toError(error).name}.` };
  const { code, message, remedy } = error;
  return { code, message, ...(remedy === undefined ? {} : { remedy }) };
}

function tooSlow({ config }: UploadContext): PoSyncError {
  return new PoSyncError(
    'upload-too-slow',
    `Checking the file takes more than ${CHECK_TAKES / 1_000} s.`,
    {
      remedy: insteadOfUpload(config),
    },
  );
}

function notReady({ state, batch }: Upload): PoSyncError {
  return new PoSyncError(
    'upload-not-ready',
    `This upload is ${state}${batch === undefined ? '' : ` as batch ${batch}`}.`,
    { remedy: 'Load its page again: it shows what can be done.' },
  );
}

function otherContent(): PoSyncError {
  return new PoSyncError('upload-other', 'The file is not the one that was previewed.', {
    remedy: 'Read its preview.',
  });
}

function outdated(): PoSyncError {
  return new PoSyncError(
    'preview-outdated',
    'The ledger changed since the preview: other orders would be sent.',
    {
      remedy: 'Nothing was sent. Read the new preview and confirm again.',
    },
  );
}
