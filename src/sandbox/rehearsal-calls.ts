import { PoSyncError } from '../core/errors.ts';
import type { Context } from './context.ts';
import type { Row } from './database.ts';
import type { Exchanges } from './exchanges.ts';
import { NO_FAULTS } from './faults/fault-control.ts';
import type { FaultFile } from './faults/fault-file.ts';
import { failure, type Reply } from './reply.ts';
import { type Call, isReading, notAllowed, readBody } from './request.ts';

/** The path of the record, on the auth address. */
export const REHEARSAL_PATH = '/rehearsal';
const ORDER_PATH = `${REHEARSAL_PATH}/orders/`;
const FAULTS_PATH = `${REHEARSAL_PATH}/faults`;
const LARGEST_FILE = 1024 * 1024;

/** Answers a call to the record, to an order that was created, or to the faults; undefined for any other path. */
export function answerRehearsal(
  call: Call,
  exchanges: Exchanges,
  context: Context,
): Reply | Promise<Reply> | undefined {
  const { method, path } = call;
  if (path === FAULTS_PATH) return answerFaults(call, context);
  if (path !== REHEARSAL_PATH && !path.startsWith(ORDER_PATH)) return undefined;
  if (!isReading(method)) return notAllowed(method, 'GET, HEAD');
  if (path !== REHEARSAL_PATH) return answerOrder(path.slice(ORDER_PATH.length), context);
  const { environment } = context.settings;
  return json(JSON.stringify({ environment, exchanges: exchanges.last() }));
}

function answerOrder(encoded: string, { orders }: Context): Reply {
  const number = decoded(encoded);
  const found = orders.find(number);
  if (found.length === 0)
    return failure(404, `No order has the number ${JSON.stringify(number.slice(0, 256))}.`);
  return json(
    `{"purchaseOrderNumber":${JSON.stringify(number)},"created":[${found.map(created).join(',')}]}`,
  );
}

function created({ items, storedAt }: Row): string {
  return `{"at":${storedAt},"orderState":"NEW","items":${items}}`;
}

/** PUT and DELETE /rehearsal/faults; a file is YAML or JSON, as for --faults. */
function answerFaults(call: Call, context: Context): Reply | Promise<Reply> {
  switch (call.method) {
    case 'DELETE':
      return replaceFaults(NO_FAULTS, context);
    case 'PUT':
      return readFaults(call, context);
    default:
      return notAllowed(call.method, 'PUT, DELETE');
  }
}

async function replaceFaults(file: FaultFile, { faults }: Context): Promise<Reply> {
  await faults.replace(file);
  return json(JSON.stringify({ faults: file.faults.length }));
}

async function readFaults({ request }: Call, context: Context): Promise<Reply> {
  const body = await readBody(request, LARGEST_FILE);
  if (body === 'gone') return { kind: 'drop', how: 'close' };
  if (body === 'too-large')
    return failure(413, `A fault file must not be larger than ${LARGEST_FILE} bytes.`);
  // Loaded on demand, like the OpenAPI document.
  const { loadFaults } = await import('./start-files.ts');
  try {
    const file = loadFaults(body.toString('utf8'), 'The body');
    const fixed = (['tokenLifetime', 'listShape', 'listItems', 'demand'] as const).find(
      (name) => file[name] !== undefined,
    );
    if (fixed !== undefined)
      return failure(400, `${fixed} can only be set when the sandbox starts.`);
    return await replaceFaults(file, context);
  } catch (thrown) {
    if (thrown instanceof PoSyncError) return failure(400, thrown.message);
    throw thrown;
  }
}

function json(body: string): Reply {
  return { kind: 'complete', status: 200, body };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
