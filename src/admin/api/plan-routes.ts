import { PoSyncError } from '../../core/errors.ts';
import { counted } from '../../core/format.ts';
import { jsonReply, type Principal, type Route } from '../http/route.ts';
import type { DeadLetterRow } from '../read-model/letter-batch.ts';
import type { ApiContext } from './api-context.ts';
import { letterFilter } from './dead-letter-routes.ts';
import { acting } from './operation-routes.ts';
import { PLAN_ACTIONS, type Plan, type PlanAction, titleOf } from './plans.ts';
import { readQuery } from './query.ts';
import { inProgressToo } from './rows-elsewhere.ts';

/** Bulk actions on dead letters. */
export function planRoutes(api: ApiContext): Route[] {
  const routes: Route[] = [
    {
      method: 'POST',
      path: '/api/v1/plans',
      body: 'json',
      async handle({ body, principal }) {
        const plan = await makePlan(api, body, principal);
        return jsonReply(201, planJson(plan), { location: `/api/v1/plans/${plan.id}` });
      },
    },
    {
      method: 'GET',
      path: '/api/v1/plans/:plan',
      handle({ url, params }) {
        const query = readQuery(url, ['limit']);
        return jsonReply(200, planJson(api.plans.find(params['plan'] ?? ''), query.limit()));
      },
    },
    {
      method: 'POST',
      path: '/api/v1/plans/:plan/run',
      body: 'json',
      async handle({ params, body, principal }) {
        const { expect, confirm } = (body ?? {}) as Record<string, unknown>;
        if (typeof expect !== 'number')
          throw new PoSyncError('body-wrong', 'expect must be the count of the plan.');
        const request = { expect, ...(typeof confirm === 'string' ? { confirm } : {}) };
        return jsonReply(
          202,
          planJson(await runPlan(api, params['plan'] ?? '', request, principal)),
        );
      },
    },
    {
      method: 'POST',
      path: '/api/v1/plans/:plan/stop',
      body: 'json',
      handle: ({ params }) => jsonReply(200, planJson(api.plans.stop(params['plan'] ?? ''))),
    },
  ];
  return routes.map(api.needingRedis);
}

/** Items of a plan that an answer has without `limit`. */
const FIRST = 20;

function planJson({ items, ...plan }: Plan, limit = FIRST) {
  return { ...plan, counts: countsIn(items), items: items.slice(0, limit) };
}

/** Dead letters of a plan by what would become, or became, of them. */
export function countsIn(items: Plan['items']): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verdict, result = verdict } of items) counts[result] = (counts[result] ?? 0) + 1;
  return counts;
}

/** Plans an action for every dead letter that matches, also beyond the page. PoSyncError `body-wrong`, `plan-too-large`. */
export async function makePlan(
  api: ApiContext,
  body: unknown,
  principal: Principal | undefined,
): Promise<Plan> {
  const { action, ...filter } = (body ?? {}) as Record<string, unknown>;
  if (!isAction(action))
    throw new PoSyncError('body-wrong', `action must be ${PLAN_ACTIONS.join(' or ')}.`);
  const url = new URL('http://admin/');
  for (const [name, value] of Object.entries(filter)) {
    if (typeof value !== 'string')
      throw new PoSyncError('body-wrong', `${name.slice(0, 40)} must be a string.`);
    if (value !== '') url.searchParams.set(name, value);
  }
  const selected = await inProgressToo(api, letterFilter(url));
  const { letters } = await api.tables();
  const rows: DeadLetterRow[] = [];
  let after: string | undefined;
  do {
    const page = await letters.page(selected, 500, after);
    rows.push(...page.items);
    after = page.next;
    // One page beyond the limit is enough to refuse.
  } while (after !== undefined && rows.length <= 10_000);
  return api.plans.plan(action, rows, api.operatorOf(principal));
}

function isAction(action: unknown): action is PlanAction {
  return PLAN_ACTIONS.some((one) => one === action);
}

/** Carries out a plan for a person and records it. PoSyncError as `run` of the plans. */
export async function runPlan(
  api: ApiContext,
  id: string,
  { expect, confirm }: { expect: number; confirm?: string },
  principal: Principal | undefined,
): Promise<Plan> {
  const found = api.plans.find(id);
  const { what, on } = titleOf(found);
  const request = { on, ...(confirm === undefined ? {} : { confirm }) };
  const { plan } = await acting(what, request, principal, api, async (context) => {
    return {
      plan: api.plans.run(id, expect, context),
      text: `${counted(found.count, 'order')} planned`,
    };
  });
  return plan;
}
