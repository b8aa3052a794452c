import type { FileWait } from '../../src/order/file-wait.ts';

/** A file that waits because its last answers were the same refusal. */
export function refusals(says = 'articleCode is invalid'): FileWait {
  return { code: 'refusals', facts: { refused: 40, of: 40, says } };
}
