import { readFile } from 'node:fs/promises';
import { configDocument } from '../../config/show.ts';
import { iso } from '../../core/format.ts';
import { statusJson } from '../../operate/delivery/read-status.ts';
import { readActions } from '../../operate/operator-context.ts';
import { jsonReply, type Route } from '../http/route.ts';
import { STEP } from '../pace/pace.ts';
import { lastMinute, paceColumns } from '../pace/pace-series.ts';
import type { ApiContext, Snapshot } from './api-context.ts';
import { listOf, readQuery } from './query.ts';

/** Documents of the API that are files of the project. */
const DOCUMENTS = {
  'openapi.json': 'control-api.json',
  'command-output.schema.json': 'command-output.schema.json',
};

/** State of the environment, its configuration, and what operators did. */
export function statusRoutes(api: ApiContext): Route[] {
  const { config, store } = api.base;
  return [
    {
      method: 'GET',
      path: '/api/v1/status',
      async handle({ url }) {
        readQuery(url, []);
        return jsonReply(200, snapshotJson(await api.snapshot()));
      },
    },
    {
      method: 'GET',
      path: '/api/v1/pace',
      async handle({ url }) {
        return jsonReply(200, await paceJson(api, readQuery(url, ['after']).time('after')));
      },
    },
    {
      method: 'GET',
      path: '/api/v1/sources',
      async handle({ url }) {
        readQuery(url, []);
        const { status, asOf } = await api.snapshot();
        return jsonReply(200, listOf(statusJson(status).sources, undefined, asOf));
      },
    },
    {
      method: 'GET',
      path: '/api/v1/config',
      handle({ url }) {
        readQuery(url, []);
        return jsonReply(200, { file: config.file, config: configDocument(config) });
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
    ...Object.entries(DOCUMENTS).map(([name, file]): Route => documentRoute(name, file)),
  ];
}

/** The status in JSON, with its age. */
export function snapshotJson({ status, asOf, awaySince }: Snapshot) {
  return {
    status: statusJson(status),
    asOf: iso(asOf),
    ...(awaySince ? { redisAwaySince: iso(awaySince) } : {}),
  };
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

function documentRoute(name: string, file: string): Route {
  return {
    method: 'GET',
    path: `/api/v1/${name}`,
    needs: 'nobody',
    async handle() {
      const body = await readFile(new URL(`../../../docs/${file}`, import.meta.url));
      return { status: 200, type: 'application/json; charset=utf-8', body };
    },
  };
}
