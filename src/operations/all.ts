import { LIST_BATCHES, SHOW_BATCH } from './batches.ts';
import { LIST_DEAD_LETTERS, SHOW_DEAD_LETTER } from './dead-letters.ts';
import { EXPLAIN, STATUS } from './environment.ts';
import type { Operation } from './operation.ts';

/** Everything that people and programs can do with an environment. */
export const OPERATIONS: readonly Operation[] = [
  STATUS,
  EXPLAIN,
  LIST_BATCHES,
  SHOW_BATCH,
  LIST_DEAD_LETTERS,
  SHOW_DEAD_LETTER,
];

/** `GET /api/v1/batches/list` */
export function routeOf({ name, role }: Pick<Operation, 'name' | 'role'>): string {
  return `${role === 'read' ? 'GET' : 'POST'} /api/v1/${name.replaceAll(' ', '/')}`;
}
