import { PoSyncError, toError } from '../../core/errors.ts';
import { createSemaphore } from '../../core/semaphore.ts';
import type { ClaimedFile } from '../../order/batch.ts';
import type { Look } from '../../reconcile/list-proof.ts';
import { mapFiles } from '../../setup/map-files.ts';
import { printProposals } from '../../setup/print.ts';
import type { OperatorContext } from '../operator-context.ts';
import { type Previewed, previewUpload, type UploadPreview } from './preview-upload.ts';
import { previewOutdated, sendPreviewed } from './send-previewed.ts';
import {
  createShelf,
  insteadOfUpload,
  type Kept,
  type Received,
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
   * Submits what was previewed; `plan` is the digest of the preview that the person saw. PoSyncError `upload-unknown`,
   * `upload-not-ready`, and `preview-outdated` when something changed since, which is in a new preview.
   */
  async function send(
    id: string,
    plan: string,
    who: string,
  ): Promise<{ batch: string; preview: UploadPreview }> {
    const one = shelf.find(id);
    const { upload, file, previewed } = one;
    const { source, state, preview } = upload;
    if (state !== 'ready' || !previewed || !preview) throw notReady(upload);
    if (plan !== upload.plan) throw previewOutdated();
    upload.state = 'sending';
    try {
      const signal = AbortSignal.any([context.stopping, AbortSignal.timeout(CHECK_TAKES)]);
      const sending = { file, source, previewed, who, signal };
      const end = await sendPreviewed(sending, context, outside.take);
      if ('now' in end) {
        Object.assign(one, { previewed: end.now });
        Object.assign(upload, { ...shownOf(end.now), changed: true } satisfies Partial<Upload>);
        throw previewOutdated();
      }
      await shelf.drop(id);
      return { ...end, preview };
    } finally {
      upload.state = 'ready';
    }
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
    const shown = shownOf(one.previewed);
    const proposed = shown.preview.waits?.code === 'mapping' ? await proposalFor(file, signal) : {};
    Object.assign(upload, { state: 'ready', ...shown, ...proposed } satisfies Partial<Upload>);
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

const shownOf = ({ preview, digest: plan }: Previewed) => ({ preview, plan });

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

function notReady({ state }: Upload): PoSyncError {
  return new PoSyncError('upload-not-ready', `This upload is ${state}.`, {
    remedy: 'Load its page again: it shows what can be done.',
  });
}
