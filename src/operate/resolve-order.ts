import { PoSyncError } from '../core/errors.ts';
import type { Entry } from '../ledger/entry.ts';
import { policyOf } from '../ledger/environment-ledger.ts';
import { aloneOf } from '../ledger/job.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Known } from '../ledger/rules/admission.ts';
import { mayBeThere } from '../ledger/rules/decision.ts';
import { next } from '../ledger/rules/next.ts';
import type { Decision } from '../ledger/rules/step.ts';
import type { OperatorContext } from './operator-context.ts';

/** What the person decides: the API has the order (`accepted`), or it is sent, whatever the API has (`resend`). */
export type Resolution = 'accepted' | 'resend';

/**
 * The order that a person is about to resolve: one in doubt, one that still waits for its doubt to end, or, for
 * `resend`, one in conflict. Throws PoSyncError `not-in-doubt`.
 */
export async function findInDoubt(number: string, ledger: Ledger, as: Resolution = 'accepted'): Promise<Entry> {
  const [known = { kind: 'nothing' } as const] = await ledger.lookup([number]);
  if (known.kind === 'open' && isResolvable(known.entry, as)) return known.entry;
  throw notInDoubt(number, known);
}

function isResolvable(entry: Entry, as: Resolution): boolean {
  return mayBeThere(entry) || (as === 'resend' && entry.state === 'conflict');
}

/** Resolves an order as the person decided. Throws PoSyncError `not-in-doubt` if it was settled meanwhile. */
export async function resolveOrder(entry: Entry, as: Resolution, context: OperatorContext): Promise<void> {
  const { ledger, queue, store, operator, config } = context;
  const at = store.time.now();
  const decision: Decision = as === 'accepted' ? { kind: 'confirm', at } : { kind: 'resend', at, job: queue.nameJob() };
  const step = next(entry, decision, policyOf(config));
  if (!(await ledger.take(entry, step, operator.did(as === 'accepted' ? 'confirmed' : 'resent')))) {
    const number = entry.order.purchaseOrderNumber;
    const [known = { kind: 'nothing' } as const] = await ledger.lookup([number]);
    throw notInDoubt(number, known);
  }
  if (step.kind === 'move') await queue.add([aloneOf(step.entry)]);
}

function notInDoubt(number: string, known: Known): PoSyncError {
  return new PoSyncError('not-in-doubt', `Order ${number} is not in doubt: it is ${stateOf(known)}.`, {
    remedy: `Only orders in doubt can be resolved. Run po-sync explain ${number} to see its history.`,
    facts: { order: number },
  });
}

function stateOf(known: Known): string {
  switch (known.kind) {
    case 'nothing':
      return 'not in the ledger';
    case 'accepted':
      return 'already accepted';
    case 'open':
      return `in state ${known.entry.state}`;
  }
}
