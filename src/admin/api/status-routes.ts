import { iso } from '../../core/format.ts';
import { buildOf } from '../../core/version.ts';
import { readActions } from '../../operate/operator-context.ts';
import { openApi } from '../../operations/openapi.ts';
import { jsonReply, type Route } from '../http/route.ts';
import { STEP } from '../pace/pace.ts';
import { lastMinute, paceColumns } from '../pace/pace-series.ts';
import type { ApiContext } from './api-context.ts';
import { listOf, readQuery } from './query.ts';

/** The plots, and what operators did. */
export function statusRoutes(api: ApiContext): Route[] {
  const { store } = api.base;
  return [
    {
      method: 'GET',
      path: '/api/v1/pace',
      async handle({ url }) {
        return jsonReply(200, await paceJson(api, readQuery(url, ['after']).time('after')));
      },
    },
    api.needingRedis({
      method: 'GET',
      path: '/api/v1/actions',
      async handle({ url }) {
        const query = readQuery(url, ['after', 'limit']);
        const { items, next } = await readActions(store, query.limit(), query.text('after'));
        return jsonReply(200, listOf(items, next, store.time.now()));
      },
    }),
    {
      method: 'GET',
      path: '/api/v1/openapi.json',
      needs: 'nobody',
      handle: () => jsonReply(200, openApi(buildOf())),
    },
  ];
}

/** The series of the last hour, or what follows the step `after` (milliseconds), with the pauses of that hour. */
async function paceJson(api: ApiContext, after: number | undefined) {
  const series = await api.pace();
  const now = api.base.store.time.now();
  return {
    step: STEP / 1_000,
    ...paceColumns(series, after, now),
    lastMinute: lastMinute(series),
    pauses: series.pauses().map(({ from, to, ...why }) => ({
      ...why,
      from: iso(from),
      to: to === undefined ? null : iso(to),
    })),
    asOf: iso(now),
  };
}
