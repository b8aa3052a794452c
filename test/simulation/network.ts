import type { ListedOrder } from '../../src/api/list.ts';
import type { Http, HttpCall, HttpEnd } from '../../src/core/http.ts';
import type { Item } from '../../src/order/order.ts';
import { answered, broken, created, PAGE, refusal, unsent } from './answers.ts';
import { lastingAnswer, lastingAt, lastingGrant } from './lasting.ts';
import { isRefused } from './orders.ts';
import type { PartnerApi, Stored } from './partner-api.ts';
import type { Random } from './random.ts';
import { AUTH_HOST } from './setting.ts';
import type { Story } from './story.ts';
import type { Host, Timeline } from './timeline.ts';
import type { Breach, Weather } from './weather.ts';
import type { Witness } from './witness.ts';

type Deps = {
  timeline: Timeline;
  random: Random;
  weather: Weather;
  breach: Breach | undefined;
  api: PartnerApi;
  witness: Witness;
  story: Story | undefined;
  /** The token that the API takes now. */
  token: () => string;
  /** Orders that the list must hold to be good evidence. */
  canaries: () => readonly string[];
};

/** The order that a sticky fault strikes. */
export const STICKY_ORDER = 'PO-7';

/** What the list shows of all orders, oldest first, as the API answers this question. */
function shownOf(
  rows: readonly Stored[],
  query: URLSearchParams,
  { listKind, listSize, calmAt }: Weather,
  now: number,
): readonly Stored[] {
  const asked = (name: string) => (query.has(name) ? Number(query.get(name)) : undefined);
  const limit = asked('limit') ?? Number.POSITIVE_INFINITY;
  const offset = asked('offset') ?? 0;
  const isFew = rows.length <= listSize;
  switch (listKind) {
    case 'all':
      return rows;
    case 'newest':
      return rows.slice(-listSize);
    case 'oldest':
      return rows.slice(0, listSize);
    case 'newest later':
      return isFew ? rows : rows.slice(-listSize);
    case 'oldest later':
      return isFew ? rows : rows.slice(0, listSize);
    case 'healed':
      return now > calmAt / 2 ? rows : rows.slice(-listSize);
    case 'paged':
      return rows.slice(offset, offset + Math.min(limit, listSize));
    case 'paged on request':
      return rows.slice(offset, offset + limit);
    case 'limited':
      return rows.slice(0, Math.min(limit, listSize));
  }
}

/** What a connection may take, in milliseconds. */
const CONNECT = 10_000;

/** One call that left a process. */
export type Call = { endpoint: Endpoint; at: number };
export type Endpoint = 'create' | 'list' | 'token';

export type Network = ReturnType<typeof openNetwork>;

/** Everything between a process and the API. It behaves like undici, as `src/core/http.ts` passes it on. */
export function openNetwork(deps: Deps) {
  const { timeline, random, weather, breach, api } = deps;
  let sent = 0;
  const calls: Call[] = [];
  const successes: number[] = [];

  /** The HTTP client of one process. */
  function open(host: Host): Http {
    const call: Http['call'] = (one) => {
      if (one.url.host === AUTH_HOST) return counted('token', grant(host));
      return one.method === 'GET' ? counted('list', get(host, one)) : post(host, one);
    };
    return { call, [Symbol.asyncDispose]: async () => undefined };
  }

  function counted<T>(endpoint: Endpoint, end: T): T {
    calls.push({ endpoint, at: timeline.now() });
    return end;
  }

  function post(host: Host, call: HttpCall): Promise<HttpEnd> {
    return new Promise((resolve) => {
      const began = timeline.now();
      let written = false;
      const giveUp = () => resolve(written ? broken('timeout') : unsent('timeout'));
      const deadline = began + call.timeout + CONNECT;
      timeline.plan(deadline, () => written || giveUp(), host);
      const connected =
        began +
        (random.chance(weather.slowAnswers) ? random.between(0, 5000) : random.between(0, 30));
      const start = async () => {
        if (lastingAt(weather, timeline.now()) === 'not reached' || random.chance(weather.unsent))
          return resolve(unsent('ECONNREFUSED'));
        const mayWrite = await (call.prepare?.() ?? Promise.resolve(true)).catch(
          () => 'failed' as const,
        );
        if (mayWrite === 'failed' || (!mayWrite && breach !== 'no freshness check'))
          return resolve(unsent('not written'));
        if (timeline.now() >= deadline) return;
        written = true;
        timeline.plan(timeline.now() + call.timeout, giveUp, host);
        if (breach === 'frozen between check and write' && random.chance(0.05)) {
          host.frozenUntil = timeline.now() + 10 * weather.settle;
          timeline.plan(host.frozenUntil, () => carry(host, call, timeline.now(), resolve));
        } else carry(host, call, timeline.now(), resolve);
      };
      timeline.plan(connected, () => void start(), host);
    });
  }

  /** The request is on its way; nothing that happens to the process stops it now. */
  function carry(host: Host, call: HttpCall, began: number, resolve: (end: HttpEnd) => void): void {
    const now = timeline.now();
    const gaveUp = began + call.timeout;
    const back = (end: HttpEnd, at: number) => timeline.plan(at, () => resolve(end), host);
    const order = JSON.parse(call.body ?? '{}') as { purchaseOrderNumber: string; items: Item[] };
    sent += 1;
    counted('create', undefined);
    deps.witness.sent(order.purchaseOrderNumber);
    deps.story?.(host.name, `sends ${order.purchaseOrderNumber}`);
    if (random.chance(weather.lostRequests)) {
      if (random.chance(0.5)) back(broken('ECONNRESET'), now + random.between(1, 5000));
      return;
    }
    if (random.chance(weather.lostAnswers)) {
      const end = random.chance(0.5) ? now + random.between(1, 5000) : gaveUp;
      if (end < gaveUp) back(broken('ECONNRESET'), end);
      if (saysOf(call, order) === 'yes')
        api.storeAt(api.lateTime(now, end), order.purchaseOrderNumber, order.items);
      return;
    }
    const at =
      now +
      (random.chance(weather.slowAnswers) ? random.between(0, 45_000) : random.between(2, 300));
    const end = answer(call, order, now, Math.min(at, gaveUp));
    const status = end.kind === 'answered' ? end.answer.status : 0;
    back(random.chance(weather.cutAnswers) ? broken('other side closed', status) : end, at);
  }

  /** What the API says, and when it stores. `seen` is when the process has the answer, or has timed out. */
  function answer(
    call: HttpCall,
    order: { purchaseOrderNumber: string; items: Item[] },
    now: number,
    seen: number,
  ): HttpEnd {
    const { purchaseOrderNumber: number, items } = order;
    const lasting = lastingAt(weather, now);
    const lastingEnd = lasting && lastingAnswer(lasting, now);
    if (lastingEnd && lasting !== 'empty') return lastingEnd;
    if (random.chance(weather.busy))
      return random.pick([refusal(503), answered(429, '', { 'retry-after': '3' })]);
    if (random.chance(weather.closed)) {
      return random.pick([refusal(403), answered(404, PAGE), answered(307, ''), refusal(401)]);
    }
    const says = saysOf(call, order);
    if (says === 'token') return refusal(401);
    if (says === 'no')
      return random.pick([refusal(400), refusal(200, 400), refusal(500, 400), refusal(400, 1001)]);
    if (says === 'duplicate') return random.pick([refusal(409), refusal(400)]);
    if (number === STICKY_ORDER && weather.stickyOrder !== 'none')
      return stickyAnswer(weather.stickyOrder, number, items);
    if (random.chance(weather.serverErrors)) {
      if (random.chance(0.5)) api.storeAt(api.lateTime(now, seen), number, items);
      return random.pick([refusal(500), answered(502, PAGE), answered(503, PAGE), refusal(504)]);
    }
    api.storeAt(random.between(now, seen), number, items);
    if (lastingEnd) return lastingEnd;
    if (random.chance(weather.pages))
      return random.pick([answered(200, PAGE), answered(204, ''), answered(201, '')]);
    successes.push(seen);
    return created(shown(number));
  }

  /** What one order always gets. */
  function stickyAnswer(
    kind: Exclude<Weather['stickyOrder'], 'none'>,
    number: string,
    items: Item[],
  ): HttpEnd {
    if (kind === 'broken') return refusal(500);
    if (kind === 'cut') return broken('other side closed', 201);
    if (kind === 'forbidden') return refusal(403);
    if (kind === 'unauthorized') return refusal(401);
    if (kind === 'other code') return refusal(400, 1001);
    api.storeAt(timeline.now(), number, items);
    return kind === 'misnamed' ? created(number.toLowerCase()) : answered(201, '');
  }

  function saysOf(
    call: HttpCall,
    { purchaseOrderNumber, items }: { purchaseOrderNumber: string; items: Item[] },
  ) {
    if (call.headers['authorization'] !== `Bearer ${deps.token()}`) return 'token';
    if (isRefused(items)) return 'no';
    return weather.refusesDuplicates && api.has(purchaseOrderNumber) ? 'duplicate' : 'yes';
  }

  /** GET of the list: its bytes in pieces, as the real client passes them on. */
  function get(host: Host, call: HttpCall): Promise<HttpEnd> {
    return new Promise((resolve) => {
      const asked = timeline.now();
      const hangs = weather.stickyList === 'hangs' && asked >= weather.stickyListFrom;
      const took = hangs
        ? 30_000
        : random.chance(weather.slowAnswers)
          ? random.between(0, 60_000)
          : random.between(20, 2000);
      const canaries = deps.canaries();
      const read = () => {
        const rows = shownOf(api.list(), call.url.searchParams, weather, timeline.now());
        const end = listAnswer(call, cut(rows, canaries));
        timeline.plan(asked + took, () => tell(end), host);
      };
      const tell = (end: HttpEnd) => {
        const said =
          end.kind === 'answered'
            ? `${end.answer.status}, ${end.answer.body.length} bytes`
            : end.kind;
        deps.story?.(host.name, `has the list of ${(asked / 1000).toFixed(3)}: ${said}`);
        resolve(passedOn(call, end));
      };
      timeline.plan(asked + random.between(0, took), read);
    });
  }

  function listAnswer(call: HttpCall, rows: readonly Stored[]): HttpEnd {
    if (weather.listForbidden) return refusal(403);
    if (timeline.now() < weather.firstListFails) return refusal(random.pick([500, 503, 429]));
    if (call.headers['authorization'] !== `Bearer ${deps.token()}`) return refusal(401);
    const list = listText(rows);
    const odd = {
      strings: () =>
        answered(200, { status: 'success', data: rows.map(({ number }) => number), error: null }),
      page: () => answered(200, PAGE),
      error: () => refusal(500),
      unauthorized: () => refusal(401),
      hangs: () => broken('no byte for 30 s', 200),
      cut: () => answered(200, list.slice(0, Math.floor(list.length * random.next()))),
      broken: () => broken('ECONNRESET', 200),
    };
    // A new ledger would wait for such a list, and never end.
    const isSticky = timeline.now() >= weather.stickyListFrom && deps.canaries().length > 0;
    if (isSticky && weather.stickyList !== 'none') return odd[weather.stickyList]();
    if (random.chance(weather.listFails)) return random.pick(Object.values(odd))();
    return answered(200, list);
  }

  /** The shapes that the API's documentation leaves open. */
  function listText(rows: readonly Stored[]): string {
    const orders = rows.map(listed);
    const data = random.pick<unknown>([
      orders,
      { purchaseOrders: orders },
      { paging: { total: rows.length }, orders },
    ]);
    return JSON.stringify({ status: 'success', data, error: null });
  }

  /** A body goes to `onData` in pieces of any size. */
  function passedOn(call: HttpCall, end: HttpEnd): HttpEnd {
    if (end.kind !== 'answered' || end.answer.status !== 200) return end;
    const { body } = end.answer;
    const middle = Math.floor(body.length * random.next());
    try {
      for (const piece of [body.subarray(0, middle), body.subarray(middle)]) call.onData?.(piece);
    } catch (error) {
      return broken(String(error), 200);
    }
    return { ...end, answer: { ...end.answer, body: Buffer.alloc(0) } };
  }

  /** The token endpoint: one token for all, until it is revoked. */
  function grant(host: Host): Promise<HttpEnd> {
    return new Promise((resolve) => {
      const answer = () => {
        const lasting = lastingAt(weather, timeline.now());
        const lastingEnd = lasting && lastingGrant(lasting);
        if (lastingEnd) return lastingEnd;
        if (random.chance(weather.tokenFails))
          return random.pick([refusal(500), broken('ECONNRESET'), answered(502, PAGE)]);
        return answered(200, {
          access_token: deps.token(),
          expires_in: 3600,
          token_type: 'Bearer',
        });
      };
      timeline.plan(timeline.now() + random.between(5, 500), () => resolve(answer()), host);
    });
  }

  /** Leaves rows out: any of them, the newest or the oldest, and always one that gives the cut away. */
  function cut(rows: readonly Stored[], canaries: readonly string[]): readonly Stored[] {
    if (breach === 'list cut unseen') {
      return rows.filter(({ number }) => canaries.includes(number) || random.chance(0.5));
    }
    if (canaries.length === 0 || !random.chance(weather.listCut)) return rows;
    const canary = random.pick(canaries);
    const index = rows.findIndex(({ number }) => number === canary);
    const kept = random.pick([
      () => rows.slice(0, Math.max(index, 0)),
      () => rows.slice(index + 1),
      () => rows.filter(() => random.chance(0.5)),
    ])();
    return kept.filter(({ number }) => number !== canary);
  }

  function listed({ number, items }: Stored): ListedOrder {
    const purchaseOrderNumber = shown(number);
    return weather.listWithoutItems ? { purchaseOrderNumber } : { purchaseOrderNumber, items };
  }

  function shown(number: string): string {
    return weather.rewritesNumbers ? number.toLowerCase() : number;
  }

  return { open, sent: () => sent, calls, successes };
}
