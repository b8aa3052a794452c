import { expect } from 'vitest';
import { OPERATIONS } from '../../src/operations/all.ts';

/** The operation with this name, such as `batches list`. */
function operationCalled(name: string) {
  const found = OPERATIONS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no operation ${name}`);
  return found;
}

/** Compares an answer to a program with what its operation says of it. */
export function isAsDescribed(name: string, document: unknown): void {
  const { error } = operationCalled(name).output.safeParse(document);
  expect([name, error?.issues ?? []]).toEqual([name, []]);
}
