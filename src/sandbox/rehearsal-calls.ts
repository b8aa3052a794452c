import { PoSyncError } from '../core/errors.ts';
import type { Context } from './context.ts';
import type { Row } from './database.ts';
import { NO_FAULTS } from './faults/fault-control.ts';
import { REHEARSAL_PATH, type Rehearsal } from './rehearsal.ts';
import { failure, type Reply } from './reply.ts';
import { type Body, type Call, notAllowed, readBody } from './request.ts';

const ORDER_PATH = `${REHEARSAL_PATH}/orders/`;
const FAULTS_PATH = `${REHEARSAL_PATH}/faults`;
const LARGEST_FILE = 1024 * 1024;

/** Answers a call to the record, to an order that was created, or to the faults; undefined for any other path. */
export function answerRehearsal(
  call: Call,
  rehearsal: Rehearsal,
  context: Context,
): Reply | Promise<Reply> | undefined {
  const { method, path } = call;
  if (path === FAULTS_PATH) return answerFaults(call, context);
  const isReading = method === 'GET' || method === 'HEAD';
  if (path === REHEARSAL_PATH)
    return isReading ? answerRecord(call, rehearsal) : notAllowed(method, 'GET, HEAD');
  if (!path.startsWith(ORDER_PATH)) return undefined;
  return isReading
    ? answerOrder(path.slice(ORDER_PATH.length), context)
    : notAllowed(method, 'GET, HEAD');
}

/** A browser gets the page, a program JSON. */
function answerRecord({ headers, method }: Call, rehearsal: Rehearsal): Reply {
  if (headers.accept?.includes('text/html')) return page(rehearsal.page());
  return { kind: 'stream', status: 200, chunks: method === 'HEAD' ? [] : rehearsal.text() };
}

async function answerOrder(encoded: string, { orders }: Context): Promise<Reply> {
  const number = decoded(encoded);
  const found = await orders.find(number);
  if (found.length === 0)
    return failure(404, `No order has the number ${JSON.stringify(number.slice(0, 256))}.`);
  return json(
    `{"purchaseOrderNumber":${JSON.stringify(number)},"created":[${found.map(created).join(',')}]}`,
  );
}

function created({ state, items, storedAt }: Row): string {
  return `{"at":${storedAt},"orderState":"${state}","items":${items}}`;
}

/** GET, PUT and DELETE /rehearsal/faults; a file is YAML or JSON, as for --faults. */
function answerFaults(call: Call, context: Context): Reply | Promise<Reply> {
  switch (call.method) {
    case 'GET':
    case 'HEAD':
      return json(context.faults.text());
    case 'DELETE':
      return context.faults.replace(NO_FAULTS).then(() => json(context.faults.text()));
    case 'PUT':
      return new Promise<Body>((resolve) => readBody(call.request, LARGEST_FILE, resolve)).then(
        (body) => replaceFaults(body, context),
      );
    default:
      return notAllowed(call.method, 'GET, HEAD, PUT, DELETE');
  }
}

async function replaceFaults(body: Body, { faults }: Context): Promise<Reply> {
  if (body === 'gone') return { kind: 'drop', how: 'close' };
  if (body === 'too-large')
    return failure(413, `A fault file must not be larger than ${LARGEST_FILE} bytes.`);
  // Loaded on demand, like the OpenAPI document.
  const { loadFaults } = await import('./start-files.ts');
  try {
    const file = loadFaults(body.toString('utf8'), 'The body');
    const fixed = (['tokenLifetime', 'listShape', 'listItems'] as const).find(
      (name) => file[name] !== undefined,
    );
    if (fixed !== undefined)
      return failure(400, `${fixed} can only be set when the sandbox starts.`);
    await faults.replace(file);
    return json(faults.text());
  } catch (thrown) {
    if (thrown instanceof PoSyncError) return failure(400, thrown.message);
    throw thrown;
  }
}

function json(body: string): Reply {
  return { kind: 'complete', status: 200, body };
}

function page(body: string): Reply {
  return {
    kind: 'complete',
    status: 200,
    body,
    headers: { 'content-type': 'text/html; charset=utf-8' },
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
