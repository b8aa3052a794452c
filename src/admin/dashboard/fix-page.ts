import { isDeepStrictEqual } from 'node:util';
import { type Mapping, mappingsFor } from '../../config/config.ts';
import { PoSyncError } from '../../core/errors.ts';
import { columnAt } from '../../mapping/column-at.ts';
import type { OrderHistory } from '../../operate/orders/explain-order.ts';
import type { Item } from '../../order/order.ts';
import { type Html, html } from '../../report/page/html.ts';
import type { ApiContext } from '../api/api-context.ts';
import { readHistory, readLetter } from '../api/dead-letter-routes.ts';
import { resultText, sendCorrection } from '../api/fix-routes.ts';
import { leadBack } from '../api/operation-routes.ts';
import { type AdminRequest, problemReply, type Reply, type Route } from '../http/route.ts';
import { keptPage } from '../http/sign-in.ts';
import { deadLetterPage } from './dead-letter-pages.ts';
import { type Entered, readEntered, withAddedRow } from './fix-form.ts';
import { itemsPart } from './order-page.ts';
import { showPage } from './page-routes.ts';
import { letterPath, orderPath, table } from './parts.ts';

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

/** The values of a form that came too late, next to what was sent; undefined if it has no values. */
async function comparedWith(
  api: ApiContext,
  { params, url }: AdminRequest,
  fields: Readonly<Record<string, string>>,
): Promise<Html | undefined> {
  const rows = new Map<number, Map<number, string>>();
  for (const [name, value] of Object.entries(fields)) {
    const [, row, column] = /^v\.(\d{1,3})\.(\d{1,4})$/.exec(name) ?? [];
    const cells = rows.get(Number(row)) ?? new Map<number, string>();
    if (row !== undefined) rows.set(Number(row), cells.set(Number(column), value));
  }
  if (rows.size === 0) return undefined;
  const { batch, source, purchaseOrderNumber: number } = await readLetter(api, params['id'] ?? '');
  const header = (await api.base.batches.find(batch))?.inspection?.shape.header ?? [];
  const columns = [...new Set([...rows.values()].flatMap((cells) => [...cells.keys()]))].slice(
    0,
    MOST,
  );
  const titles = columns.map((column) => header[column] || String(column + 1));
  const entered = [...rows.values()]
    .slice(0, MOST)
    .map((cells) => columns.map((at) => html`${cells.get(at) ?? ''}`));
  const found =
    number === ''
      ? undefined
      : await readHistory(api, new URL(orderPath(number), url)).catch(() => undefined);
  const mapping = mappingsFor(api.base.config, source)[0]?.mapping;
  const isSame = haveItems([...rows.values()], found?.content?.items ?? [], {
    header,
    mapping,
  });
  const sent = found && SENT[found.state];
  const same =
    isSame && sent
      ? html`<p>These are the articles and quantities that ${sent.same}.</p>`
      : undefined;
  return html`<h2>What you entered</h2>${table('What you entered', titles, entered)}${same}${sent && itemsPart(found, sent.title)}`;
}

const IS_SENT = { title: 'What was sent', same: 'were sent' };
const IS_BEING_SENT = { title: 'What is being sent', same: 'are being sent' };

/** Of an order in any other state, the known items are those that were not accepted: nobody compares with them. */
const SENT: Readonly<Partial<Record<OrderHistory['state'], typeof IS_SENT>>> = {
  accepted: IS_SENT,
  queued: IS_BEING_SENT,
  sending: IS_BEING_SENT,
  retry: IS_BEING_SENT,
  unknown: IS_BEING_SENT,
};

type ReadBy = { header: readonly string[]; mapping: Mapping | undefined };

/** Whether rows that were entered have exactly these items, written in the same way. */
function haveItems(
  rows: readonly ReadonlyMap<number, string>[],
  items: readonly Item[],
  { header, mapping }: ReadBy,
) {
  const [article, quantity] = [
    columnAt('articleCode', header, mapping),
    columnAt('quantity', header, mapping),
  ];
  if (article === undefined || quantity === undefined || items.length === 0) return false;
  const entered = rows.map((cells) =>
    JSON.stringify([cells.get(article)?.trim(), cells.get(quantity)?.trim()]),
  );
  const sent = items.map((item) => JSON.stringify([item.articleCode, String(item.quantity)]));
  return isDeepStrictEqual(entered.toSorted(), sent.toSorted());
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
