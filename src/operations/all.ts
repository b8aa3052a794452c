import { CANCEL_BATCH, LIST_BATCHES, RELEASE_BATCH, SEND_BATCH, SHOW_BATCH } from './batches.ts';
import {
  CORRECT,
  DISCARD,
  LIST_DEAD_LETTERS,
  RESOLVE,
  RETRY,
  SHOW_DEAD_LETTER,
} from './dead-letters.ts';
import { DASHBOARD, DOCTOR, EXPLAIN, PAUSE, RECONCILE, RESUME, STATUS } from './environment.ts';
import type { Operation } from './operation.ts';

/** Everything that people and programs can do with an environment. */
export const OPERATIONS: readonly Operation[] = [
  STATUS,
  EXPLAIN,
  LIST_BATCHES,
  SHOW_BATCH,
  SEND_BATCH,
  RELEASE_BATCH,
  CANCEL_BATCH,
  LIST_DEAD_LETTERS,
  SHOW_DEAD_LETTER,
  CORRECT,
  RETRY,
  DISCARD,
  RESOLVE,
  RECONCILE,
  PAUSE,
  RESUME,
  DOCTOR,
  DASHBOARD,
];

/** `GET /api/v1/batches/list` */
export function routeOf({ name, role }: Pick<Operation, 'name' | 'role'>): string {
  return `${role === 'read' ? 'GET' : 'POST'} /api/v1/${name.replaceAll(' ', '/')}`;
}
