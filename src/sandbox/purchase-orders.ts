import type { Context } from './context.ts';
import type { Plan } from './faults/plan-faults.ts';
import { rehearse } from './faults/rehearse.ts';
import { type ReadOrder, readOrder } from './read-order.ts';
import { type CompleteReply, failure, type Reply, success } from './reply.ts';
import { type Call, readBody, refuseHeaders } from './request.ts';
import { type Caller, revoked, withoutScope } from './token-store.ts';

type Known = Extract<Caller, { known: true }>;

/** Largest request body, in bytes. */
const BODY_LIMIT = 1024 * 1024;

/** POST /purchase-orders: creates an order in state NEW (API parts 3 and 4). */
export async function createPurchaseOrder(
  call: Call,
  caller: Known,
  context: Context,
): Promise<Reply> {
  const { environment, headers, demand } = context.settings;
  const refusal =
    withoutScope(caller.grant, 'write', environment) ?? refuseHeaders(call.headers, headers);
  if (refusal !== undefined) return refusal;
  const { header = '' } = demand.idempotencyKey ?? {};
  const key = String(call.headers[header.toLowerCase()] ?? '');
  if (demand.idempotencyKey !== undefined && key === '')
    return failure(400, `The request parameters are invalid: the header ${header} is missing.`);
  const body = await readBody(call.request, BODY_LIMIT);
  if (body === 'gone') return { kind: 'drop', how: 'close' };
  if (body === 'too-large')
    return failure(413, `The body must not be larger than ${BODY_LIMIT} bytes.`);
  const read = readOrder(body);
  const order = read.ok ? read.order.number : read.number;
  context.emit({ type: 'received', at: Date.now(), order });
  const items = read.ok ? read.order.items : undefined;
  const plan = context.faults.plan?.({ on: 'create', order, items });
  const work = () => store(read, context);
  const { answerOnce } = context;
  return perform(plan, () => answerOnce?.(key, body, work) ?? work(), caller, context);
}

/** GET /purchase-orders: returns every order; a list mode can change that (API parts 4 and 8). */
export async function listPurchaseOrders(
  call: Call,
  caller: Known,
  context: Context,
): Promise<Reply> {
  const { environment, headers } = context.settings;
  const refusal =
    withoutScope(caller.grant, 'read', environment) ?? refuseHeaders(call.headers, headers);
  if (refusal !== undefined) return refusal;
  if (call.method === 'HEAD') return { kind: 'stream', status: 200, chunks: [] };
  const plan = context.faults.plan?.({ on: 'list', order: '' });
  return perform(plan, () => context.list(call.query, plan?.show), caller, context);
}

function store(read: ReadOrder, { orders, settings, emit }: Context): CompleteReply {
  if (!read.ok) return failure(400, read.message);
  const { number } = read.order;
  const shown = JSON.stringify(number);
  const { onDuplicate } = settings;
  if (onDuplicate !== 'accept' && orders.has(number))
    return failure(
      onDuplicate === 'refuse' ? 409 : onDuplicate,
      `An order with the purchaseOrderNumber ${shown} already exists.`,
    );
  orders.insert(read.order);
  emit({ type: 'stored', at: Date.now(), order: number });
  const data = `{"purchaseOrderNumber":${shown},"orderState":"NEW"}`;
  return success(201, data);
}

/** Does the work of a call with the faults that were planned for it. */
async function perform(
  plan: Plan | undefined,
  work: () => Reply,
  caller: Known,
  context: Context,
): Promise<Reply> {
  if (plan === undefined) return work();
  const revoke = () => {
    context.tokens.revoke(caller.token);
    return revoked(context.settings.environment);
  };
  return rehearse(plan, { work, revoke }, context.tasks);
}
