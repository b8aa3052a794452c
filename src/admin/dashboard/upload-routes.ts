import { PoSyncError } from '../../core/errors.ts';
import { storeUpload } from '../../operate/uploads/private-file.ts';
import { previewOutdated } from '../../operate/uploads/send-previewed.ts';
import { SEND_BATCH } from '../../operations/batches.ts';
import { carryOut } from '../../operations/operation.ts';
import type { SendPlan } from '../../operations/run-send.ts';
import type { ApiContext } from '../api/api-context.ts';
import { leadBack, requireConfirmed } from '../api/operation-routes.ts';
import { type Upload, withinLimit } from '../api/uploads.ts';
import {
  type AdminRequest,
  type Principal,
  problemReply,
  type Reply,
  type Route,
  type UploadBody,
} from '../http/route.ts';
import { showPage } from './page-routes.ts';
import { proposalFor, uploadPage } from './upload-pages.ts';

/** What the forms of the pages of uploads do. */
export function uploadPageRoutes(api: ApiContext): Route[] {
  const routes: Route[] = [
    { method: 'POST', path: '/upload', body: 'upload', handle: (request) => receive(api, request) },
    {
      method: 'POST',
      path: '/upload/:upload/send',
      body: 'form',
      handle: ({ params: { upload = '' }, body, principal }) =>
        noted(api, `/upload/${upload}`, async () => {
          const { text } = await sendUpload(api, upload, body as SendForm, principal);
          return { to: '/batches', text };
        }),
    },
    {
      method: 'POST',
      path: '/upload/:upload/cancel',
      body: 'form',
      handle: ({ params: { upload = '' } }) =>
        noted(api, '/upload', async () => {
          const { file } = await api.uploads.drop(upload);
          return { to: '/upload', text: `${file.name} is removed. Nothing was sent.` };
        }),
    },
  ];
  return routes.map(api.needingRedis);
}

/** Stores the file of a form, and leads to its preview. */
async function receive(api: ApiContext, request: AdminRequest): Promise<Reply> {
  const { fields, fileName, content } = request.body as UploadBody;
  let file: Upload['file'] | undefined;
  try {
    api.needIntake();
    file = await storeUpload(fileName, content, api.base.config);
    const plan = await planOf(api, file, fields['source'], request.principal);
    return leadBack(`/upload/${(await api.uploads.keep(file, plan)).id}`, undefined);
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    const isUnreadable = error.code.startsWith('unreadable-');
    const proposal = file && isUnreadable ? await proposalFor(file) : undefined;
    await file?.[Symbol.asyncDispose]();
    const refused = { trouble: troubleOf(error), proposal };
    const { status } = problemReply(error);
    return showPage(api, request, (page) => uploadPage(page, refused), status);
  }
}

/** What sending a file would do. */
async function planOf(
  api: ApiContext,
  { path: file }: Upload['file'],
  source: string | undefined,
  principal: Principal | undefined,
): Promise<SendPlan> {
  const act = await SEND_BATCH.load();
  return withinLimit(api.operationContext(principal), (context) =>
    act.plan({ file, source, dryRun: false, yes: true }, context),
  );
}

type SendForm = { plan?: string; confirm?: string };

/** Sends what was previewed, for a person, and records it. PoSyncError `upload-unknown`, `preview-outdated`. */
async function sendUpload(
  api: ApiContext,
  id: string,
  { plan: digest, confirm }: SendForm,
  principal: Principal | undefined,
): Promise<{ text: string }> {
  const context = api.operationContext(principal);
  requireConfirmed(context, confirm);
  const { file, plan } = api.uploads.find(id);
  if (digest !== plan.previewed.digest) throw previewOutdated();
  const upload = api.uploads.take(id);
  try {
    const done = await carryOut(SEND_BATCH, await SEND_BATCH.load(), plan, context);
    await file[Symbol.asyncDispose]();
    return done;
  } catch (error) {
    const now = await planOf(api, file, plan.source, principal).catch(() => plan);
    const isChanged = now.previewed.digest !== plan.previewed.digest;
    api.uploads.put({ ...upload, plan: now, ...(isChanged && { isChanged }) });
    throw error;
  } finally {
    api.outdate();
  }
}

/** Leads to the next page, or back with the reason why not. */
async function noted(
  api: ApiContext,
  back: string,
  act: () => Promise<{ to: string; text: string }>,
): Promise<Reply> {
  try {
    const { to, text } = await act();
    return leadBack(to, api.notes.keep({ text, isGood: true }));
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    return leadBack(back, api.notes.keep({ text: troubleOf(error), isGood: false }));
  }
}

const troubleOf = ({ message, remedy }: PoSyncError) => [message, remedy].filter(Boolean).join(' ');
