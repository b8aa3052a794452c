import { PoSyncError } from '../../core/errors.ts';
import { jsonReply, type Reply, type Route } from '../http/route.ts';
import { type ActName, type Request, runAct } from './acts.ts';
import type { ApiContext } from './api-context.ts';
import { readQuery } from './query.ts';

/** The path of each act, and what it names. */
const PATHS: readonly (readonly [
  name: ActName,
  path: string,
  on: 'batch' | 'id' | 'number' | 'nothing',
])[] = [
  ['pause', '/environment/pause', 'nothing'],
  ['resume', '/environment/resume', 'nothing'],
  ['release', '/batches/:batch/release', 'batch'],
  ['cancel', '/batches/:batch/cancel', 'batch'],
  ['retry', '/dead-letters/:id/retry', 'id'],
  ['discard', '/dead-letters/:id/discard', 'id'],
  ['resolve', '/order/resolve', 'number'],
];

/**
 * The acts as JSON, and under the same path without `/api/v1` as forms, which work without JavaScript and lead back to
 * their page.
 */
export function actRoutes(api: ApiContext): Route[] {
  return PATHS.flatMap(([name, path, on]): Route[] => {
    const onOf = (url: URL, params: Readonly<Record<string, string>>) => {
      if (on === 'nothing') return '';
      return on === 'number'
        ? (readQuery(url, ['number']).text('number') ?? '')
        : (params[on] ?? '');
    };
    return [
      {
        method: 'POST',
        path: `/api/v1${path}`,
        body: 'json',
        async handle({ url, params, body, principal }) {
          const request = { ...readRequest(body), on: onOf(url, params) };
          return jsonReply(200, (await runAct(name, request, principal, api)).document);
        },
      },
      {
        method: 'POST',
        path,
        body: 'form',
        async handle({ url, params, body, principal }) {
          const { back, ...fields } = body as Record<string, string>;
          const request = { ...readRequest(fields), on: onOf(url, params) };
          return runAct(name, request, principal, api).then(
            ({ text, isInVain = false, isOpen = false }) =>
              leadBack(back, api.notes.keep({ text, isGood: !isInVain, isOpen })),
            (error: unknown) =>
              leadBack(back, api.notes.keep({ text: messageOf(error), isGood: false })),
          );
        },
      },
    ];
  }).map(api.needingRedis);
}

/** Only fields that acts know. PoSyncError `body-wrong`. */
function readRequest(body: unknown): Omit<Request, 'on'> {
  if (typeof body !== 'object' || body === null)
    throw new PoSyncError('body-wrong', 'The body must be an object.');
  const { confirm, reason, as, withoutRows, ...others } = body as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new PoSyncError('body-wrong', `Unknown field ${unknown}.`);
  return {
    ...(typeof confirm === 'string' ? { confirm } : {}),
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(as === 'accepted' || as === 'resend' ? { as } : {}),
    ...(withoutRows === true || withoutRows === 'true' ? { withoutRows: true } : {}),
  };
}

/** To the page of the form, which shows what happened. Never to another host. */
export function leadBack(back: string | undefined, note: string | undefined): Reply {
  const page = new URL(back?.startsWith('/') ? `http://admin${back}` : 'http://admin/');
  if (note !== undefined) page.searchParams.set('note', note);
  // A path that begins with two slashes would be another host.
  const path = page.pathname.replace(/^[/\\]+/, '/');
  return { status: 303, type: 'text/plain', body: '', headers: { location: path + page.search } };
}

function messageOf(error: unknown): string {
  if (!(error instanceof PoSyncError)) throw error;
  return error.remedy === undefined ? error.message : `${error.message} ${error.remedy}`;
}
