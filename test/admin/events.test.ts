import { expect, it } from 'vitest';
import type { ApiContext } from '../../src/admin/api/api-context.ts';
import { eventsRoute } from '../../src/admin/dashboard/events.ts';
import type { Reply } from '../../src/admin/http/route.ts';

it('an open page learns that something changed, and at every fifth look in any case', async () => {
  let looks = 0;
  const api = {
    snapshot: async () => ({ status: { deadLetters: Number(looks++ > 2) }, asOf: 0 }),
    base: { clock: { sleep: async () => undefined } },
  } as unknown as ApiContext;
  const reply = (await eventsRoute(api).handle({} as never)) as Reply;
  expect(reply.type).toBe('text/event-stream');
  const told: string[] = [];
  for await (const event of reply.body as AsyncIterable<string>) {
    told.push(event.trim());
    if (told.length === 7) break;
  }
  const [quiet, news] = [':', 'data: changed'];
  expect(told).toEqual([quiet, quiet, quiet, news, quiet, news, quiet]);
});
