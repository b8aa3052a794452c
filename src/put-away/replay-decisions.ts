import { enterRead } from '../intake/export-versions.ts';
import { type Noted, notedIn } from '../journal/decision.ts';
import { type Journal, journalsBelow } from '../journal/folder.ts';
import { createAdoption } from '../ledger/adopt.ts';
import { keepDiscards } from '../ledger/batches/kept-discards.ts';
import type { Entry, OperatorAction } from '../ledger/entry.ts';
import { policyOf } from '../ledger/environment-ledger.ts';
import { createOperatorActions } from '../ledger/operator-actions.ts';
import { next } from '../ledger/state-machine/next.ts';
import type { LedgerEvent } from '../ledger/state-machine/step.ts';
import { decisionNotRepeated, decisionsRepeated } from '../log/events/batch.ts';
import { createDeadLetterClosing } from './close-dead-letters.ts';
import type { SettlementContext } from './put-batch-away.ts';

type ReplayContext = Pick<SettlementContext, 'config' | 'store' | 'log'> & {
  side: Pick<SettlementContext['side'], 'batches' | 'ledger'>;
};

type Decided<Kind extends Noted['decision']> = Extract<Noted, { decision: Kind }>;
type OfOrder = Decided<'discard' | 'accept' | 'retry' | 'resend' | 'correct'>;

/**
 * Builds the step that does again what people decided and Redis lost, before delivery continues; it reads the journals of which
 * Redis does not have every byte. What prevents that an order is sent is done as it was. An order that was to be sent is in
 * doubt, so that the API's list decides. Can be repeated. Fails while a journal cannot be read.
 */
export function createReplay(
  context: ReplayContext,
  journals = journalsBelow(context.config.reports.path),
) {
  const { config, store, log } = context;
  const { redis, keys } = store;
  const repeat = createRepetition(context);

  async function replay({ name, bytes }: Journal): Promise<void> {
    let decisions = 0;
    for await (const line of journals.lines(name)) {
      // Torn, or of somebody else.
      const one = notedIn(line);
      if (one?.environment !== config.environment) continue;
      const trouble = await repeat(one);
      decisions += 1;
      const on = 'number' in one ? one.number : one.batch;
      if (trouble !== undefined)
        decisionNotRepeated(log, { what: one.decision, on, who: one.who, reason: trouble });
    }
    await redis.hset(keys.journals, name, bytes);
    if (decisions > 0) decisionsRepeated(log, { decisions });
  }

  return async (): Promise<void> => {
    const known = await redis.hgetall(keys.journals);
    for (const journal of await journals.list()) {
      if (known[journal.name] !== String(journal.bytes)) await replay(journal);
      delete known[journal.name];
    }
    const expired = Object.keys(known);
    if (expired.length > 0) await redis.hdel(keys.journals, ...expired);
  };
}

/** Builds the step that does one decision again. Returns why that is no longer possible. */
function createRepetition({ config, store, side }: ReplayContext) {
  const { redis, keys, time } = store;
  const { batches, ledger } = side;
  const policy = policyOf(config);
  const closing = createDeadLetterClosing({ batches, ledger, redis, keys });
  const adopt = createAdoption(store);
  const { operatorActions } = createOperatorActions({ redis, keys });

  async function cancel({ batch, at, who }: Decided<'cancel'>): Promise<undefined> {
    const known = await batches.find(batch);
    if (known === undefined) await batches.rememberCancelled(batch, { at, who });
    else if (!known.cancelled) await batches.cancel(batch, { at, who });
    // A hold would wait for a person, who decided already.
    if (known?.held) await batches.release(batch);
  }

  /** Not of a hold that began later. */
  async function release(one: Decided<'release'>): Promise<undefined> {
    const { batch, at, who, withoutRows } = one;
    const { held } = (await batches.find(batch)) ?? {};
    if (held !== undefined && held.since < at)
      await batches.release(batch, { at, who }, { withoutRows });
  }

  /** The order as its file had it is not sent any more. */
  async function discard(one: OfOrder): Promise<undefined> {
    const { decision, batch, number, content, letter, at, who } = one;
    if (number === '') return;
    const known = await batches.find(batch);
    if (known?.state !== 'done')
      await keepDiscards(batch, [{ was: { number, content }, at, who }], store);
    if (known === undefined || decision === 'correct' || letter === undefined) return;
    const named = { id: letter, purchaseOrderNumber: number };
    const found = await closing.find(named);
    if (found.isOpen) await closing.close(named, found, { at, who, what: 'discarded' });
  }

  async function accept(one: OfOrder): Promise<string | undefined> {
    const { number, content: digest, at, who, epoch } = one;
    const [known] = await ledger.lookup([number]);
    if (known?.kind === 'accepted') return undefined;
    if (known?.kind === 'open') {
      const listed = { digest };
      const event = { kind: 'found', at: time.now(), listed } as const;
      return take(known.entry, one, event, { at, who, what: 'confirmed' });
    }
    if (!(await isOfThisLedger(epoch))) return 'another ledger knew this order';
    await adopt([{ purchaseOrderNumber: number, digest }], time.now());
    return undefined;
  }

  /** Whether this ledger is that of an epoch, or follows it. */
  async function isOfThisLedger(epoch: string): Promise<boolean> {
    const [now, before] = await redis.hmget(keys.identity, 'epoch', 'succeeds');
    return epoch !== '' && `${now} ${before ?? ''}`.split(' ').includes(epoch);
  }

  async function send(as: 'retry' | 'resend', one: OfOrder): Promise<string | undefined> {
    const { number, at, who } = one;
    const [known] = await ledger.lookup([number]);
    if (known?.kind === 'accepted') return undefined;
    if (known?.kind !== 'open')
      return (await batches.find(one.batch)) && 'the ledger no longer has its content';
    const actions = await operatorActions(number);
    if (actions.some((action) => action.at >= at)) return undefined;
    if (known.entry.batch !== one.batch) return 'another file brought the order meanwhile';
    const what = as === 'retry' ? 'retried' : 'resent';
    return take(known.entry, one, { kind: 'recall', at: time.now(), as }, { at, who, what });
  }

  async function take(
    entry: Entry,
    { content }: OfOrder,
    event: LedgerEvent,
    action: OperatorAction,
  ): Promise<string | undefined> {
    if (entry.digest !== content) return 'the order was changed meanwhile';
    const step = next(entry, event, policy);
    if (step.kind !== 'ignore') await ledger.take(entry, step, action);
    return undefined;
  }

  return async (one: Noted): Promise<string | undefined> => {
    switch (one.decision) {
      case 'cancel':
        return cancel(one);
      case 'release':
        return release(one);
      case 'discard':
      case 'correct':
        return discard(one);
      case 'accept':
        return accept(one);
      case 'retry':
      case 'resend':
        return send(one.decision, one);
      case 'read':
        await enterRead(one, store);
        return undefined;
    }
  };
}
