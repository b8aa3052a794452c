import { join } from 'node:path';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { PoSyncError, toError } from '../core/errors.ts';
import { createOrderTable, openOrderFile, orderFileName, unusable } from './database.ts';
import type { TableAnswer, TableCall, TableOpening } from './order-thread.ts';

// The worker thread that stores the orders of an environment, so that waiting for the disk delays no call.
if (parentPort !== null) serve(parentPort, workerData as TableOpening);

function serve(port: MessagePort, opening: TableOpening): void {
  const answer = (one: TableAnswer) => port.postMessage(one);
  const opened = open(opening);
  if (opened instanceof PoSyncError) {
    const { code, message, remedy = '', facts } = opened;
    answer({ kind: 'refused', code, message, remedy, facts });
    return;
  }
  const { file, table } = opened;
  port.on('message', (call: TableCall | 'close') => {
    if (call !== 'close')
      return answer(outcomeOf(() => Reflect.apply(table[call.name], undefined, call.given)));
    file.close();
    port.close();
  });
  answer({ kind: 'done', value: 'open' });
}

function open({ folder, environment, unique, reset }: TableOpening) {
  try {
    const file = openOrderFile(folder, environment, reset);
    return { file, table: createOrderTable(file, unique) };
  } catch (thrown) {
    return thrown instanceof PoSyncError
      ? thrown
      : unusable(join(folder ?? '', orderFileName(environment)), toError(thrown));
  }
}

function outcomeOf(work: () => unknown): TableAnswer {
  try {
    return { kind: 'done', value: work() };
  } catch (thrown) {
    return { kind: 'failed', error: toError(thrown) };
  }
}
