import { toError } from '../core/errors.ts';
import type { Context } from './context.ts';
import type { Row } from './database.ts';
import { hasUnknownMagic } from './faults/fault-control.ts';
import type { Plan } from './faults/plan-faults.ts';
import { rehearse } from './faults/rehearse.ts';
import type { NewOrder, Stored } from './order-store.ts';
import type { ReadOrder } from './read-order.ts';
import { failure, type Reply, success } from './reply.ts';
import { type Call, readBody, refuseHeaders } from './request.ts';
import type { SandboxSettings } from './sandbox-options.ts';
import { type Caller, revoked, withoutScope } from './token-store.ts';

type Known = Extract<Caller, { known: true }>;
type ListSettings = Pick<SandboxSettings, 'listShape' | 'listKey' | 'listItems' | 'listedState'>;
type Answered = (outcome: Reply | Error) => void;

/** POST /purchase-orders: creates an order in state NEW (API parts 3 and 4). */
export function createPurchaseOrder(
  call: Call,
  caller: Known,
  context: Context,
): Reply | Promise<Reply> {
  const { bodyLimit, environment, headers } = context.settings;
  const refusal =
    withoutScope(caller.grant, 'write', environment) ?? refuseHeaders(call.headers, headers);
  if (refusal !== undefined) return refusal;
  return new Promise((resolve, reject) => {
    const done = (outcome: Reply | Error) =>
      outcome instanceof Error ? reject(outcome) : resolve(outcome);
    readBody(call.request, bodyLimit, (body) => {
      if (body === 'gone') resolve({ kind: 'drop', how: 'close' });
      else if (body === 'too-large')
        resolve(failure(413, `The body must not be larger than ${bodyLimit} bytes.`));
      else create(context.readOrder(body), caller, context, done);
    });
  });
}

/** GET /purchase-orders: returns every order; `limit` and `offset` are reserved and ignored (API parts 4 and 8). */
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
  const work = () => list(context, plan);
  return plan === undefined ? work() : perform(plan, work, caller, context);
}

function create(read: ReadOrder, caller: Known, context: Context, done: Answered): void {
  const order = read.ok ? read.order.number : read.number;
  context.emit?.({ type: 'received', at: Date.now(), order });
  const magic = read.ok ? context.faults.planMagic(read.order) : undefined;
  const plan =
    magic ??
    context.faults.plan?.({ on: 'create', order, items: read.ok ? read.order.items : undefined });
  if (plan === undefined) store(read, context, done);
  else
    perform(plan, () => stored(read, context), caller, context).then(done, (thrown) =>
      done(toError(thrown)),
    );
}

function stored(read: ReadOrder, context: Context): Promise<Reply> {
  return new Promise((resolve, reject) => {
    store(read, context, (outcome) =>
      outcome instanceof Error ? reject(outcome) : resolve(outcome),
    );
  });
}

function store(read: ReadOrder, context: Context, done: Answered): void {
  if (!read.ok) {
    done(failure(400, read.message));
    return;
  }
  const { order } = read;
  context.orders.create(order, (outcome) =>
    done(outcome instanceof Error ? outcome : answerTo(order, outcome, context)),
  );
}

const UNKNOWN_MAGIC =
  'An article begins with REHEARSE- and is not a magic code: the order was created.';

function answerTo(
  { number, state, items }: NewOrder,
  outcome: Stored,
  { emit, settings }: Context,
): Reply {
  if (outcome === 'taken') {
    const message = `A purchase order with the purchaseOrderNumber ${JSON.stringify(number)} already exists.`;
    return failure(settings.duplicateStatus, message);
  }
  emit?.({ type: 'stored', at: Date.now(), order: number });
  const data = `{"purchaseOrderNumber":${JSON.stringify(number)},"orderState":"${state}"}`;
  return success(settings.createdStatus, data, hasUnknownMagic(items) ? UNKNOWN_MAGIC : undefined);
}

async function list({ orders, settings }: Context, plan: Plan | undefined): Promise<Reply> {
  const all = await orders.range(
    plan === undefined ? Number.MAX_SAFE_INTEGER : Date.now() - plan.lag,
  );
  const range =
    plan?.cap === undefined ? all : await orders.capped(all, plan.cap.to, plan.cap.keep);
  return { kind: 'stream', status: 200, chunks: listText(orders.pages(range), settings) };
}

function perform(
  plan: Plan,
  work: () => Reply | Promise<Reply>,
  caller: Known,
  context: Context,
): Promise<Reply> {
  const revoke = () => {
    context.tokens.revoke(caller.token);
    return revoked(context.settings.environment);
  };
  return rehearse(plan, { work, revoke }, context.tasks);
}

/** The list as JSON text, page by page; the specification does not show its shape, so the shape is a setting. */
async function* listText(
  pages: AsyncIterable<readonly Row[]>,
  { listShape, listKey, listItems, listedState }: ListSettings,
): AsyncGenerator<string> {
  const [open, close] =
    listShape === 'array' ? ['[', ']'] : [`{${JSON.stringify(listKey)}:[`, ']}'];
  const state = JSON.stringify(listedState);
  let before = `{"status":"success","data":${open}`;
  for await (const rows of pages) {
    yield before + rows.map((row) => orderText(row, state, listItems)).join(',');
    before = ',';
  }
  yield `${before === ',' ? '' : before}${close},"error":null}`;
}

function orderText(row: Row, state: string, withItems: boolean): string {
  const head = `{"purchaseOrderNumber":${JSON.stringify(row.number)},"orderState":${state}`;
  return withItems ? `${head},"items":${row.items}}` : `${head}}`;
}
