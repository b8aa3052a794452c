import { type Caller, revoked, withoutScope } from './authenticate.ts';
import type { Call } from './call.ts';
import { failure, success } from './envelope.ts';
import type { Plan } from './faults/plan-faults.ts';
import { rehearse } from './faults/rehearse.ts';
import { listText } from './list-text.ts';
import type { NewOrder, Stored } from './order-store.ts';
import type { Parts } from './parts.ts';
import { readBody } from './read-body.ts';
import { type ReadOrder, readOrder } from './read-order.ts';
import type { Reply } from './reply.ts';
import { refuseHeaders } from './request-headers.ts';

type Known = Extract<Caller, { known: true }>;

/** POST /purchase-orders: creates an order in the state NEW (spec parts 3 and 4). */
export async function createPurchaseOrder(call: Call, caller: Known, parts: Parts): Promise<Reply> {
  const refusal = withoutScope(caller.grant, 'write', parts.settings.environment) ?? refuseHeaders(call.headers);
  if (refusal !== undefined) return refusal;
  const body = await readBody(call.request, parts.settings.bodyLimit);
  if (body === 'gone') return { kind: 'drop', how: 'close' };
  if (body === 'too-large') return failure(413, `The body must not be larger than ${parts.settings.bodyLimit} bytes.`);
  const read = readOrder(body);
  const order = read.ok ? read.order.number : read.number;
  parts.tell?.({ type: 'received', at: Date.now(), order });
  const work = () => store(read, parts);
  const plan = parts.plan?.({ on: 'create', order, items: read.ok ? read.order.items : undefined });
  // Awaited here, because returning a promise from an async function costs two more turns.
  const reply = await (plan === undefined ? work() : perform(plan, work, caller, parts));
  return reply;
}

/** GET /purchase-orders: every order; `limit` and `offset` are reserved and without effect (spec parts 4 and 8). */
export async function listPurchaseOrders(call: Call, caller: Known, parts: Parts): Promise<Reply> {
  const refusal = withoutScope(caller.grant, 'read', parts.settings.environment) ?? refuseHeaders(call.headers);
  if (refusal !== undefined) return refusal;
  const plan = parts.plan?.({ on: 'list', order: '' });
  const work = () => list(parts, plan);
  return plan === undefined ? work() : perform(plan, work, caller, parts);
}

function store(read: ReadOrder, parts: Parts): Reply | Promise<Reply> {
  if (!read.ok) return failure(400, read.message);
  const { order } = read;
  return parts.orders.create(order).then((stored) => answerTo(order, stored, parts));
}

function answerTo({ number, state }: NewOrder, stored: Stored, { tell }: Parts): Reply {
  if (stored === 'taken') {
    return failure(409, `A purchase order with the purchaseOrderNumber ${JSON.stringify(number)} exists already.`);
  }
  tell?.({ type: 'stored', at: Date.now(), order: number });
  return success(201, `{"purchaseOrderNumber":${JSON.stringify(number)},"orderState":"${state}"}`);
}

function list({ orders, settings }: Parts, plan: Plan | undefined): Reply {
  const all = orders.range(plan === undefined ? Number.MAX_SAFE_INTEGER : Date.now() - plan.lag);
  const range = plan?.cap === undefined ? all : orders.capped(all, plan.cap.to, plan.cap.keep);
  return { kind: 'stream', status: 200, chunks: listText(orders.pages(range), settings) };
}

function perform(plan: Plan, work: () => Reply | Promise<Reply>, caller: Known, parts: Parts): Promise<Reply> {
  const revoke = () => {
    parts.tokens.revoke(caller.token);
    return revoked(parts.settings.environment);
  };
  return rehearse(plan, { work, revoke }, parts.tasks);
}
