import { PoSyncError } from '../../core/errors.ts';
import { decided } from '../../journal/decided.ts';
import { createDeadLetters } from '../../ledger/dead-letters.ts';
import { type Entry, numberOf } from '../../ledger/entry.ts';
import { policyOf } from '../../ledger/environment-ledger.ts';
import { aloneOf } from '../../ledger/job.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { mayBeThere } from '../../ledger/state-machine/decision.ts';
import { next } from '../../ledger/state-machine/next.ts';
import type { Decision } from '../../ledger/state-machine/step.ts';
import { shellWords } from '../../order/text.ts';
import type { OperatorContext } from '../operator-context.ts';

/** What the person decides: the API has the order (`accepted`), or the order is sent again (`resend`). */
export type Resolution = 'accepted' | 'resend';

/**
 * Takes a number as a separate order from now on, although the ledger has one that differs in its spelling only. Throws
 * PoSyncError `no-other-spelling`.
 */
export async function setApart(
  number: string,
  { ledger, store }: Pick<OperatorContext, 'ledger' | 'store'>,
): Promise<void> {
  const [known = { kind: 'nothing' }] = await ledger.lookup([number]);
  const version = known.kind === 'open' ? known.entry.version : 0;
  const isOther = known.kind !== 'nothing' && numberOf(known) !== number;
  const letters = createDeadLetters(store);
  if (isOther && (await letters.setApart(number, version, store.time.now()))) {
    store.keys.apart.add(number);
    return;
  }
  throw new PoSyncError(
    'no-other-spelling',
    `The ledger has no order whose number differs from ${number} in its spelling only.`,
    {
      remedy: `Run po-sync explain ${shellWords(number)} to see what it has.`,
      facts: { order: number },
    },
  );
}

/**
 * The order that a person is about to resolve: one in doubt, one that still waits for its doubt to end, or, for
 * `resend`, one in conflict. Throws PoSyncError `not-in-doubt`.
 */
export async function findInDoubt(
  number: string,
  ledger: Pick<Ledger, 'lookup'>,
  as: Resolution = 'accepted',
): Promise<Entry> {
  const [known] = await ledger.lookup([number]);
  if (known?.kind === 'open' && isResolvable(known.entry, as)) return known.entry;
  throw notInDoubt(number);
}

function isResolvable(entry: Entry, as: Resolution): boolean {
  return mayBeThere(entry) || (as === 'resend' && entry.state === 'conflict');
}

/** How often the order is looked up again when a daemon changes it at the same moment. */
const TRIES = 5;

/**
 * Resolves an order as the person decided. A daemon may change it while the person reads or the list is awaited: the
 * decision holds as long as no other attempt was made. Throws PoSyncError `not-in-doubt`, `order-changed`.
 */
export async function resolveOrder(
  seen: Entry,
  as: Resolution,
  context: ResolveContext,
): Promise<void> {
  const { ledger, queue, store, operator, config } = context;
  const number = seen.order.purchaseOrderNumber;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const entry = await findInDoubt(number, ledger, as);
    if (entry.attempt !== seen.attempt || entry.digest !== seen.digest) break;
    const at = store.time.now();
    const decision: Decision =
      as === 'accepted'
        ? { kind: 'confirm', at }
        : { kind: 'resend', at, job: queue.nameJob(), who: operator.who };
    const step = next(entry, decision, policyOf(config));
    const kept = {
      decision: as === 'accepted' ? 'accept' : as,
      batch: entry.batch,
      number,
      content: entry.digest,
    } as const;
    const isTaken = await decided(operator.who, [kept], context, () =>
      ledger.take(entry, step, operator.did(as === 'accepted' ? 'confirmed' : 'resent')),
    );
    if (!isTaken) continue;
    if (step.kind === 'move') await queue.add([aloneOf(step.entry)]);
    return;
  }
  throw new PoSyncError(
    'order-changed',
    `Order ${number} was changed in the meantime, and is still in doubt.`,
    {
      remedy: `Run po-sync explain ${shellWords(number)} to see what happened, then resolve it again.`,
      facts: { order: number },
    },
  );
}

type ResolveContext = Pick<OperatorContext, 'ledger' | 'queue' | 'operator' | 'config'> &
  Pick<OperatorContext, 'store' | 'owner' | 'clock' | 'journals'>;

function notInDoubt(number: string): PoSyncError {
  return new PoSyncError('not-in-doubt', `Order ${number} is not in doubt.`, {
    remedy: `Only orders in doubt can be resolved. Run po-sync explain ${shellWords(number)} to see its history.`,
    facts: { order: number },
  });
}
