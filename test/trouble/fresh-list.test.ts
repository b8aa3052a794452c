import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listed, type OddAnswer, type OddApi, openOddApi } from '../support/odd-api.ts';
import { until } from '../support/until.ts';
import {
  createsOf,
  csv,
  numbered,
  openTroublePlace,
  type TroubleOptions,
  type TroublePlace,
} from './trouble-place.ts';

const PACE =
  'settle: 1s, timeout: 5s, backoff: { initial: 100ms, max: 1s }, probe: { initial: 250ms, max: 2s }';
const FRESH = `${PACE}, readList: 10ms`;

/** A place whose ledger is not new any more. */
async function openPlace(api: OddApi, options: TroubleOptions = {}): Promise<TroublePlace> {
  const place = await openTroublePlace(api, { pace: FRESH, ...options });
  await place.drop('first.csv', csv(['FIRST-1']));
  await place.settled(['FIRST-1']);
  return place;
}

/** Somebody creates an order at the API by hand. */
function byHand(api: OddApi, purchaseOrderNumber: string, quantity = 1): void {
  api.stored.push({
    purchaseOrderNumber,
    orderState: 'NEW',
    items: [{ articleCode: 'ART-1', quantity }],
  });
}

const lists = ({ calls }: OddApi): number =>
  calls.filter(({ endpoint }) => endpoint === 'list').length;

type Waiting = Omit<Awaited<ReturnType<TroublePlace['status']>>, 'waits'> & {
  waits: { code: string; message: string; unread?: number }[];
  listFailure?: { message: string };
};

/** The status as soon as so many orders wait for the list, unread. */
async function waitingFor(place: TroublePlace, unread: number): Promise<Waiting> {
  return until(`${unread} orders waiting`, async () => {
    const now: Waiting = await place.status();
    return now.waits.some((one) => one.code === 'file-list' && one.unread === unread) && now;
  });
}

/** Lists take as long as the test likes: they send spaces from `hold` to `release`, and then what is stored. */
function holdLists(api: OddApi) {
  const held = new Map<Socket, NodeJS.Timeout>();
  const raw = (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n');
    held.set(
      socket,
      setInterval(() => socket.write(' '), 1_000),
    );
  };
  api.oddity = ({ endpoint }) => (endpoint === 'list' ? { raw } : undefined);
  return {
    held,
    release() {
      api.oddity = () => undefined;
      for (const [socket, timer] of held) {
        clearInterval(timer);
        socket.end(JSON.stringify(listed(api.stored)));
      }
    },
  };
}

describe.concurrent('orders that others create at the API', () => {
  it('with a period: the same order is a duplicate, other content a conflict, and both are created once', async () => {
    await using api = await openOddApi();
    await using place = await openPlace(api);
    byHand(api, 'SAME-1');
    byHand(api, 'OTHER-1', 7);
    await place.drop('orders.csv', csv(['SAME-1', 'OTHER-1', 'NEW-1']));
    expect(await place.settled(['SAME-1', 'OTHER-1', 'NEW-1'])).toMatchObject({
      'SAME-1': 'duplicate',
      'OTHER-1': 'conflict',
      'NEW-1': 'accepted',
    });
    expect(api.stored.map(({ purchaseOrderNumber }) => purchaseOrderNumber).sort()).toEqual([
      'FIRST-1',
      'NEW-1',
      'OTHER-1',
      'SAME-1',
    ]);
    const { out } = await place.run('explain', 'SAME-1');
    expect(out).toContain("found in the API's list");
  });

  it('with the default, an order that was created since the ledger was new is created again', async () => {
    await using api = await openOddApi();
    await using place = await openPlace(api, { pace: PACE });
    const before = lists(api);
    byHand(api, 'SAME-1');
    await place.drop('orders.csv', csv(['SAME-1']));
    expect(await place.settled(['SAME-1'])).toMatchObject({ 'SAME-1': 'accepted' });
    expect(createsOf(api, 'SAME-1')).toBe(1);
    expect(lists(api)).toBe(before);
  });
});

describe.concurrent('with a period, while the list', () => {
  it.each<[string, OddAnswer]>([
    ['answers 503', { status: 503 }],
    ['lacks an order that was created', { status: 200, body: listed([]) }],
  ])(
    '%s, new files wait visibly, orders that were admitted are sent, and the wait ends with it',
    async (_, odd) => {
      await using api = await openOddApi();
      await using place = await openPlace(api, { environment: 'list: prove' });
      await until('the proof', async () => (await place.status()).pauses.length === 0);
      const opened = performance.now();
      const [early, late] = [numbered(3, 'EARLY'), numbered(3, 'LATE')];
      api.oddity = ({ endpoint }) => (endpoint === 'create' ? { status: 503 } : undefined);
      await place.drop('early.csv', csv(early));
      await until('the orders', async () => (await place.status()).queue.unsettledOrders === 3);
      api.oddity = ({ endpoint }) => (endpoint === 'list' ? odd : undefined);
      byHand(api, 'LATE-2');
      await until('two settles', () => performance.now() - opened > 2_500);
      await place.drop('late.csv', csv(late));
      const accepted = { 'EARLY-1': 'accepted', 'EARLY-2': 'accepted', 'EARLY-3': 'accepted' };
      await until('the early orders', async () => 'EARLY-3' in (await place.outcomes()));
      expect(await place.outcomes()).toMatchObject(accepted);
      await until('the reason', async () => (await waitingFor(place, 3)).listFailure);
      const { waits, listFailure } = await waitingFor(place, 3);
      expect(waits).toMatchObject([{ code: 'file-list', orders: 0, unread: 3 }]);
      expect(waits[0]?.message).toContain(listFailure?.message);
      const { out } = await place.run('status');
      expect(out).toMatch(/API's list\s+could not be read/);
      expect(out).toContain('new files wait for it');
      await until('some reads', () => lists(api) > 5);
      const lines = place.daemon.out().split('\n');
      const news = lines.filter(
        (line) => line.includes('"event":"file-list-read"') && line.includes('"outcome":"failed"'),
      );
      expect(news).toHaveLength(1);
      expect(late.map((number) => createsOf(api, number))).toEqual([0, 0, 0]);
      api.oddity = () => undefined;
      expect(await place.settled(late)).toMatchObject({
        'LATE-1': 'accepted',
        'LATE-2': 'duplicate',
      });
    },
  );

  it('takes long, one read serves many files that wait for it, and other work continues', async () => {
    await using api = await openOddApi();
    await using place = await openPlace(api);
    const { held, release } = holdLists(api);
    const before = lists(api);
    await place.drop('a.csv', csv(['A-1']));
    await until('the read', () => held.size === 1);
    const files = numbered(8, 'F');
    for (const number of files) await place.drop(`${number}.csv`, csv([number]));
    byHand(api, 'F-8');
    await place.drop('invalid.csv', csv(['GOOD-1']).concat('BAD-1,ART-1,none\n'));
    const { batches } = await waitingFor(place, 10);
    expect(batches).toHaveLength(10);
    await until('the invalid order', async () => (await place.status()).deadLetters === 1);
    expect(lists(api)).toBe(before + 1);
    release();
    expect(await place.settled(['A-1', 'GOOD-1', 'BAD-1', ...files])).toMatchObject({
      'F-1': 'accepted',
      'F-8': 'duplicate',
    });
    // The list may become too old again before the last of them was looked at.
    expect(lists(api) - before).toBeLessThan(files.length);
  });
});

describe.concurrent('with a period, during the wait', () => {
  it('kill -9 loses nothing: after the restart the file waits for a list again', async () => {
    await using api = await openOddApi();
    await using place = await openPlace(api, { asProcess: true });
    const { held, release } = holdLists(api);
    await place.drop('orders.csv', csv(['A-1', 'B-1']));
    await until('the read', () => held.size === 1);
    await waitingFor(place, 2);
    await place.restart();
    byHand(api, 'A-1');
    await until('another read', () => held.size > 1);
    release();
    expect(await place.settled(['A-1', 'B-1'])).toMatchObject({
      'A-1': 'duplicate',
      'B-1': 'accepted',
    });
    expect([createsOf(api, 'A-1'), createsOf(api, 'B-1')]).toEqual([0, 1]);
  });

  it('SIGTERM ends the daemon while the list is still being read', async () => {
    await using api = await openOddApi();
    await using place = await openPlace(api);
    const { held, release } = holdLists(api);
    await place.drop('orders.csv', csv(['A-1']));
    await until('the read', () => held.size === 1);
    place.daemon.child.kill('SIGTERM');
    expect(await place.daemon.ended).toMatchObject({ code: 0 });
    release();
    await place.restart();
    expect(await place.settled(['A-1'])).toMatchObject({ 'A-1': 'accepted' });
  });

  it('a batch that is canceled does not wait for the list', async () => {
    await using api = await openOddApi();
    await using place = await openPlace(api);
    api.oddity = ({ endpoint }) => (endpoint === 'list' ? { status: 503 } : undefined);
    await place.drop('orders.csv', csv(['A-1']));
    await waitingFor(place, 1);
    expect((await place.run('batches', 'cancel', 'orders.csv', '--yes')).code).toBe(0);
    expect(await place.settled(['A-1'])).toMatchObject({ 'A-1': 'cancelled' });
  });
});
