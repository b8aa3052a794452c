import type { ListEnd, ListedOrder } from '../../src/api/list.ts';
import type { Http, HttpCall, HttpEnd } from '../../src/core/http.ts';
import type { Item } from '../../src/order/order.ts';
import { answered, broken, created, PAGE, refusal, unsent } from './answers.ts';
import { type PartnerApi, type Stored, UNKNOWN_ARTICLE } from './partner-api.ts';
import type { Random } from './random.ts';
import type { Story } from './story.ts';
import type { Host, Timeline } from './timeline.ts';
import type { Breach, Weather } from './weather.ts';

type Deps = {
  timeline: Timeline;
  random: Random;
  weather: Weather;
  breach: Breach | undefined;
  api: PartnerApi;
  story: Story | undefined;
  /** The token that the API takes now. */
  token: () => string;
  /** Orders that the list must hold to be good evidence. */
  canaries: () => readonly string[];
};

/** What a connection may take, in milliseconds. */
const CONNECT = 10_000;

export type Network = ReturnType<typeof openNetwork>;

/** Everything between a process and the API. It speaks undici's manners, as `src/core/http.ts` gives them on. */
export function openNetwork(deps: Deps) {
  const { timeline, random, weather, breach, api } = deps;
  let sent = 0;

  /** The HTTP client of one process. */
  function open(host: Host): Http {
    return { call: (call) => post(host, call), [Symbol.asyncDispose]: async () => undefined };
  }

  function post(host: Host, call: HttpCall): Promise<HttpEnd> {
    return new Promise((resolve) => {
      const began = timeline.now();
      let written = false;
      const giveUp = () => resolve(written ? broken('timeout') : unsent('timeout'));
      const deadline = began + call.timeout + CONNECT;
      timeline.plan(deadline, () => written || giveUp(), host);
      const connected = began + (random.chance(weather.slowAnswers) ? random.between(0, 5000) : random.between(0, 30));
      const start = async () => {
        if (random.chance(weather.unsent)) return resolve(unsent('ECONNREFUSED'));
        const mayWrite = await (call.prepare?.() ?? Promise.resolve(true)).catch(() => 'failed' as const);
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
    deps.story?.(host.name, `sends ${order.purchaseOrderNumber}`);
    if (random.chance(weather.lostRequests)) {
      if (random.chance(0.5)) back(broken('ECONNRESET'), now + random.between(1, 5000));
      return;
    }
    if (random.chance(weather.lostAnswers)) {
      const end = random.chance(0.5) ? now + random.between(1, 5000) : gaveUp;
      if (end < gaveUp) back(broken('ECONNRESET'), end);
      if (saysOf(call, order) === 'yes') api.storeAt(api.lateTime(now, end), order.purchaseOrderNumber, order.items);
      return;
    }
    const at = now + (random.chance(weather.slowAnswers) ? random.between(0, 45_000) : random.between(2, 300));
    const end = answer(call, order, now, Math.min(at, gaveUp));
    const status = end.kind === 'answered' ? end.answer.status : 0;
    back(random.chance(weather.cutAnswers) ? broken('other side closed', status) : end, at);
  }

  /** What the API says, and when it stores. `seen` is when the process has the answer, or has given up. */
  function answer(
    call: HttpCall,
    order: { purchaseOrderNumber: string; items: Item[] },
    now: number,
    seen: number,
  ): HttpEnd {
    const { purchaseOrderNumber: number, items } = order;
    if (random.chance(weather.busy)) return random.pick([refusal(503), answered(429, '', { 'retry-after': '3' })]);
    if (random.chance(weather.closed)) {
      return random.pick([refusal(403), answered(404, PAGE), answered(307, ''), refusal(401)]);
    }
    const says = saysOf(call, order);
    if (says === 'token') return refusal(401);
    if (says === 'no') return refusal(random.pick([400, 200, 500]), 400);
    if (says === 'duplicate') return random.pick([refusal(409), refusal(400)]);
    if (random.chance(weather.serverErrors)) {
      if (random.chance(0.5)) api.storeAt(api.lateTime(now, seen), number, items);
      return random.pick([refusal(500), answered(502, PAGE), answered(503, PAGE), refusal(504)]);
    }
    api.storeAt(random.between(now, seen), number, items);
    if (random.chance(weather.pages)) return random.pick([answered(200, PAGE), answered(204, ''), answered(201, '')]);
    return created(number);
  }

  function saysOf(call: HttpCall, { purchaseOrderNumber, items }: { purchaseOrderNumber: string; items: Item[] }) {
    if (call.headers['authorization'] !== `Bearer ${deps.token()}`) return 'token';
    if (items.some(({ articleCode }) => articleCode === UNKNOWN_ARTICLE)) return 'no';
    return weather.refusesDuplicates && api.has(purchaseOrderNumber) ? 'duplicate' : 'yes';
  }

  /** GET of the list, as `listOrders` gives it on. */
  function list(host: Host, onOrder: (order: ListedOrder) => void): Promise<ListEnd> {
    return new Promise((resolve) => {
      const asked = timeline.now();
      const took = random.chance(weather.slowAnswers) ? random.between(0, 60_000) : random.between(20, 2000);
      const canaries = deps.canaries();
      const read = () => {
        const rows = cut(api.list(), canaries);
        const end = listEnd(rows.length);
        timeline.plan(asked + took, () => tell(rows, end), host);
      };
      const tell = (rows: readonly Stored[], end: ListEnd) => {
        deps.story?.(host.name, `has the list of ${(asked / 1000).toFixed(3)}: ${end.kind}, ${rows.length} orders`);
        if (end.kind === 'complete') for (const row of rows) onOrder(listed(row));
        resolve(end);
      };
      timeline.plan(asked + random.between(0, took), read);
    });
  }

  function listEnd(orders: number): ListEnd {
    if (weather.listForbidden) return { kind: 'unavailable', said: { code: 'http-403', message: 'no rights' } };
    if (random.chance(weather.listFails)) return { kind: 'failed', said: { code: 'no-answer', message: 'broken' } };
    return { kind: 'complete', orders };
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
    return weather.listWithoutItems ? { purchaseOrderNumber: number } : { purchaseOrderNumber: number, items };
  }

  return { open, list, sent: () => sent };
}
