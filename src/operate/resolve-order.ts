import { PoSyncError } from '../core/errors.ts';
import type { Known } from '../ledger/admission.ts';
import { type Decision, decide } from '../ledger/decide.ts';
import type { Entry } from '../ledger/entry.ts';
import { aloneOf } from '../ledger/job.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import type { Operator } from './operator.ts';

/** What the person found out: the API has it, or it does not. */
export type Resolution = 'accepted' | 'resend';

type Deps = { ledger: Ledger; queue: OrderQueue; time: RedisTime; operator: Operator };

/** The order in doubt that a person is about to settle. Throws PoSyncError `not-in-doubt`. */
export async function findInDoubt(number: string, ledger: Ledger): Promise<Entry> {
  const [known = { kind: 'nothing' } as const] = await ledger.lookup([number]);
  if (known.kind === 'open' && known.entry.state === 'inDoubt') return known.entry;
  throw notInDoubt(number, known);
}

/** Settles an order in doubt by a person's word. Throws PoSyncError `not-in-doubt` when it was settled meanwhile. */
export async function resolveOrder(entry: Entry, as: Resolution, deps: Deps): Promise<void> {
  const { ledger, queue, time, operator } = deps;
  const at = time.now();
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
  const how =
    known.kind === 'nothing'
      ? 'not known to the ledger'
      : known.kind === 'accepted'
        ? 'accepted already'
        : `in the state ${known.entry.state}`;
  return new PoSyncError('not-in-doubt', `The order ${number} is not in doubt: it is ${how}.`, {
    remedy: 'Only orders in doubt are resolved; po-sync explain tells the whole story of an order.',
    facts: { order: number },
  });
}
