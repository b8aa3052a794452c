import { PoSyncError } from '../../core/errors.ts';
import { resultText } from '../../operations/run-correct.ts';
import { type Html, html } from '../../report/page/html.ts';
import type { ApiContext } from '../api/api-context.ts';
import { sendCorrection } from '../api/corrections.ts';
import { leadBack } from '../api/operation-routes.ts';
import { readLetter } from '../api/read-letters.ts';
import { type AdminRequest, problemReply, type Reply, type Route } from '../http/route.ts';
import { keptPage } from '../http/sign-in.ts';
import { deadLetterPage } from './dead-letter-pages.ts';
import { type Entered, readEntered, withAddedRow } from './fix-form.ts';
import { showPage } from './page-routes.ts';
import { letterPath, link, orderPath, table } from './parts.ts';

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
  const { do: act, revision = '', confirm, ...fields } = request.body as Record<string, string>;
  const path = letterPath(request.params['id'] ?? '');
  const url = new URL(path, request.url);
  const show = (entered?: Entered, status = 200) =>
    showPage(api, { ...request, url }, (page) => deadLetterPage(page, entered), status);
  let corrected: Entered['corrected'] = [];
  const compare = () => comparedWith(api, request, fields);
  try {
    const { letter, found } = await api.withRedis(async () => {
      const one = await readLetter(api, request.params['id'] ?? '');
      return { letter: one, found: await api.corrections.open(one) };
    });
    corrected = readEntered(found, fields);
    if (act === 'add') return await show({ corrected: withAddedRow(found, corrected) });
    const removed = /^remove\.(\d{1,3})$/.exec(act ?? '')?.[1];
    if (removed !== undefined) {
      // A row of the order is left out instead, which is checked.
      const isKept = (_: unknown, row: number) =>
        row !== Number(removed) || row < found.rows.length;
      return await show({ corrected: corrected.filter(isKept) });
    }
    if (act !== 'send')
      return await show({
        corrected,
        compare,
        checked: await api.corrections.check(letter, found, corrected),
      });
    const result = await sendCorrection(
      api,
      letter,
      { revision: Number(revision), corrected, confirm },
      request.principal,
    );
    if (result.sent === undefined)
      return await show({ corrected, compare, checked: result.checked, isSent: true }, 422);
    return leadBack(path, api.notes.keep({ text: resultText(result), isGood: true }));
  } catch (error) {
    if (!(error instanceof PoSyncError) || LATER.has(error.code)) throw error;
    const trouble = [error.message, error.remedy].filter(Boolean).join(' ');
    return show({ corrected, trouble, compare }, problemReply(error).status);
  }
}

/** Rows and columns of a form that are shown again. */
const MOST = 200;

/** The values of a form that came too late; undefined if it has none. */
async function comparedWith(
  api: ApiContext,
  { params }: AdminRequest,
  fields: Readonly<Record<string, string>>,
): Promise<Html | undefined> {
  const rows = new Map<number, Map<number, string>>();
  for (const [name, value] of Object.entries(fields)) {
    const [, row, column] = /^v\.(\d{1,3})\.(\d{1,4})$/.exec(name) ?? [];
    const cells = rows.get(Number(row)) ?? new Map<number, string>();
    if (row !== undefined) rows.set(Number(row), cells.set(Number(column), value));
  }
  if (rows.size === 0) return undefined;
  const { batch, purchaseOrderNumber: number } = await readLetter(api, params['id'] ?? '');
  const header = (await api.base.batches.find(batch))?.inspection?.shape.header ?? [];
  const columns = [...new Set([...rows.values()].flatMap((cells) => [...cells.keys()]))].slice(
    0,
    MOST,
  );
  const titles = columns.map((column) => header[column] || String(column + 1));
  const entered = [...rows.values()]
    .slice(0, MOST)
    .map((cells) => columns.map((at) => html`${cells.get(at) ?? ''}`));
  const other = number && html`<p>Compare it with ${link(orderPath(number), 'what was sent')}.</p>`;
  return html`<h2>What you entered</h2>${table('What you entered', titles, entered)}${other}`;
}

/** Errors that end when a person waits. */
const LATER = new Set(['redis-away', 'lists-being-read']);

/** Nobody enters their cells again because Redis was not reachable. */
function kept({ url, body }: AdminRequest, error: unknown): Reply {
  if (!(error instanceof PoSyncError) || !LATER.has(error.code)) throw error;
  const why = html`${error.message} ${error.remedy}`;
  return keptPage(url, body as Record<string, string>, {
    title: 'Not now',
    why,
    status: problemReply(error).status,
  });
}
