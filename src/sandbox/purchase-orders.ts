import { toError } from '../core/errors.ts';
import { type Caller, revoked, withoutScope } from './authenticate.ts';
import type { Plan } from './faults/plan-faults.ts';
import { rehearse } from './faults/rehearse.ts';
import type { NewOrder, Stored } from './order-store.ts';
import type { Row } from './order-table.ts';
import type { Parts } from './parts.ts';
import { type ReadOrder, readOrder } from './read-order.ts';
import { failure, type Reply, success } from './reply.ts';
import { type Call, readBody, refuseHeaders } from './request.ts';
import type { SandboxSettings } from './sandbox-options.ts';

type Known = Extract<Caller, { known: true }>;
type KnownInvalid = (outcome: Reply | Error) => void;

/** POST /purchase-orders: creates an order in the state NEW (spec parts 3 and 4). */
export function createPurchaseOrder(call: Call, caller: Known, parts: Parts): Reply | Promise<Reply> {
  const { bodyLimit, environment } = parts.settings;
  const refusal = withoutScope(caller.grant, 'write', environment) ?? refuseHeaders(call.headers);
  if (refusal !== undefined) return refusal;
  return new Promise((resolve, reject) => {
    const tell = (outcome: Reply | Error) => (outcome instanceof Error ? reject(outcome) : resolve(outcome));
    readBody(call.request, bodyLimit, (body) => {
      if (body === 'gone') resolve({ kind: 'drop', how: 'close' });
      else if (body === 'too-large') resolve(failure(413, `The body must not be larger than ${bodyLimit} bytes.`));
      else create(readOrder(body), caller, parts, tell);
    });
  });
}

/** GET /purchase-orders: every order; `limit` and `offset` are reserved and without effect (spec parts 4 and 8). */
export async function listPurchaseOrders(call: Call, caller: Known, parts: Parts): Promise<Reply> {
  const refusal = withoutScope(caller.grant, 'read', parts.settings.environment) ?? refuseHeaders(call.headers);
  if (refusal !== undefined) return refusal;
  const plan = parts.plan?.({ on: 'list', order: '' });
  const work = () => list(parts, plan);
  return plan === undefined ? work() : perform(plan, work, caller, parts);
}

function create(read: ReadOrder, caller: Known, parts: Parts, tell: KnownInvalid): void {
  const order = read.ok ? read.order.number : read.number;
  parts.tell?.({ type: 'received', at: Date.now(), order });
  const plan = parts.plan?.({ on: 'create', order, items: read.ok ? read.order.items : undefined });
  if (plan === undefined) store(read, parts, tell);
  else perform(plan, () => stored(read, parts), caller, parts).then(tell, (thrown) => tell(toError(thrown)));
}

function stored(read: ReadOrder, parts: Parts): Promise<Reply> {
  return new Promise((resolve, reject) => {
    store(read, parts, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
  });
}

function store(read: ReadOrder, { orders, tell: event }: Parts, tell: KnownInvalid): void {
  if (!read.ok) {
    tell(failure(400, read.message));
    return;
  }
  const { order } = read;
  orders.create(order, (outcome) => tell(outcome instanceof Error ? outcome : answerTo(order, outcome, event)));
}

function answerTo({ number, state }: NewOrder, outcome: Stored, tell: Parts['tell']): Reply {
  if (outcome === 'taken') {
    return failure(409, `A purchase order with the purchaseOrderNumber ${JSON.stringify(number)} exists already.`);
  }
  tell?.({ type: 'stored', at: Date.now(), order: number });
  return success(201, `{"purchaseOrderNumber":${JSON.stringify(number)},"orderState":"${state}"}`);
}

async function list({ orders, settings }: Parts, plan: Plan | undefined): Promise<Reply> {
  const all = await orders.range(plan === undefined ? Number.MAX_SAFE_INTEGER : Date.now() - plan.lag);
  const range = plan?.cap === undefined ? all : await orders.capped(all, plan.cap.to, plan.cap.keep);
  return { kind: 'stream', status: 200, chunks: listText(orders.pages(range), settings) };
}

function perform(plan: Plan, work: () => Reply | Promise<Reply>, caller: Known, parts: Parts): Promise<Reply> {
  const revoke = () => {
    parts.tokens.revoke(caller.token);
    return revoked(parts.settings.environment);
  };
  return rehearse(plan, { work, revoke }, parts.tasks);
}

/** The list as JSON text, a page at a time; its shape is not specified, so it is a setting. */
export async function* listText(
  pages: AsyncIterable<readonly Row[]>,
  { listShape, listItems }: Pick<SandboxSettings, 'listShape' | 'listItems'>,
): AsyncGenerator<string> {
  const [open, close] = listShape === 'array' ? ['[', ']'] : ['{"purchaseOrders":[', ']}'];
  let before = `{"status":"success","data":${open}`;
  for await (const rows of pages) {
    yield before + rows.map((row) => orderText(row, listItems)).join(',');
    before = ',';
  }
  yield `${before === ',' ? '' : before}${close},"error":null}`;
}

function orderText(row: Row, withItems: boolean): string {
  const head = `{"purchaseOrderNumber":${JSON.stringify(row.number)},"orderState":"${row.state}"`;
  return withItems ? `${head},"items":${row.items}}` : `${head}}`;
}
