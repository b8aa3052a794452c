import { Readable } from 'node:stream';
import type { ApiContext } from '../api/api-context.ts';
import type { Route } from '../http/route.ts';

/** Milliseconds between two looks, and looks after which a page is built again for its words that change with time. */
const PAUSE = 2_000;
const LOOKS = 5;

/** Server-sent events, at which an open page loads what it shows. */
export function eventsRoute(api: ApiContext): Route {
  async function* changes(): AsyncGenerator<string> {
    let before = '';
    for (let look = 0; ; look += 1) {
      const now = await api.snapshot().then(
        ({ status, awaySince }) => JSON.stringify({ ...status, now: 0, token: 0, awaySince }),
        () => 'none',
      );
      // The page that asks for the first time is new.
      const isNews = look > 0 && (now !== before || look % LOOKS === 0);
      yield isNews ? 'data: changed\n\n' : ':\n\n';
      before = now;
      await api.base.clock.sleep(PAUSE);
    }
  }

  return {
    method: 'GET',
    path: '/events',
    handle: () => ({
      status: 200,
      type: 'text/event-stream',
      body: Readable.from(changes()),
      // A proxy that collects answers would keep the events back.
      headers: { 'x-accel-buffering': 'no' },
    }),
  };
}
