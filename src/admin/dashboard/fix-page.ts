import { PoSyncError } from '../../core/errors.ts';
import { html } from '../../report/page/html.ts';
import { leadBack } from '../api/act-routes.ts';
import type { ApiContext } from '../api/api-context.ts';
import { readLetter } from '../api/dead-letter-routes.ts';
import { resultText, sendCorrection } from '../api/fix-routes.ts';
import { type AdminRequest, problemReply, type Reply, type Route } from '../http/route.ts';
import { keptPage } from '../http/sign-in.ts';
import { deadLetterPage } from './dead-letter-pages.ts';
import { type Entered, readEntered, withAddedRow } from './fix-form.ts';
import { showPage } from './page-routes.ts';
import { letterPath } from './parts.ts';

/** The form that corrects the cells of a dead letter: checks or sends them, and shows what came of it. */
export function fixPageRoutes(api: ApiContext): Route[] {
  return [
    {
      method: 'POST',
      path: '/dead-letters/:id/fix',
      body: 'sheet',
      handle: (request) => submit(api, request).catch((error: unknown) => kept(request, error)),
    },
  ];
}

async function submit(api: ApiContext, request: AdminRequest): Promise<Reply> {
  const { do: act, version = '', confirm, ...fields } = request.body as Record<string, string>;
  const path = letterPath(request.params['id'] ?? '');
  const url = new URL(path, request.url);
  const show = (entered?: Entered, status = 200) =>
    showPage(api, { ...request, url }, (page) => deadLetterPage(page, entered), status);
  let corrected: Entered['corrected'] = [];
  try {
    const { letter, found } = await api.withRedis(async () => {
      const one = await readLetter(api, request.params['id'] ?? '');
      return { letter: one, found: await api.corrections.open(one) };
    });
    corrected = readEntered(found, fields);
    if (act === 'add') return await show({ corrected: withAddedRow(found, corrected) });
    if (act !== 'send')
      return await show({ corrected, checked: await api.corrections.check(letter, found, corrected) });
    const result = await sendCorrection(api, letter, { version, corrected, confirm }, request.principal);
    if (result.sent === undefined) return await show({ corrected, checked: result.checked }, 422);
    return leadBack(path, api.notes.keep({ text: resultText(result), isGood: true }));
  } catch (error) {
    if (!(error instanceof PoSyncError) || LATER.has(error.code)) throw error;
    const trouble = [error.message, error.remedy].filter(Boolean).join(' ');
    return show({ corrected, trouble }, problemReply(error).status);
  }
}

/** Errors that end when a person waits. */
const LATER = new Set(['redis-away', 'lists-being-read']);

/** Nobody enters their cells again because Redis was not reachable. */
function kept({ url, body }: AdminRequest, error: unknown): Reply {
  if (!(error instanceof PoSyncError) || !LATER.has(error.code)) throw error;
  const why = html`${error.message} ${error.remedy}`;
  return keptPage(url, body as Record<string, string>, { title: 'Not now', why, status: problemReply(error).status });
}
