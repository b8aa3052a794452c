import { buildOf } from '../../core/version.ts';
import { readActions } from '../../operate/operator-context.ts';
import { openApi } from '../../operations/openapi.ts';
import { jsonReply, type Route } from '../http/route.ts';
import type { ApiContext } from './api-context.ts';
import { listOf, readQuery } from './query.ts';

/** What operators did, and the description of the API. */
export function statusRoutes(api: ApiContext): Route[] {
  const { store } = api.base;
  return [
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
