import { PoSyncError } from '../../core/errors.ts';
import { within } from '../../core/semaphore.ts';
import { versionOf } from '../../core/version.ts';
import type { OperationContext } from '../../operate/operation-context.ts';
import { recorded } from '../../operate/operator-context.ts';
import { storeUpload } from '../../operate/uploads/private-file.ts';
import { OPERATIONS } from '../../operations/all.ts';
import { openApi } from '../../operations/openapi.ts';
import {
  type Acting,
  answer,
  type Done,
  isHarmless,
  type Operation,
  performed,
  type Reading,
  readInput,
  takesFile,
} from '../../operations/operation.ts';
import {
  jsonReply,
  type Principal,
  type Reply,
  type Route,
  type UploadBody,
} from '../http/route.ts';
import type { ApiContext } from './api-context.ts';
import { withinLimit } from './uploads.ts';

/** The operations over HTTP: the words of the command are the path, its flags the parameters. */
export function operationRoutes(api: ApiContext): Route[] {
  const routes = OPERATIONS.flatMap((one) => {
    if (one.role === 'operate')
      return takesFile(one) ? fileRoute(one, api) : [actRoute(one, api), formRoute(one, api)];
    return one.isLasting ? readRoute(one, api) : api.needingRedis(readRoute(one, api));
  });
  return [...routes, DESCRIPTION];
}

const DESCRIPTION: Route = {
  method: 'GET',
  path: '/api/v1/openapi.json',
  needs: 'nobody',
  handle: () => jsonReply(200, openApi(versionOf())),
};

const pathOf = ({ name }: Operation): string => `/${name.replaceAll(' ', '/')}`;

function readRoute(one: Reading, api: ApiContext): Route {
  return {
    method: 'GET',
    path: `/api/v1${pathOf(one)}`,
    async handle({ url, principal }) {
      return jsonReply(200, await answer(one, givenIn(url), api.operationContext(principal)));
    },
  };
}

function givenIn({ searchParams }: URL): Record<string, unknown> {
  return Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => {
      const [first, ...more] = searchParams.getAll(name);
      return [name, more.length === 0 ? first : [first, ...more]];
    }),
  );
}

/** The body is the file, and `file` its name. */
function fileRoute(one: Acting, api: ApiContext): Route {
  return api.needingRedis({
    method: 'POST',
    path: `/api/v1${pathOf(one)}`,
    body: 'upload',
    async handle({ url, body, principal }) {
      const { fileName, content } = body as UploadBody;
      const name = url.searchParams.get('file') ?? fileName;
      await using file = await storeUpload(name, content, api.base.config);
      const done = await perform(one, { ...givenIn(url), file: file.path }, principal, api);
      return jsonReply(200, done.json);
    },
  });
}

function actRoute(one: Acting, api: ApiContext): Route {
  return api.needingRedis({
    method: 'POST',
    path: `/api/v1${pathOf(one)}`,
    body: 'json',
    async handle({ body, principal }) {
      return jsonReply(200, (await perform(one, body, principal, api)).json);
    },
  });
}

/** The same as a form, which works without JavaScript and leads back to its page. */
function formRoute(one: Acting, api: ApiContext): Route {
  return api.needingRedis({
    method: 'POST',
    path: pathOf(one),
    body: 'form',
    async handle({ body, principal }) {
      const { back, ...given } = body as Record<string, string>;
      const isPlanned = given['plan'] !== undefined;
      const ending = perform(one, given, principal, api).then(
        ({ text, isInVain = false, isOpen = false }) => {
          const note = { text, isGood: !isInVain, isOpen };
          return leadBack(back, isPlanned ? undefined : api.notes.keep(note));
        },
        (error: unknown) =>
          leadBack(back, api.notes.keep({ text: messageOf(error), isGood: false })),
      );
      if (!isPlanned) return ending;
      // The page of the plan shows how far it is.
      return (await within(PATIENCE, ending, api.base.clock)) ?? leadBack(back, undefined);
    },
  });
}

/** Milliseconds that a browser waits for the end of a plan. */
const PATIENCE = 1_000;

/** Does what a person or a program asked for. `confirm`: the name of a protected environment. */
async function perform(
  one: Acting,
  body: unknown,
  principal: Principal | undefined,
  api: ApiContext,
): Promise<Done> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new PoSyncError('body-wrong', 'The body must be an object.');
  const { confirm, ...given } = body as Record<string, unknown>;
  // Who asks for it by a program, or by a form that says what it does, has confirmed it.
  const input = readInput(one, 'yes' in one.input.shape ? { ...given, yes: true } : given);
  const context = api.operationContext(principal);
  if (!isHarmless(one, input)) requireConfirmed(context, confirm);
  const act = (within: OperationContext) => performed(one, input, within);
  const done = takesFile(one) ? withinLimit(context, act) : act(context);
  return done.finally(api.outdate);
}

/** PoSyncError `confirmation-missing`. */
export function requireConfirmed(
  { config }: Pick<OperationContext, 'config'>,
  confirm: unknown,
): void {
  const { environment, environments } = config;
  if (!environments[environment]?.protected || confirm === environment) return;
  throw new PoSyncError('confirmation-missing', `${environment} is protected.`, {
    remedy: `Enter ${environment} to confirm.`,
    facts: { inBody: JSON.stringify({ confirm: environment }).slice(1, -1) },
  });
}

/** Does what a person asked for on a page, and records it. PoSyncError `confirmation-missing`, and those of `act`. */
export async function acting<Result extends { text: string }>(
  what: string,
  { on, confirm }: { on: string; confirm?: string },
  principal: Principal | undefined,
  api: ApiContext,
  act: (context: OperationContext) => Promise<Result>,
): Promise<Result> {
  const context = api.operationContext(principal);
  requireConfirmed(context, confirm);
  return recorded({ what, on }, context, () => act(context).finally(api.outdate));
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
