import { PoSyncError } from '../core/errors.ts';
import type { Known } from '../ledger/admission.ts';
import { type Decision, decide } from '../ledger/decide.ts';
import type { Entry } from '../ledger/entry.ts';
import { aloneOf } from '../ledger/job.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { OperatorContext } from './operator-context.ts';

/** What the person found at the API: the order exists (`accepted`), or it does not (`resend`). */
export type Resolution = 'accepted' | 'resend';

/** The order in doubt that a person is about to resolve. Throws PoSyncError `not-in-doubt`. */
export async function findInDoubt(number: string, ledger: Ledger): Promise<Entry> {
  const [known = { kind: 'nothing' } as const] = await ledger.lookup([number]);
  if (known.kind === 'open' && known.entry.state === 'inDoubt') return known.entry;
  throw notInDoubt(number, known);
}

/** Resolves an order in doubt as the person decided. Throws PoSyncError `not-in-doubt` if it was settled meanwhile. */
export async function resolveOrder(entry: Entry, as: Resolution, context: OperatorContext): Promise<void> {
  const { ledger, queue, store, operator } = context;
  const at = store.time.now();
  const decision: Decision = as === 'accepted' ? { kind: 'confirm', at } : { kind: 'resend', at, job: queue.nameJob() };
  const step = decide(entry, decision);
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
