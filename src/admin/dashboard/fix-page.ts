import { PoSyncError } from '../../core/errors.ts';
import { resultText } from '../../operations/run-correct.ts';
import type { ApiContext } from '../api/api-context.ts';
import { acting, leadBack } from '../api/operation-routes.ts';
import { readLetter } from '../api/read-letters.ts';
import { type AdminRequest, problemReply, type Reply, type Route } from '../http/route.ts';
import { deadLetterPage } from './dead-letter-pages.ts';
import { type Entered, readEntered } from './fix-form.ts';
import { showPage } from './page-routes.ts';
import { letterPath } from './parts.ts';

/** The form that corrects the cells of a dead letter: checks or sends them, and shows what came of it. */
export function fixPageRoutes(api: ApiContext): Route[] {
  return [
    {
      method: 'POST',
      path: '/dead-letters/:id/fix',
      body: 'sheet',
      handle: (request) => submit(api, request),
    },
  ];
}

async function submit(api: ApiContext, request: AdminRequest): Promise<Reply> {
  const { do: act, revision = '', confirm, ...fields } = request.body as Record<string, string>;
  const path = letterPath(request.params['id'] ?? '');
  const show = (entered: Entered, status = 200) =>
    showPage(
      api,
      { ...request, url: new URL(path, request.url) },
      (page) => deadLetterPage(page, entered),
      status,
    );
  let corrected: Entered['corrected'] = [];
  try {
    const { letter, found } = await api.withRedis(async () => {
      const one = await readLetter(api, request.params['id'] ?? '');
      return { letter: one, found: await api.corrections.open(one) };
    });
    corrected = readEntered(found, fields);
    if (act !== 'send')
      return await show({
        corrected,
        checked: await api.corrections.check(letter, found, corrected),
      });
    api.needIntake();
    const on = { on: letter.id, ...(confirm !== undefined && { confirm }) };
    const sending = { revision: Number(revision), corrected };
    const result = await acting('fix', on, request.principal, api, async ({ operator }) => {
      const sent = await api.corrections.send(letter, sending, operator);
      return { ...sent, text: resultText(sent) };
    });
    if (result.sent === undefined)
      return await show({ corrected, checked: result.checked, isSent: true }, 422);
    return leadBack(path, api.notes.keep({ text: result.text, isGood: true }));
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    const trouble = [error.message, error.remedy].filter(Boolean).join(' ');
    return show({ corrected, trouble }, problemReply(error).status);
  }
}
