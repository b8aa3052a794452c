import { PoSyncError } from '../../core/errors.ts';
import { count, counted, outcomeWord } from '../../core/format.ts';
import { discardedAgain } from '../../order/fixing.ts';
import { NOTHING_NEW } from '../../put-away/refused-before.ts';
import { type Html, html } from '../../report/page/html.ts';
import { openText } from '../../report/story.ts';
import type { ApiContext } from '../api/api-context.ts';
import { LETTER_FILTERS } from '../api/dead-letter-routes.ts';
import { leadBack } from '../api/operation-routes.ts';
import { countsIn, makePlan, runPlan } from '../api/plan-routes.ts';
import { DOES, type Plan, type PlanItem } from '../api/plans.ts';
import type { Reply, Route } from '../http/route.ts';
import type { Content, PageRequest } from './frame.ts';
import { messageOf } from './letter-message.ts';
import { actForm, badge, cell, letterPath, link, table } from './parts.ts';

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
  const filters = LETTER_FILTERS.flatMap((name) => {
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

const TITLES = { retry: 'Send again', discard: 'Discard' };

function inWords({ action, count: number, nameless }: Plan): string {
  return action === 'retry'
    ? `Send ${counted(number, 'order')} again`
    : `Discard ${openText(number, nameless)}`;
}

/** Results are known some at a time: until the first of them, "0 of 10" would not be true. */
export function progressOf(plan: Pick<Plan, 'action' | 'count' | 'nameless' | 'done'>): string {
  const { action, count: number, nameless, done } = plan;
  if (done > 0) return `${count(done)} of ${count(number)}`;
  return action === 'retry'
    ? `Sending ${counted(number, 'order')} again …`
    : `Discarding ${openText(number, nameless)} …`;
}

const WORDS: Record<PlanItem['verdict'], string> = {
  retried: 'sent again',
  asked: "looked up in the API's list again",
  found: "accepted: the API's list has it",
  discarded: 'discarded',
  invalid: 'skipped: failed a check. Correct it',
  'number-taken':
    'skipped: its number was sent with other items. Agree with the supplier, then discard it',
  'under-way': 'skipped: being sent',
  corrected: 'skipped: a correction was sent',
  settled: 'skipped: already settled',
  forgotten: 'skipped: its content is no longer known',
  'in-doubt': 'skipped: in doubt. Resolve it first',
  'in-progress': 'skipped: in progress in another file. To stop it, cancel that file',
};

/** Orders from which the count must be typed. */
const MANY = 100;
const SHOWN = 20;
const RESULTS = 500;

/** A plan: what would be done with how many dead letters, then the result of each. */
export async function planPage({
  api,
  params,
  mayOperate,
  confirm,
}: PageRequest): Promise<Content> {
  const plan = api.plans.find(params['plan'] ?? '');
  const { action, state, items, total, listCheck, trouble } = plan;
  const isOver = state === 'finished' || state === 'stopped' || state === 'failed';
  const rows = Object.entries(countsIn(items)).map(([verdict, number]) => [
    cell(number),
    html`${WORDS[verdict as PlanItem['verdict']]}`,
  ]);
  const shown = isOver ? items.slice(0, RESULTS) : items.slice(0, SHOWN);
  const list = shown.map((item) => [
    link(letterPath(item.id), item.purchaseOrderNumber || 'no number'),
    html`${outcomeWord(item.kind)}`,
    messageOf(item),
    html`${isOver && item.result === undefined ? 'not reached' : WORDS[item.result ?? item.verdict]}`,
  ]);
  const body = html`<h1>${inWords(plan)}</h1>
<p role="status">${badge(state === 'finished' ? 'good' : state === 'ready' ? 'doubt' : state === 'running' ? 'quiet' : 'bad', STATES[state])}${state === 'running' ? ` ${progressOf(plan)}` : ''}</p>
${trouble === undefined ? undefined : html`<p class="box bad" role="alert">${trouble}</p>`}
${listCheck === 'ok' || action === 'discard' ? undefined : html`<p class="box bad" role="alert">The API's list does not show for certain which orders the API has: ${listCheck}.</p>`}
<h2>${isOver ? 'What happened' : 'What happens'}</h2>
${table('Counts', [plan.nameless === 0 ? 'orders' : 'orders and rows', isOver ? 'result' : 'plan'], rows)}
${mayOperate && state === 'ready' ? confirmation(plan, confirm) : undefined}
${mayOperate && state === 'running' ? actForm({ action: `/plans/${plan.id}/stop`, back: `/plans/${plan.id}`, button: 'Stop', tone: 'bad' }) : undefined}
<h2>${isOver ? 'Results' : 'The first orders'}</h2>
${table('Orders', ['order', 'kind', 'message', isOver ? 'result' : 'plan'], list)}
${total > shown.length ? html`<p>${count(total - shown.length)} more.</p>` : undefined}
<p>${link('/dead-letters', 'Orders that need you')}</p>`;
  return { title: `${TITLES[action]} in bulk`, body, refresh: state === 'running' ? 1 : undefined };
}

const STATES: Record<Plan['state'], string> = {
  ready: 'waits for you',
  running: 'is running',
  finished: 'finished',
  stopped: 'stopped',
  failed: 'failed',
};

function confirmation(plan: Plan, confirm: string | undefined): Html {
  const { id, action, count: number } = plan;
  if (number === 0) return html`<p>Nothing can be done with these orders in bulk.</p>`;
  const expected =
    number < MANY
      ? html`<input type="hidden" name="expect" value="${number}">`
      : html`<label>Enter ${number} to confirm <input name="expect" required inputmode="numeric" pattern="${number}" autocomplete="off"></label>`;
  const act = actForm({
    action: `/plans/${id}/run`,
    back: `/plans/${id}`,
    button: inWords(plan),
    confirm,
    fields: expected,
    ...(action === 'discard' ? { tone: 'bad' } : {}),
  });
  const planned = plan.items.filter(({ verdict }) => DOES.has(verdict));
  const again = action === 'discard' ? ` ${discardedAgain(planned, plan.nameless)}` : '';
  return html`${action === 'discard' ? otherItems(planned, number) : undefined}<p>Only these orders are affected. An order that changes in the meantime is skipped.${again}</p><div class="acts">${act}</div>`;
}

/** Orders that are named because a person may want what they change. */
const CHANGES_NAMED = 5;

/** The orders that would change one that po-sync has already, unless only a correction of it makes them differ. */
function otherItems(planned: readonly PlanItem[], all: number): Html | undefined {
  const found = planned.filter(
    ({ kind, message }) => kind === 'conflict' && !message.includes(NOTHING_NEW),
  );
  if (found.length === 0) return undefined;
  const named = found
    .slice(0, CHANGES_NAMED)
    .map(
      ({ id, purchaseOrderNumber, already = '' }) =>
        html`<li>${link(letterPath(id), purchaseOrderNumber)}: ${already}</li>`,
    );
  const more =
    found.length > named.length
      ? html`<p>${count(found.length - named.length)} more.</p>`
      : undefined;
  const [has, it] = found.length === 1 ? ['has', 'this change is'] : ['have', 'these changes are'];
  return html`<div class="box doubt" role="status">${count(found.length)} of ${count(all)} ${has} other items than the order with this number that po-sync has. If ${it} wanted, agree with the supplier before you discard.<ul>${named}</ul>${more}</div>`;
}

/** What the forms of these pages do. */
export function planPageRoutes(api: ApiContext): Route[] {
  const routes: Route[] = [
    {
      method: 'POST',
      path: '/plans',
      body: 'form',
      handle({ body, principal }) {
        const { back = '/dead-letters', ...request } = body as Record<string, string>;
        return noted(
          api,
          back,
          async () => `/plans/${(await makePlan(api, request, principal)).id}`,
        );
      },
    },
    {
      method: 'POST',
      path: '/plans/:plan/run',
      body: 'form',
      handle({ params, body, principal }) {
        const { expect = '', confirm } = body as Record<string, string>;
        const path = `/plans/${params['plan']}`;
        const request = { expect: Number(expect), ...(confirm === undefined ? {} : { confirm }) };
        return noted(api, path, async () => {
          await runPlan(api, params['plan'] ?? '', request, principal);
          return path;
        });
      },
    },
    {
      method: 'POST',
      path: '/plans/:plan/stop',
      body: 'form',
      handle: ({ params }) =>
        noted(
          api,
          '/dead-letters',
          async () => `/plans/${api.plans.stop(params['plan'] ?? '').id}`,
        ),
    },
  ];
  return routes.map(api.needingRedis);
}

async function noted(api: ApiContext, back: string, act: () => Promise<string>): Promise<Reply> {
  try {
    return leadBack(await act(), undefined);
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    const text = [error.message, error.remedy].filter(Boolean).join(' ');
    return leadBack(back, api.notes.keep({ text, isGood: false }));
  }
}
