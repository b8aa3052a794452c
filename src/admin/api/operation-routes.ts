import { OPERATIONS } from '../../operations/all.ts';
import { answer, type Operation } from '../../operations/operation.ts';
import { jsonReply, type Route } from '../http/route.ts';
import type { ApiContext } from './api-context.ts';

/** The operations over HTTP: the words of the command are the path, its flags the parameters. */
export function operationRoutes(api: ApiContext): Route[] {
  return OPERATIONS.map((one) =>
    one.isLasting ? routeOf(one, api) : api.needingRedis(routeOf(one, api)),
  );
}

function routeOf(one: Operation, api: ApiContext): Route {
  return {
    method: 'GET',
    path: `/api/v1/${one.name.replaceAll(' ', '/')}`,
    async handle({ url: { searchParams }, principal }) {
      const given = Object.fromEntries(
        [...new Set(searchParams.keys())].map((name) => {
          const [first, ...more] = searchParams.getAll(name);
          return [name, more.length === 0 ? first : [first, ...more]];
        }),
      );
      return jsonReply(200, await answer(one, given, api.operationContext(principal)));
    },
  };
}
