import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { memoryOf } from '../../bench/process-figures.ts';
import { until } from '../support/until.ts';
import { openWebServer } from '../support/web-server.ts';
import { openTroublePlace } from '../trouble/trouble-place.ts';

describe('a list without an end', () => {
  const HEAD = '{"status":"success","error":null,"data":{"purchaseOrders":[';
  it.each([
    [
      'items of one order',
      `${HEAD}{"purchaseOrderNumber":"PO-9","orderState":"NEW","items":[`,
      '{"articleCode":"A","quantity":1},'.repeat(2_000),
    ],
  ])(
    'of %s neither ends nor fills the daemon, and delivery waits with a reason',
    async (_, head, part) => {
      let lists = 0;
      await using api = await openWebServer(async (request, response) => {
        const body = await text(request).catch(() => '');
        if (request.url?.includes('token')) return json(response, 200, TOKEN);
        if (request.method === 'POST') return json(response, 201, created(body));
        lists += 1;
        response.writeHead(200, { 'content-type': 'application/json' }).write(head);
        const go = () => {
          while (!response.destroyed && response.write(part));
        };
        response.on('drain', go);
        go();
      });
      await using place = await openTroublePlace(
        { url: `http://127.0.0.1:${api.port}` },
        { asProcess: true },
      );
      await place.drop(
        'orders.csv',
        'purchaseOrderNumber,orderState,articleCode,quantity\nPO-1,NEW,A,1\n',
      );
      await until('a second list', () => lists >= 2);
      const { pauses } = await place.status();
      expect(pauses.map(({ code }) => code)).toEqual(['ledger-new']);
      expect(memoryOf(place.daemon.child.pid ?? 0, 'peak')).toBeLessThan(400);
      place.daemon.child.kill('SIGTERM');
      expect(await place.daemon.ended).toMatchObject({ code: 0 });
    },
  );
});

const TOKEN = '{"access_token":"t","token_type":"Bearer","expires_in":3600}';

function json(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

function created(body: string): string {
  const { purchaseOrderNumber } = JSON.parse(body) as { purchaseOrderNumber: string };
  return JSON.stringify({
    status: 'success',
    data: { purchaseOrderNumber, orderState: 'NEW' },
    error: null,
  });
}
