import { PoSyncError } from '../../core/errors.ts';
import { count } from '../../core/format.ts';
import type { Upload } from '../../operate/uploads/upload-shelf.ts';
import {
  type AdminRequest,
  jsonReply,
  type Principal,
  type Route,
  type UploadBody,
} from '../http/route.ts';
import type { ApiContext } from './api-context.ts';
import { acting } from './operation-routes.ts';
import { readQuery } from './query.ts';

/** Files that people upload: their preview, and sending exactly what was previewed. */
export function uploadRoutes(api: ApiContext): Route[] {
  const { uploads } = api;
  const routes: Route[] = [
    {
      method: 'POST',
      path: '/api/v1/uploads',
      body: 'upload',
      async handle(request) {
        const upload = await receive(api, request, readQuery(request.url, ['source', 'name']));
        return jsonReply(201, upload, { location: addressOf(upload) });
      },
    },
    {
      method: 'GET',
      path: '/api/v1/uploads',
      handle({ url }) {
        readQuery(url, []);
        return jsonReply(200, { items: uploads.list() });
      },
    },
    {
      method: 'GET',
      path: '/api/v1/uploads/:upload',
      handle: ({ params }) => jsonReply(200, uploads.find(params['upload'] ?? '')),
    },
    {
      method: 'POST',
      path: '/api/v1/uploads/:upload/send',
      body: 'json',
      async handle({ params, body, principal }) {
        const upload = await sendUpload(api, params['upload'] ?? '', readSending(body), principal);
        const address = `/api/v1/batches/${encodeURIComponent(upload.batch ?? '')}`;
        return jsonReply(201, { batch: upload.batch, address }, { location: address });
      },
    },
    {
      method: 'DELETE',
      path: '/api/v1/uploads/:upload',
      async handle({ params }) {
        await uploads.cancel(params['upload'] ?? '');
        return jsonReply(200, { removed: true });
      },
    },
  ];
  return routes.map(api.needingRedis);
}

/** Bytes of a refused file that are read, so that its sender sees the answer. */
const MOST_DRAINED = 512 * 1024 * 1024;

type Given = { text(name: string): string | undefined };

/** Stores the file of a request. Its form, or its address, names the source and the file. */
export async function receive(
  api: ApiContext,
  { body, principal }: AdminRequest,
  query?: Given,
): Promise<Upload> {
  const { fields, fileName, content, rest } = body as UploadBody;
  const source =
    fields['source'] ?? query?.text('source') ?? api.base.config.sources[0]?.name ?? '';
  const name = query?.text('name') ?? fileName;
  try {
    api.needIntake();
    return await api.uploads.receive(
      { source, name, content },
      api.operatorOf(principal).operator.who,
    );
  } catch (error) {
    let drained = 0;
    for await (const piece of rest) {
      drained += piece.length;
      if (drained > MOST_DRAINED) break;
    }
    throw error;
  }
}

type Sending = { sha256: string; confirm?: string };

/** Sends what was previewed, for a person, and records it. PoSyncError as `send` of the uploads. */
export async function sendUpload(
  api: ApiContext,
  id: string,
  { sha256, ...request }: Sending,
  principal: Principal | undefined,
): Promise<Upload & { text: string }> {
  const { name } = api.uploads.find(id);
  return acting('upload', { on: name, ...request }, principal, api, async ({ operator }) => {
    const upload = await api.uploads.send(id, sha256, operator.who);
    const orders = upload.preview?.new ?? 0;
    return {
      ...upload,
      text: `${name} is submitted as batch ${upload.batch}: ${count(orders)} new.`,
    };
  });
}

/** PoSyncError `body-wrong`. */
function readSending(body: unknown): Sending {
  const { sha256, confirm, ...others } = (body ?? {}) as Record<string, unknown>;
  if (typeof sha256 !== 'string' || Object.keys(others).length > 0) {
    throw new PoSyncError(
      'body-wrong',
      'The body must be an object with sha256, and confirm in a protected environment.',
    );
  }
  return { sha256, ...(typeof confirm === 'string' ? { confirm } : {}) };
}

function addressOf({ id }: Upload): string {
  return `/api/v1/uploads/${id}`;
}
