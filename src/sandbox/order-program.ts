import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { PoSyncError, toError } from '../errors.ts';
import { openOrderFile, openOrderTable } from './order-table.ts';
import type { TableAnswer, TableCall, TableOpening } from './order-thread.ts';

/** A thread of its own for the orders of an environment: writing them down and waiting for the disk hold up no call. */
if (parentPort !== null) serve(parentPort, workerData as TableOpening);

function serve(port: MessagePort, { folder, environment, unique }: TableOpening): void {
  const answer = (one: TableAnswer) => port.postMessage(one);
  const file = open(folder, environment);
  if (file instanceof PoSyncError) {
    const { code, message, mend = '', facts } = file;
    answer({ kind: 'refused', code, message, mend, facts });
    return;
  }
  const table = openOrderTable(file, unique);
  port.on('message', (call: TableCall | 'close') => {
    if (call !== 'close') return answer(outcomeOf(() => Reflect.apply(table[call.name], undefined, call.given)));
    file.close();
    port.close();
  });
  answer({ kind: 'done', value: 'open' });
}

function open(folder: string, environment: string) {
  try {
    return openOrderFile(folder, environment);
  } catch (thrown) {
    if (thrown instanceof PoSyncError) return thrown;
    throw thrown;
  }
}

function outcomeOf(work: () => unknown): TableAnswer {
  try {
    return { kind: 'done', value: work() };
  } catch (thrown) {
    return { kind: 'failed', error: toError(thrown) };
  }
}
