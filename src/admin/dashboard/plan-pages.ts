import { PoSyncError } from '../../core/errors.ts';
import { count } from '../../core/format.ts';
import { DISCARD, RETRY } from '../../operations/dead-letters.ts';
import { findPlan } from '../../operations/kept-plans.ts';
import { type Acting, readInput } from '../../operations/operation.ts';
import { type Html, html } from '../../report/page/html.ts';
import type { ApiContext } from '../api/api-context.ts';
import { leadBack } from '../api/operation-routes.ts';
import { readQuery } from '../api/query.ts';
import { LETTER_QUERY } from '../api/read-letters.ts';
import type { Principal, Route } from '../http/route.ts';
import type { Content, PageRequest } from './frame.ts';
import { actForm, badge, letterPath, link } from './parts.ts';

/**
 * Begins a plan for every dead letter that the filters of the list select. `kinds`: how many of each kind. Orders that failed
 * a check or are in conflict cannot be sent again as they are.
 */
export function planForm(
  url: URL,
  total: number,
  kinds: { invalid?: number; conflict?: number },
): Html {
  const { invalid = 0, conflict = 0 } = kinds;
  const retry =
    invalid + conflict < total
      ? html`<button name="action" value="retry">Send again…</button>`
      : undefined;
  const filters = Object.keys(LETTER_QUERY.omit({ after: true }).shape).flatMap((name) => {
    const value = url.searchParams.get(name);
    return value ? [html`<input type="hidden" name="${name}" value="${value}">`] : [];
  });
  const back = url.pathname + url.search;
  return html`<form method="post" action="/plans" class="act">
<input type="hidden" name="back" value="${back}">${filters}
<span>${total === 1 ? 'The one that matches' : `All ${count(total)} that match`}:</span>
${retry}<button name="action" value="discard" class="bad">Discard…</button>
</form>`;
}

/** Dead letters that a form plans at once; orders that are named. */
const MOST = 10_000;
const NAMED = 20;

/** A plan: what would be done, then how far it is, and in the end what was done. */
export async function planPage({
  api,
  params,
  mayOperate,
  confirm,
}: PageRequest): Promise<Content> {
  const id = params['plan'] ?? '';
  const { store } = api.base;
  const { verb, title, lines, planned } = await findPlan(id, api.base);
  const job = await api.jobs.find(id);
  const { end, error } = job ?? {};
  const isRunning = job !== undefined && !end && !error;
  const done = await store.redis.hlen(store.keys.planDone(id));
  const state = isRunning
    ? badge('quiet', 'is running')
    : error
      ? badge('bad', 'failed')
      : end
        ? badge('good', 'finished')
        : badge('doubt', 'waits for you');
  const said = end ? [...end.lines, end.steps] : lines;
  const act = actForm({
    action: `/dead-letters/${verb === 'discarded' ? 'discard' : 'retry'}`,
    back: `/plans/${id}`,
    button: title,
    confirm,
    fields: html`<input type="hidden" name="plan" value="${id}">`,
    ...(verb === 'discarded' && { tone: 'bad' }),
  });
  const orders = [...planned]
    .slice(0, NAMED)
    .map(([one, order]) => html`<li>${link(letterPath(one), order || 'no number')}</li>`);
  const more = planned.size - orders.length;
  const body = html`<h1>${title}</h1>
<p role="status">${state}${isRunning ? ` ${count(done)} of ${count(planned.size)}` : ''}</p>
${error && html`<p class="box bad" role="alert">${error.message} ${error.remedy ?? ''}</p>`}
${said.filter((line) => line !== '').map((line) => html`<p>${line}</p>`)}
${mayOperate && !isRunning && !end ? html`<p>Only these orders are affected. An order that changes in the meantime is skipped.</p><div class="acts">${act}</div>` : undefined}
<h2>The first orders</h2><ul>${orders}</ul>
${more > 0 ? html`<p>${count(more)} more.</p>` : undefined}
<p>${link('/dead-letters', 'Orders that need you')}</p>`;
  return { title, body, refresh: isRunning ? 1 : undefined };
}

/** The form above makes a plan; the form of the operation does it. */
export function planPageRoutes(api: ApiContext): Route[] {
  const route: Route = {
    method: 'POST',
    path: '/plans',
    body: 'form',
    async handle({ body, principal }) {
      const { back = '/dead-letters', ...given } = body as Record<string, string>;
      try {
        return leadBack(`/plans/${await makePlan(api, given, principal)}`, undefined);
      } catch (error) {
        if (!(error instanceof PoSyncError)) throw error;
        const text = [error.message, error.remedy].filter(Boolean).join(' ');
        return leadBack(back, api.notes.keep({ text, isGood: false }));
      }
    },
  };
  return [api.needingRedis(route)];
}

/** Plans for every dead letter that the filters select, also beyond the page. PoSyncError `plan-too-large`, `plan-empty`. */
async function makePlan(
  api: ApiContext,
  { action, ...filter }: Record<string, string>,
  principal: Principal | undefined,
): Promise<string> {
  const { after: _, ...given } = readQuery(new URLSearchParams(filter), LETTER_QUERY);
  const { items, next } = (await api.tables()).page(given, MOST);
  if (next !== undefined)
    throw new PoSyncError('plan-too-large', `More than ${MOST} orders match.`, {
      remedy: 'Narrow the filter, or use the command po-sync dead-letters.',
    });
  const one: Acting = action === 'retry' ? RETRY : DISCARD;
  const act = await one.load();
  const input = readInput(one, { id: items.map(({ id }) => id), dryRun: true });
  const plan = await act.plan(input, api.operationContext(principal));
  if (plan.id !== undefined) return plan.id;
  throw new PoSyncError('plan-empty', plan.left ?? 'Nothing can be done with these orders.', {
    remedy: 'Select other orders.',
  });
}
